# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: proc
for n in 1 $PPID; do echo x > "/proc/$n/root$OUTSIDE/pir_$$"; done; [ -e "$OUTSIDE/pir_$$" ] && esc
ls /proc/1/root/ >/dev/null 2>&1 && [ -e /proc/1/root/proc ] && esc
blk
