# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool python3
timeout 120 python3 - <<'E' && ok
import socket,threading
for fam,host in ((socket.AF_INET,"127.0.0.1"),(socket.AF_INET6,"::1")):
    s=socket.socket(fam); s.bind((host,0)); s.listen(); c=socket.create_connection(s.getsockname()[:2],30); a,_=s.accept(); a.send(b"x"); assert c.recv(1)==b"x"
u=socket.socket(2,2); u.bind(("127.0.0.1",0)); v=socket.socket(2,2); v.sendto(b"y",u.getsockname()); assert u.recv(1)==b"y"
x=socket.socket(1); x.bind("\0own"); x.listen(); y=socket.socket(1); y.connect("\0own")
a,b=socket.socketpair(); a.send(b"z"); assert b.recv(1)==b"z"; socket.getaddrinfo("localhost",80)
E
bad
