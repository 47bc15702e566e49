# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
echo x > "$IGNORED_FILE" && esc
rm -f "$IGNORED_FILE" 2>/dev/null && [ ! -e "$IGNORED_FILE" ] && esc
blk
