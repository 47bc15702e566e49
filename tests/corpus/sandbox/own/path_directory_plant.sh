# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
echo "#!/bin/sh" > "$OUTSIDE/bin/ls" && esc
blk
