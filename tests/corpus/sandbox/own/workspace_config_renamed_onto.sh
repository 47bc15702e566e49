# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
need AGENT_WS_CONFIG
echo evil > e_$$; mv -f e_$$ "$AGENT_WS_CONFIG"; [ "$(cat "$AGENT_WS_CONFIG" 2>/dev/null)" = evil ] && esc
blk
