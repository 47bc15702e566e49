# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
date >/dev/null && getent passwd "$(id -u)" >/dev/null && getent hosts localhost >/dev/null && [ -r /etc/resolv.conf ] && hostname >/dev/null && ok
bad
