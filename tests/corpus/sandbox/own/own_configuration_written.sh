# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
need AGENT_CONFIG_DIR
echo evil > "$AGENT_CONFIG_DIR/config.toml" && esc
echo evil > "$AGENT_CONFIG_DIR/x_$$" && esc
blk
