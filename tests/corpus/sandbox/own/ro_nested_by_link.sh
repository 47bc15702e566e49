# policy: {"type":"WORKSPACE_READWRITE","additional_readonly_paths":["$RO_NESTED"]}
# expect: BLOCKED
# class: extra-paths
need RO_NESTED
ln -s "$RO_NESTED" l_$$; echo x > l_$$/w_$$; [ -e "$RO_NESTED/w_$$" ] && esc
chmod 777 "$RO_NESTED"; [ "$(stat -c %a "$RO_NESTED")" = 777 ] && esc
blk
