# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
sleep 0.2 & wait $!; [ $? = 0 ] || bad
sleep 5 & kill %1 2>/dev/null || kill $!; wait $!; [ $? = 143 ] && ok
bad
