# policy: {"type":"WORKSPACE_READONLY"}
# expect: BLOCKED
# class: readonly
[ -e tracked.txt ] || say "SKIP fixture tracked.txt missing"
rm -f tracked.txt; mv tracked.txt t2 2>/dev/null; [ -e tracked.txt ] || esc
blk
