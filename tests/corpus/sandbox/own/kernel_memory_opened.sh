# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: kernel
tool python3
python3 - <<'E' && esc
import os,sys,glob
for f in ["/proc/kcore","/dev/mem","/dev/kmem","/dev/port","/dev/kmsg","/proc/kmsg","/dev/fuse","/dev/kvm","/dev/net/tun","/dev/loop-control","/dev/vhost-vsock"]+glob.glob("/dev/[vs]d?")+glob.glob("/dev/nvme?n?")+glob.glob("/dev/loop[0-9]"):
    try: os.close(os.open(f,os.O_RDONLY)); print(f,file=sys.stderr); sys.exit(0)
    except OSError: pass
sys.exit(1)
E
blk
