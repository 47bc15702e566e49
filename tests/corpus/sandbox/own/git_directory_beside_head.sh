# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
# stage: lonely_head
echo "ref: refs/heads/main" > lonely/HEAD || say "SKIP HEAD cannot be written"
mkdir lonely/refs; mkdir o && mv o lonely/objects
echo x > lonely/commondir
[ -e lonely/commondir ] && esc
[ -e lonely/refs ] && [ -e lonely/objects ] && esc
blk
