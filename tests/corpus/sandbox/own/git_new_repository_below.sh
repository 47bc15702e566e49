# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
mkdir sub && mkdir hooks || say "SKIP no directory"
there() { [ -e sub/.git ] && esc; [ -L sub/.git ] && esc; }
mkdir sub/.git; there
mkdir -p sub/.git/hooks; there
mv hooks sub/.git; there
echo "gitdir: ../hooks" > sub/.git; there
ln -s ../hooks sub/.git; there
(cd sub && mkdir .git/); there
git init -q sub; there
git clone -q . sub/clone; [ -e sub/clone/.git ] && esc
git init -q --bare sub/bare; [ -e sub/bare/HEAD ] && esc
git worktree add -q sub/tree; [ -e sub/tree/.git ] && esc
blk
