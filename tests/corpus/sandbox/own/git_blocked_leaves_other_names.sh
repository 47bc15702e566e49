# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: WORKS
# class: works
tool python3 git
mkdir -p a/b/refs a/b/objects a/heads && echo x > a/heads/head && echo x > a/.gitignore || bad
mv a/heads/head a/b/moved && ln a/b/moved a/b/linked && ln -s moved a/b/soft && echo y > a/b/soft || bad
[ "$(cat a/b/linked)" = y ] && mkfifo a/pipe && (echo z > a/pipe & cat a/pipe) | grep -qx z || bad
echo out > /dev/stdout && echo err > /dev/stderr && echo fd | tee /dev/fd/2 > /dev/null || bad
: > /dev/null && cat <(echo sub) > a/sub && [ "$(cat a/sub)" = sub ] || bad
tar cf a.tar a/b && mkdir c && tar xf a.tar -C c && [ -e c/a/b/moved ] || bad
(cd c && : > ../c/./a//top && cd a/b && : > ../../under && rm ../../under) || bad
own=$(mktemp -d) && git init -q "$own" && [ -e "$own/.git/HEAD" ] && rm -r "$own" || bad
mkdir none/x 2>/dev/null && bad
: > missing/x 2>/dev/null && bad
python3 - <<'P' || bad
import concurrent.futures as f, os, pathlib
def make(i):
    p = pathlib.Path(f"many/{i % 7}"); p.mkdir(parents=True, exist_ok=True)
    (p / f"f{i}").write_text(str(i)); os.rename(p / f"f{i}", p / f"g{i}")
    return int((p / f"g{i}").read_text())
with f.ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(make, range(400))) == sum(range(400))
P
ok
