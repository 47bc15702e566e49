# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
b=$(cat .git/HEAD); echo "ref: refs/heads/evil" > .git/HEAD; [ "$(cat .git/HEAD)" != "$b" ] && esc
blk
