# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
tar cf a_$$.tar . 2>/dev/null; grep -aq $M a_$$.tar && esc
git archive HEAD 2>/dev/null | grep -aq $M && esc
blk
