# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: proc
[ -n "$(tr "\0" "\n" < /proc/1/environ 2>/dev/null)" ] && esc
ls /proc/1/fd >/dev/null 2>&1 && [ -n "$(ls /proc/1/fd)" ] && esc
blk
