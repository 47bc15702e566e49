# policy: {"type":"WORKSPACE_READONLY"}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
b=$(git rev-parse HEAD); git -c user.name=t -c user.email=t@t commit -q --allow-empty -m x; [ "$(git rev-parse HEAD)" != "$b" ] && esc
blk
