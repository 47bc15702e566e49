# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
mkdir -p eh_$$; mv .git/hooks .git/h_$$; ln -s "$PWD/eh_$$" .git/hooks; [ -L .git/hooks ] && esc
blk
