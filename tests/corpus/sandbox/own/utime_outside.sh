# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: metadata
b=$(stat -c %Y "$CANARY"); touch -d 2001-02-03 "$CANARY"; [ "$(stat -c %Y "$CANARY")" != "$b" ] && esc
blk
