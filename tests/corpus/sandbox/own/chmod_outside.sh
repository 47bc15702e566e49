# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: metadata
b=$(stat -c %a "$CANARY"); chmod 0751 "$CANARY"; [ "$(stat -c %a "$CANARY")" != "$b" ] && esc
blk
