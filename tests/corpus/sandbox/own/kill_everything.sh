# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
mine && say "SKIP the host is visible"
kill -URG -1 2>/dev/null; sleep 0.2; [ -e "$OUTSIDE/victim.sig" ] && esc
blk
