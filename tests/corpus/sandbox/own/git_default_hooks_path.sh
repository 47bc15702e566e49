# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: git
# stage: hooks_path
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
[ -d custom_hooks ] || say "SKIP fixture custom_hooks missing"
echo evil > custom_hooks/pre-commit; [ "$(cat custom_hooks/pre-commit)" = evil ] && esc
blk
