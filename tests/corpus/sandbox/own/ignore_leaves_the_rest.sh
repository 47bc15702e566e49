# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: WORKS
# class: works
need IGNORED_FILE
[ "$(cat tracked.txt)" = tracked ] && echo x > "$(dirname "$IGNORED_FILE")/n_$$" && [ "$(cat "$(dirname "$IGNORED_FILE")/n_$$")" = x ] && ok
bad
