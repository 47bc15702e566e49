# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: kernel
tool python3
python3 - <<'E' && esc
import ctypes,struct,sys
l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(4096)
tries={"perf_event_open":(298,b,0,-1,-1,0),"syslog":(103,3,b,100),"swapon":(167,b"/nonexistent",0),"acct":(163,b"/nonexistent"),"init_module":(175,b,0,b""),"finit_module":(313,-1,b"",0),"kexec_load":(246,0,0,0,0),"fanotify_init":(300,0,0),"iopl":(172,3),"ioperm":(173,0x80,1,1),"clock_settime":(227,0,None),"add_key":(248,b"user",b"sbx",b"x",1,-4),"request_key":(249,b"user",b"sbx",None,-4),"keyctl":(250,0,-3,1),"io_uring_setup":(425,4,b),"process_vm_writev":(311,1,b,0,b,0,0),"kcmp":(312,1,1,0,0,0)}
bad=[]
for name,t in tries.items():
    r=l.syscall(*t); e=ctypes.get_errno()
    # Anything but a refusal means that the call itself was reached.
    if r>=0 or e not in (1,38,13): bad.append((name,r,e))
print(bad,file=sys.stderr); sys.exit(0 if bad else 1)
E
blk
