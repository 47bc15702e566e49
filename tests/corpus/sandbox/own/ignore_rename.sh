# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
mv "$IGNORED_FILE" m_$$; grep -q $M m_$$ && esc
cp "$IGNORED_FILE" c_$$; grep -q $M c_$$ && esc
blk
