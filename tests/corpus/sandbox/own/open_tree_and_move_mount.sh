# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: namespace
tool python3
python3 - <<'E' && esc
import ctypes,sys
l=ctypes.CDLL(None,use_errno=True)
tries=[(428,-100,b"/",1),(430,b"tmpfs",0),(433,-100,b"/",0),(165,b"none",b".",b"tmpfs",0,0),(166,b"/",2),(155,b".",b"."),(161,b"."),(442,-100,b"/",0,0,0)]
sys.exit(0 if any(l.syscall(*t)>=0 for t in tries) else 1)
E
blk
