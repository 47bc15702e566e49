# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: proc
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
mine || blk
tr "\0" "\n" < "/proc/$VICTIM_PID/environ" | grep -q . && esc
blk
