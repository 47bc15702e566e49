# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: tty
need VICTIM_PTS
[ -n "$VICTIM_PTS" ] || say "SKIP no VICTIM_PTS"
[ -e "$VICTIM_PTS" ] && printf . > "$VICTIM_PTS" && esc
blk
