# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
grep -q $M "$IGNORED_FILE" && esc
grep -rq $M "$(dirname "$IGNORED_FILE")" && esc
blk
