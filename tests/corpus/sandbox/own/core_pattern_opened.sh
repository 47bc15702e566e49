# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: kernel
tool python3
python3 - <<'E' && esc
import os,sys
for f in ("/proc/sys/kernel/core_pattern","/proc/sys/kernel/modprobe","/proc/sys/kernel/hotplug","/proc/sysrq-trigger","/proc/sys/vm/drop_caches","/proc/self/../sys/fs/binfmt_misc/register","/sys/kernel/uevent_helper","/sys/power/state","/sys/kernel/mm/transparent_hugepage/enabled"):
    try: os.close(os.open(f,os.O_WRONLY)); print(f,file=sys.stderr); sys.exit(0)
    except OSError: pass
sys.exit(1)
E
blk
