# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: privilege
grep -q "^Seccomp:[[:space:]]*2" /proc/self/status && blk
esc
