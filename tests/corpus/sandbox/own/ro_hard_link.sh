# policy: {"type":"WORKSPACE_READONLY"}
# expect: BLOCKED
# class: readonly
[ -e tracked.txt ] || say "SKIP fixture tracked.txt missing"
ln tracked.txt l_$$ && esc
ln tracked.txt /tmp/l_$$ && echo x > /tmp/l_$$ && [ "$(cat tracked.txt)" = x ] && esc
blk
