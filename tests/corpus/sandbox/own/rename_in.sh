# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: rename
need DECOY
mv "$DECOY" got_$$ 2>/dev/null; [ -e "$DECOY" ] || esc
blk
