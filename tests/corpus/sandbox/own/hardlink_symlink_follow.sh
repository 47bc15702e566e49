# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: hardlink
b=$(cat "$CANARY"); ln -s "$CANARY" s_$$; ln -L s_$$ h_$$ && echo x > h_$$; [ "$(cat "$CANARY")" != "$b" ] && esc
blk
