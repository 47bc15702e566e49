# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
need AGENT_WS_CONFIG
echo evil > e_$$; ln -f e_$$ "$AGENT_WS_CONFIG"; ln -sf e_$$ "$AGENT_WS_CONFIG"; [ "$(cat "$AGENT_WS_CONFIG" 2>/dev/null)" = evil ] && esc
blk
