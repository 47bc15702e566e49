# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: kernel
tool python3
python3 - <<'E' && esc
import os,sys
f=os.memfd_create("x",0); os.write(f,open("/bin/true","rb").read())
pid=os.fork()
if pid==0:
    try: os.execve(f"/proc/self/fd/{f}",["true"],{})
    except OSError: os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1])!=0)
E
blk
