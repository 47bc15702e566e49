# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
ln "$IGNORED_FILE" l_$$; grep -q $M l_$$ && esc
blk
