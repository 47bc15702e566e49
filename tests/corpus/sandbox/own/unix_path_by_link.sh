# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: unix-socket
need OUT_SOCK
tool python3
ln -s "$OUT_SOCK" s_$$; ln "$OUT_SOCK" h_$$
for f in s_$$ h_$$ "/proc/self/root$OUT_SOCK"; do python3 -c "import socket,sys;s=socket.socket(1);s.settimeout(30);s.connect(sys.argv[1])" "$f" && esc; done
blk
