# policy: {"type":"WORKSPACE_READWRITE","block_git_writes":true}
# expect: BLOCKED
# class: git
tool git
[ -e .git ] || say "SKIP workspace is not a repository"
b=$(git rev-parse HEAD); GIT_DIR="$PWD/.git" GIT_INDEX_FILE="$PWD/idx_$$" git update-ref refs/heads/evil HEAD; git show-ref -q refs/heads/evil && esc
blk
