# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
echo x > .git/hooks/pre-commit; [ -e .git/hooks/pre-commit ] && esc
blk
