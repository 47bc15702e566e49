# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: device
mknod b_$$ b 254 0 && esc
mknod c_$$ c 1 1 && esc
blk
