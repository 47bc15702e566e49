# policy: {"type":"WORKSPACE_READONLY"}
# expect: BLOCKED
# class: readonly
[ -e tracked.txt ] || say "SKIP fixture tracked.txt missing"
tool python3
python3 -c "import os;os.setxattr('tracked.txt','user.sbx',b'1')" && esc
blk
