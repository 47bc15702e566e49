# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool ps
sleep 5 & p=$!
ps -e -o pid= | grep -qw "$p" && [ "$(ps -o comm= -p "$p")" = sleep ] && kill "$p" && ok
bad
