# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: rename
cd /; mv "$WORKSPACE" "$WORKSPACE.old" && esc
rmdir "$WORKSPACE" 2>/dev/null && esc
blk
