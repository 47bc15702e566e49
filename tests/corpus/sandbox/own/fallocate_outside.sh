# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
tool fallocate
b=$(stat -c %s "$CANARY"); fallocate -l 4096 "$CANARY"; [ "$(stat -c %s "$CANARY")" != "$b" ] && esc
blk
