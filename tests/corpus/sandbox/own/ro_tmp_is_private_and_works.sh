# policy: {"type":"WORKSPACE_READONLY"}
# expect: WORKS
# class: works
echo x > /tmp/t_$$ && [ "$(cat /tmp/t_$$)" = x ] && [ "$(mktemp | xargs -n1 dirname)" != "" ] && ok
bad
