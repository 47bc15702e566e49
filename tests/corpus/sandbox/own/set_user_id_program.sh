# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: privilege
tool python3
python3 - <<'E' && esc
import os,sys
me=os.getuid(); got=False
for u in (0,1,2,65534):
    if u==me: continue
    pid=os.fork()
    if pid==0:
        try: os.setuid(u); os._exit(0)
        except OSError: os._exit(1)
    got|=os.waitpid(pid,0)[1]==0
sys.exit(0 if got else 1)
E
grep -q "^CapEff:[[:space:]]*0000000000000000" /proc/self/status || esc
blk
