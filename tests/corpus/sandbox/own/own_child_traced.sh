# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
tool python3
python3 - <<'E' && esc
import ctypes,os,sys,time
l=ctypes.CDLL(None,use_errno=True); pid=os.fork()
if pid==0: time.sleep(5); os._exit(0)
r=l.ptrace(0x4206,pid,0,0); os.kill(pid,9); os.waitpid(pid,0); sys.exit(0 if r==0 else 1)
E
blk
