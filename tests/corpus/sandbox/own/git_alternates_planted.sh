# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
mkdir -p .git/objects/info; echo "$PWD/evil" > .git/objects/info/alternates; [ -e .git/objects/info/alternates ] && esc
blk
