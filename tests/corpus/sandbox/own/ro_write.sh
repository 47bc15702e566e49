# policy: {"type":"WORKSPACE_READONLY"}
# expect: BLOCKED
# class: readonly
[ -e tracked.txt ] || say "SKIP fixture tracked.txt missing"
echo x > ro_$$; [ -e ro_$$ ] && esc
echo x >> tracked.txt; [ "$(cat tracked.txt)" = tracked ] || esc
blk
