# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool python3
mkdir d seed && mkdir d/refs d/objects && echo "ref: refs/heads/main" > seed/x || say "SKIP no directory"
here() { [ -e d/HEAD ] && esc; }
cp seed/x d/HEAD; here
mv seed/x d/HEAD; here; echo x > seed/x
ln seed/x d/HEAD; here
ln -s ../seed/x d/HEAD; [ -L d/HEAD ] && esc
ln -s HEAD d/way; echo x > d/way; here
(cd d && ln -s "$PWD/HEAD" far && echo x > far); here
ln -s /proc/self/cwd d/self; (cd d && echo x > self/HEAD); here
(cd d && echo x > /proc/self/cwd/HEAD); here
tar cf t.tar --transform s,x,HEAD, -C seed x && tar xf t.tar -C d; here
python3 - <<'P'; here
import ctypes, os
l = ctypes.CDLL(None, use_errno=True)
d = os.open("d", os.O_RDONLY | os.O_DIRECTORY)
def attempt(work):
    try: work()
    except OSError: pass
attempt(lambda: os.open("HEAD", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644, dir_fd=d))
attempt(lambda: os.open("./HEAD", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=d))
attempt(lambda: os.mknod("HEAD", 0o100644, dir_fd=d))
attempt(lambda: os.symlink("x", "HEAD", dir_fd=d))
attempt(lambda: os.rename("seed/x", "HEAD", dst_dir_fd=d))
l.syscall(85, b"d/HEAD", 0o644)                      # creat
l.syscall(316, -100, b"seed/x", d, b"HEAD", 1)       # renameat2, no replacing
f = os.open("d", os.O_TMPFILE | os.O_RDWR, 0o644)
l.linkat(-100, b"/proc/self/fd/%d" % f, d, b"HEAD", 0x400)
os.chdir("d"); attempt(lambda: open("HEAD", "w"))
P
blk
