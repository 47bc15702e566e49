# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
mine || blk
renice -n 5 -p "$VICTIM_PID" && esc
blk
