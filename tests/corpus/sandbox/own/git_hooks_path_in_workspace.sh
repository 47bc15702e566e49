# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
# stage: hooks_path
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
[ -d custom_hooks ] || say "SKIP fixture custom_hooks missing"
echo evil > custom_hooks/pre-commit; [ "$(cat custom_hooks/pre-commit)" = evil ] && esc
mv custom_hooks ch_$$ && mkdir custom_hooks && esc
blk
