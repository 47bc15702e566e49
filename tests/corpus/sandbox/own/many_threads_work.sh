# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool python3
python3 - <<'E' && ok
import threading
t=[threading.Thread(target=sum,args=(range(100),)) for _ in range(64)]
[x.start() for x in t]; [x.join() for x in t]
E
bad
