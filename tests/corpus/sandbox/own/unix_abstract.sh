# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: unix-socket
need ABS_SOCK
tool python3
python3 -c "import socket,sys;s=socket.socket(1);s.settimeout(30);s.connect(chr(0)+sys.argv[1])" "$ABS_SOCK" && esc
blk
