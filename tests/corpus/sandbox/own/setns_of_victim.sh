# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: namespace
mine() { tr "\0" " " < "/proc/$VICTIM_PID/cmdline" 2>/dev/null | grep -q -- "$VICTIM_TAG"; }
need VICTIM_PID VICTIM_TAG
tool python3
python3 - "$VICTIM_PID" <<'E' && esc
import ctypes,os,sys
l=ctypes.CDLL(None,use_errno=True); ok=False
for pid in (sys.argv[1],"1"):
    for n in ("mnt","net","user","pid","ipc","uts"):
        try: f=os.open(f"/proc/{pid}/ns/{n}",os.O_RDONLY)
        except OSError: continue
        ok|=l.setns(f,0)==0
sys.exit(0 if ok else 1)
E
blk
