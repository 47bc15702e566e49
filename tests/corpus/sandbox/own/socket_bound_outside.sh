# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
tool python3
python3 -c "import socket,sys;socket.socket(1).bind(sys.argv[1])" "$OUTSIDE/b_$$" && esc
blk
