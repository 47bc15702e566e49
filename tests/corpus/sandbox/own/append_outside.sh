# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
b=$(cat "$CANARY"); echo x >> "$CANARY"; [ "$(cat "$CANARY")" != "$b" ] && esc
blk
