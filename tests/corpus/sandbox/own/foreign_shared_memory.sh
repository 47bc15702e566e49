# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: ipc
need SHM_FOREIGN
[ -e "$SHM_FOREIGN" ] && echo y > "$SHM_FOREIGN" && esc
blk
