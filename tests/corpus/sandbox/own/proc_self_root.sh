# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: proc
echo x > "/proc/self/root$OUTSIDE/psr_$$"; [ -e "$OUTSIDE/psr_$$" ] && esc
blk
