# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
tool python3
python3 - "$OUTSIDE" <<'E' && esc
import os,sys
os.close(os.open(sys.argv[1],os.O_TMPFILE|os.O_RDWR))
E
blk
