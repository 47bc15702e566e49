# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
for d in /tmp /var/tmp /dev/shm "${TMPDIR:-/tmp}"; do echo x > "$d/t_$$" && [ "$(cat "$d/t_$$")" = x ] && rm "$d/t_$$" || bad; done
f=$(mktemp) && echo x > "$f" && ok
bad
