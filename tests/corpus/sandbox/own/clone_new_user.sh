# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: namespace
tool python3
python3 - <<'E' && esc
import ctypes,os,struct,sys
l=ctypes.CDLL(None,use_errno=True)
got=False
for call in ((56,0x10000000|17,0,0,0,0),(435,ctypes.create_string_buffer(struct.pack("<11Q",0x10000000,0,0,0,17,0,0,0,0,0,0)),88)):
    pid=l.syscall(*call)
    if pid==0: os._exit(0)
    if pid>0: os.waitpid(pid,0); got=True
sys.exit(0 if got else 1)
E
blk
