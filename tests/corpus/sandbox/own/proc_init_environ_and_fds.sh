# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: proc
[ -n "$(tr "\0" "\n" < /proc/1/environ 2>/dev/null)" ] && esc
for f in /proc/1/fd/* /proc/1/cwd /proc/1/exe; do readlink "$f" && esc; done
blk
