# policy: {"type":"WORKSPACE_READONLY"}
# expect: WORKS
# class: works
d=${TMPDIR:-/tmp}; echo x > "$d/t_$$" && [ "$(cat "$d/t_$$")" = x ] && f=$(mktemp) && echo x > "$f" && ok
bad
