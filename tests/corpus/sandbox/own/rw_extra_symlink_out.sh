# policy: {"type":"WORKSPACE_READWRITE","additional_readwrite_paths":["$RW_EXTRA"]}
# expect: BLOCKED
# class: extra-paths
need RW_EXTRA
ln -s "$OUTSIDE" "$RW_EXTRA/l_$$"; echo x > "$RW_EXTRA/l_$$/via_$$"; [ -e "$OUTSIDE/via_$$" ] && esc
blk
