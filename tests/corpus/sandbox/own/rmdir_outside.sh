# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
rmdir "$OUTSIDE/rw_extra-evil"; [ -d "$OUTSIDE/rw_extra-evil" ] || esc
blk
