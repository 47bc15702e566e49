# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
tool python3
mine || blk
python3 -c "import resource,sys;resource.prlimit(int(sys.argv[1]),resource.RLIMIT_NOFILE)" "$VICTIM_PID" && esc
blk
