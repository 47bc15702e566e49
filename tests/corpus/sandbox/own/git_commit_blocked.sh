# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
b=$(git rev-parse HEAD); echo y >> tracked.txt; git -c user.name=t -c user.email=t@t commit -qam two; [ "$(git rev-parse HEAD)" != "$b" ] && esc
blk
