# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
# Never on the host: only where the first process is the walls' own.
grep -qx glass-init /proc/1/comm || say "SKIP the first process is the host's"
kill -KILL 1 2>/dev/null; kill -TERM 1 2>/dev/null
sleep 0.2; grep -qx glass-init /proc/1/comm && blk
esc
