# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
# stage: included_config
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
[ -f included.gitconfig ] || say "SKIP fixture included.gitconfig missing"
echo "[core]" >> included.gitconfig; grep -q core included.gitconfig && esc
mv included.gitconfig i_$$ && esc
blk
