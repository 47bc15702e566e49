# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: secrets
need AGENT_CONFIG_DIR
cat "$AGENT_CONFIG_DIR/config.toml" && esc
ls "$AGENT_CONFIG_DIR/../data" 2>/dev/null | grep -q . && esc
cat "$AGENT_CONFIG_DIR"/../data/*.token && esc
blk
