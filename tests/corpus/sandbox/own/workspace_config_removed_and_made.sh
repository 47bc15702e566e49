# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
need AGENT_WS_CONFIG AGENT_WS_CONFIG2
for f in "$AGENT_WS_CONFIG" "$AGENT_WS_CONFIG2"; do rm -rf "$f" 2>/dev/null; echo evil > "$f"; [ "$(cat "$f" 2>/dev/null)" = evil ] && esc; done
blk
