# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
b=$(cat .git/config); echo "[core]" >> .git/config; git config core.fsmonitor ./x; [ "$(cat .git/config)" != "$b" ] && esc
blk
