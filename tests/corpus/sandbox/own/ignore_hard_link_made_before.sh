# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
# stage: hard_link
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
[ -e other_name.txt ] || say "SKIP fixture other_name.txt missing"
grep -q $M other_name.txt && esc
blk
