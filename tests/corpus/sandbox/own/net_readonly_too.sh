# policy: {"type":"WORKSPACE_READONLY"}
# expect: BLOCKED
# class: network
need TCP_PORT
tool python3
python3 -c "import socket,sys;s=socket.create_connection(('127.0.0.1',int(sys.argv[1])),30);sys.exit(0 if b'SBX' in s.recv(64) else 1)" "$TCP_PORT" && esc
blk
