# policy: {"type":"WORKSPACE_READWRITE","disable_tmp_write":true}
# expect: WORKS
# class: works
f=$(mktemp) && echo x > "$f" && [ "$(cat "$f")" = x ] && case "$f" in /tmp/*|/var/tmp/*|/dev/shm/*) bad;; esac && ok
bad
