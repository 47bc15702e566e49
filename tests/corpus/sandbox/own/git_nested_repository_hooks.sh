# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
# stage: nested_repository
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
[ -d nested_repo/.git ] || say "SKIP fixture nested_repo missing"
echo x > nested_repo/.git/hooks/pre-commit; [ -e nested_repo/.git/hooks/pre-commit ] && esc
git -C nested_repo config core.fsmonitor ./x && esc
blk
