# policy: {"type":"WORKSPACE_READONLY"}
# expect: BLOCKED
# class: readonly
echo x > "$OUTSIDE/n_$$" && esc
chmod 700 "$CANARY" && esc
blk
