# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
mkdir "$OUTSIDE/d_$$" && esc
blk
