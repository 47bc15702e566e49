# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
echo x > /dev/null && [ "$(head -c 4 /dev/zero | wc -c)" = 4 ] && [ -e /dev/fd/0 ] && echo x > /dev/stderr && [ -c /dev/full ] && [ -d /dev/pts ] && echo hi | cat /dev/stdin | grep -q hi && ok
bad
