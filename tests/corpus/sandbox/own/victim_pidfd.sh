# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
tool python3
mine || blk
python3 - "$VICTIM_PID" <<'E' && esc
import ctypes,os,sys
l=ctypes.CDLL(None,use_errno=True); f=os.pidfd_open(int(sys.argv[1])); sys.exit(0 if l.syscall(438,f,0,0)>=0 else 1)
E
blk
