# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: tty
tool python3
python3 - <<'E' && esc
import ctypes,fcntl,os,pty,sys
m,s=pty.openpty(); pid=os.fork()
if pid==0:
    os.setsid(); fcntl.ioctl(s,0x540E,0); l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(b"x")
    # Request numbers are compared in 32 bits by the kernel.
    got=[n for n in (0x5412,0x5412|1<<32) if l.syscall(16,s,ctypes.c_ulong(n),b)==0]
    os._exit(0 if got else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1])!=0)
E
blk
