# policy: {"type":"WORKSPACE_READWRITE","additional_readonly_paths":["$RO_NESTED"]}
# expect: BLOCKED
# class: extra-paths
need RO_NESTED
mv "$RO_NESTED" n_$$ && mkdir "$RO_NESTED" && echo x > "$RO_NESTED/w" && esc
rm -rf "$RO_NESTED" 2>/dev/null; [ -d "$RO_NESTED" ] || esc
blk
