# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
mv .git g_$$ && esc
blk
