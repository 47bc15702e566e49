# What every probe of this folder begins with; the runner puts it in front.
set -u
: "${WORKSPACE:?}" "${OUTSIDE:?}" "${CANARY:?}"
exec 3>&1 1>&2 </dev/null
say() { echo "$1" >&3; exit 0; }
esc() { say ESCAPED; }
blk() { say BLOCKED; }
ok() { say WORKS; }
bad() { say BROKEN; }
need() { local v; for v in "$@"; do [ -n "${!v:-}" ] || say "SKIP no $v"; done; }
tool() { local t; for t in "$@"; do command -v "$t" >/dev/null 2>&1 || say "SKIP no $t"; done; }
cd "$WORKSPACE" || say "SKIP no workspace"
