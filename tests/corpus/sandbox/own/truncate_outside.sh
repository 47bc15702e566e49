# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
truncate -s 0 "$CANARY"; [ -s "$CANARY" ] || esc
blk
