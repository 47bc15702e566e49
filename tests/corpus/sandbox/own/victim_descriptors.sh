# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: proc
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
mine || blk
for f in /proc/$VICTIM_PID/fd/*; do case "$(readlink "$f")" in "$OUTSIDE"/*) echo x >> "$f" && esc;; esac; done
blk
