# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
tool python3
mine || blk
python3 - "$VICTIM_PID" <<'E' && esc
import ctypes,sys
l=ctypes.CDLL(None,use_errno=True); pid=int(sys.argv[1])
r=l.ptrace(0x4206,pid,0,0)
if r==0: l.ptrace(17,pid,0,0)
sys.exit(0 if r==0 else 1)
E
blk
