# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
d="$WORKSPACE-evil"; [ -d "$d" ] || say "SKIP fixture $d missing"
echo x > "$d/w_$$"; [ -e "$d/w_$$" ] && esc
blk
