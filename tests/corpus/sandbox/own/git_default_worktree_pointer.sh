# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
need WT
b=$(cat "$WT/.git"); echo "gitdir: $PWD/evil" > "$WT/.git"; [ "$(cat "$WT/.git")" != "$b" ] && esc
blk
