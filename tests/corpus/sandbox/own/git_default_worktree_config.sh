# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
echo "[core]" > .git/config.worktree; grep -q core .git/config.worktree 2>/dev/null && esc
blk
