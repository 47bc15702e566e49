# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
[ "$(cat <(echo a) <(echo b) | tr -d "\n")" = ab ] && ok
bad
