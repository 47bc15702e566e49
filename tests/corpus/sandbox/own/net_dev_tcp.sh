# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: network
need TCP_PORT
timeout 30 bash -c "read -r l < /dev/tcp/127.0.0.1/$TCP_PORT; [ -n \"\$l\" ]" && esc
blk
