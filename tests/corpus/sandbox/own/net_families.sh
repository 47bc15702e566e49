# policy: {"type":"WORKSPACE_READWRITE","network_access":true}
# expect: BLOCKED
# class: network
tool python3
python3 - <<'E' && esc
import socket,sys
bad=[]
for f,t,pr in ((17,3,0),(40,1,0),(38,5,0),(31,3,1),(29,3,1),(44,3,0),(16,3,15),(16,3,9),(16,3,12),(2,3,1),(2,3,255),(10,3,58),(21,5,0),(30,5,0)):
    try: socket.socket(f,t,pr).close(); bad.append((f,t,pr))
    except OSError: pass
print(bad,file=sys.stderr); sys.exit(0 if bad else 1)
E
blk
