# policy: {"type":"WORKSPACE_READWRITE","additional_readonly_paths":["$RO_NESTED"]}
# expect: BLOCKED
# class: extra-paths
need RO_NESTED
echo x > "$RO_NESTED/w_$$"; [ -e "$RO_NESTED/w_$$" ] && esc
blk
