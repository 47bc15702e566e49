# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
need WT MAIN_GIT
git -C "$WT" config core.fsmonitor ./x; grep -q fsmonitor "$MAIN_GIT/config" && esc
echo x > "$MAIN_GIT/hooks/pre-commit" && esc
blk
