# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: proc
tool python3
python3 - "$CANARY" <<'E' && esc
import os,sys
for flags in (os.O_PATH,os.O_RDONLY):
    f=os.open(sys.argv[1],flags)
    try: os.close(os.open(f"/proc/self/fd/{f}",os.O_WRONLY)); sys.exit(0)
    except OSError: pass
sys.exit(1)
E
blk
