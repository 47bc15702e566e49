# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool python3
python3 - <<'E' && ok
import fcntl,mmap,os,sqlite3
f=open("m","wb+"); f.write(b"\0"*4096); f.flush(); m=mmap.mmap(f.fileno(),4096); m[0:2]=b"hi"; m.flush(); assert open("m","rb").read(2)==b"hi"
fcntl.lockf(f,fcntl.LOCK_EX); os.posix_fallocate(f.fileno(),0,8192); d=sqlite3.connect("d.db"); d.execute("pragma journal_mode=wal"); d.execute("create table t(a)"); d.commit()
E
bad
