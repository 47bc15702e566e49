# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: ipc
need SHM_NUMBER
tool python3
python3 -c "import ctypes,sys;sys.exit(0 if ctypes.CDLL(None).shmget(int(sys.argv[1]),0,0)>=0 else 1)" "$SHM_NUMBER" && esc
blk
