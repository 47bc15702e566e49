# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool python3
python3 - <<'P' && ok
import ctypes, fcntl, mmap, os
f = os.memfd_create("data", 0)
assert fcntl.fcntl(f, fcntl.F_GETFD) == 0
os.write(f, b"hello"); assert os.pread(f, 9, 0) == b"hello"
assert open(f"/proc/self/fd/{f}").read() == "hello"
c = os.memfd_create("kept" * 20, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
assert fcntl.fcntl(c, fcntl.F_GETFD) == fcntl.FD_CLOEXEC
os.ftruncate(c, 8192); m = mmap.mmap(c, 8192); m[:2] = b"ab"; del m
fcntl.fcntl(c, 1033, 2 | 4)
try: os.ftruncate(c, 1); raise SystemExit(1)
except PermissionError: pass
# What compilers at run time do: written through one mapping, executed through another.
j = os.memfd_create("code", os.MFD_CLOEXEC); os.ftruncate(j, 4096)
w = mmap.mmap(j, 4096); x = mmap.mmap(j, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
if os.uname().machine == "x86_64":
    w[:6] = bytes.fromhex("b82a000000c3")
    libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, 4096, 5, 1, j, 0)
    assert ctypes.CFUNCTYPE(ctypes.c_int)(at)() == 42
pid = os.fork()
if pid == 0: os.pwrite(f, b"J", 0); os._exit(0)
os.waitpid(pid, 0); assert os.pread(f, 5, 0) == b"Jello"
for i in range(200): os.close(os.memfd_create(str(i)))
try: os.memfd_create("x" * 300, 0); raise SystemExit(1)
except OSError as e: assert e.errno == 22
P
bad
