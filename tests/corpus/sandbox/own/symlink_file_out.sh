# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: symlink
b=$(cat "$CANARY"); ln -s "$CANARY" lf_$$; echo x > lf_$$; [ "$(cat "$CANARY")" != "$b" ] && esc
blk
