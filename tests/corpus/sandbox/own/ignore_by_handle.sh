# policy: {"type":"WORKSPACE_READWRITE","ignore_files":[".agentignore"]}
# expect: BLOCKED
# class: ignore
need IGNORED_FILE
M=SBX_IGNORED_CONTENT
tool python3
python3 - "$IGNORED_FILE" <<'E' && esc
import ctypes,os,struct,sys
l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(8+128); struct.pack_into("<I",b,0,128); m=ctypes.c_int()
if l.syscall(303,-100,sys.argv[1].encode(),b,ctypes.byref(m),0)<0: sys.exit(1)
f=l.syscall(304,os.open(".",0),b,0); sys.exit(0 if f>=0 and b"SBX_IGNORED" in os.read(f,64) else 1)
E
blk
