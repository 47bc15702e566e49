# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
echo y >> tracked.txt; git -c user.name=t -c user.email=t@t commit -qam two && [ "$(git log --format=%s -1)" = two ] && git branch b1 && git checkout -q -b b2 && ok
bad
