# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: kernel
tool python3
python3 - <<'P' && esc
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def executes(flags, how):
    try: f = os.memfd_create("x", flags)
    except OSError: return False
    os.write(f, open("/bin/true", "rb").read())
    pid = os.fork()
    if pid == 0:
        try: os.fchmod(f, 0o755)
        except OSError: pass
        try: how(f)
        finally: os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
def by_name(f): os.execve(f"/proc/self/fd/{f}", ["true"], {})
def by_descriptor(f):
    word = (ctypes.c_char_p * 2)(b"true", None)
    libc.execveat(f, b"", word, (ctypes.c_char_p * 1)(None), 0x1000)
ways = [executes(flags, how) for flags in (0, 1, 2, 16) for how in (by_name, by_descriptor)]
sys.exit(not any(ways))
P
blk
