# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: git
# stage: nested_repository
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
[ -d nested_repo/.git ] || say "SKIP fixture nested_repo missing"
echo x > nested_repo/.git/hooks/pre-commit; [ -e nested_repo/.git/hooks/pre-commit ] && esc
blk
