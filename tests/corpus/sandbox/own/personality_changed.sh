# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: kernel
tool python3
python3 -c "import ctypes,sys;l=ctypes.CDLL(None);sys.exit(0 if l.personality(0x0400000)>=0 else 1)" && esc
blk
