# The once driver for POSIX shells. The shell's own output is the command's, its
# exit is the command's, and our descriptors are gone before the command begins.

# Executes the request's preparation and gets out of the way.
__sg_take() {
  __sg_enter "$@" || exit 125
  __sg_last=$2 __sg_how=$1
  trap '{ __sg_leave; } >/dev/null 2>&1' EXIT
  exec </dev/null 8<&- 9>&-
}

__sg_leave() { __sg_state "$__sg_dir/s$__sg_last"; }

# Leaves the state after a command that may have set an EXIT trap of its own.
__sg_end() {
  __sg_status=$?
  case $__sg_how in [tg]) __sg_leave ;; esac
  return "$__sg_status"
}
