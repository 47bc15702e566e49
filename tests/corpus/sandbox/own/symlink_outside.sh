# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: symlink
ln -s / "$OUTSIDE/l_$$" && esc
blk
