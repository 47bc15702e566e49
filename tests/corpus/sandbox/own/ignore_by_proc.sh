# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
for r in /proc/self/cwd "/proc/self/root$WORKSPACE" "/proc/$PPID/cwd" "/proc/1/root$WORKSPACE"; do grep -q $M "$r/$IGNORED_FILE" && esc; done
blk
