# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
b=$(cat .git/config); echo "[core]" >> .git/config; [ "$(cat .git/config)" != "$b" ] && esc
blk
