# policy: {"type":"WORKSPACE_READWRITE","network_access":true}
# expect: BLOCKED
# class: unix-socket
need OUT_SOCK
tool python3
python3 -c "import socket,sys;s=socket.socket(1);s.settimeout(30);s.connect(sys.argv[1])" "$OUT_SOCK" && esc
blk
