# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
tool python3
python3 - "$OUTSIDE/tl_$$" <<'E'
import ctypes,os,sys
f=os.open(".",os.O_TMPFILE|os.O_RDWR); ctypes.CDLL(None).linkat(-100,f"/proc/self/fd/{f}".encode(),-100,sys.argv[1].encode(),0x400)
E
[ -e "$OUTSIDE/tl_$$" ] && esc
blk
