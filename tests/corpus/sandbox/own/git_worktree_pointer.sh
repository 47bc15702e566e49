# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
need WT
b=$(cat "$WT/.git"); echo "gitdir: $PWD/evil" > "$WT/.git"; [ "$(cat "$WT/.git")" != "$b" ] && esc
rm -f "$WT/.git"; [ -e "$WT/.git" ] || esc
mv "$WT" "wt_$$" && mkdir -p "$WT/.git" && esc
blk
