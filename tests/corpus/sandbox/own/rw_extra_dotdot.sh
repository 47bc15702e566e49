# policy: {"type":"WORKSPACE_READWRITE","additional_readwrite_paths":["$RW_EXTRA"]}
# expect: BLOCKED
# class: extra-paths
need RW_EXTRA
echo x > "$RW_EXTRA/../up_$$"; [ -e "$OUTSIDE/up_$$" ] && esc
mv "$RW_EXTRA" "$RW_EXTRA.old" 2>/dev/null && esc
blk
