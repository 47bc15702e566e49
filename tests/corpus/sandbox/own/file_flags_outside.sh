# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: metadata
tool python3
python3 - "$CANARY" <<'E' && esc
import fcntl,os,struct,sys
f=os.open(sys.argv[1],os.O_RDONLY); b=bytearray(8)
try: fcntl.ioctl(f,0x80086601,b); flags=struct.unpack("<l",b[:4])[0]; fcntl.ioctl(f,0x40086602,struct.pack("<q",flags|0x40))
except OSError: sys.exit(1)
E
blk
