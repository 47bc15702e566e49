# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: tmp
need TMP_FOREIGN
[ -e "$TMP_FOREIGN" ] && echo y > "$TMP_FOREIGN" && esc
blk
