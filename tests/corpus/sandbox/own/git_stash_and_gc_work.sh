# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
echo y >> tracked.txt; export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t; git stash -q && git stash pop -q && git gc -q && git fsck --no-progress && ok
bad
