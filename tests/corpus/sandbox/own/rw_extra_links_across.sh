# policy: {"type":"WORKSPACE_READWRITE","additional_readwrite_paths":["$RW_EXTRA"]}
# expect: WORKS
# class: extra-paths
need RW_EXTRA
echo 1 > a_$$; mv a_$$ "$RW_EXTRA/a_$$" && [ "$(cat "$RW_EXTRA/a_$$")" = 1 ] && ok
bad
