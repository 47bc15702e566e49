# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
need AGENT_WS_CONFIG2
tool python3
echo evil > e_$$
python3 -c "import ctypes,sys;ctypes.CDLL(None).syscall(316,-100,sys.argv[1].encode(),-100,sys.argv[2].encode(),2)" "$PWD/e_$$" "$PWD/$AGENT_WS_CONFIG2"
[ "$(cat "$AGENT_WS_CONFIG2" 2>/dev/null)" = evil ] && esc
blk
