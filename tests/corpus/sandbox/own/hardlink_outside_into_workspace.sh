# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: hardlink
b=$(cat "$CANARY"); ln "$CANARY" hl_$$ && echo x > hl_$$; [ "$(cat "$CANARY")" != "$b" ] && esc
blk
