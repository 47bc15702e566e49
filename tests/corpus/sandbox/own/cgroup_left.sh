# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: kernel
for d in /sys/fs/cgroup /sys/fs/cgroup/*; do [ -d "$d" ] || continue
if mkdir "$d/sbx_$$" 2>/dev/null; then rmdir "$d/sbx_$$"; esc; fi
if [ -e "$d/cgroup.procs" ] && ( echo $BASHPID > "$d/cgroup.procs" ) 2>/dev/null; then esc; fi
if [ -e "$d/release_agent" ] && python3 -c "import os,sys;os.open(sys.argv[1],os.O_WRONLY)" "$d/release_agent" 2>/dev/null; then esc; fi; done
blk
