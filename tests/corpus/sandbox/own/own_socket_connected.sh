# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: unix-socket
need AGENT_CONFIG_DIR
tool python3
for s in daemon keeper; do python3 -c "import socket,sys;socket.socket(1).connect(sys.argv[1])" "$AGENT_CONFIG_DIR/../run/$s.sock" && esc; done
blk
