# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: network
n=$(tail -n +3 /proc/self/net/dev | grep -vc "^ *lo:"); [ "$n" = 0 ] || esc
blk
