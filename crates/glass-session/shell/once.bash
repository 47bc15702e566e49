# The once driver for bash. The shell's own output is the command's, its exit is
# the command's, and our descriptors are gone before the command begins.

# Reads the request and gets out of the way.
__sg_take() {
  __sg_read
  __sg_enter || builtin exit 125
  __sg[last]=${__sg_request[1]}
  builtin trap '{ __sg_leave; } >/dev/null 2>&1' EXIT
  exec </dev/null 8<&- 9>&-
}

__sg_leave() { __sg_state "${__sg[dir]}/s${__sg[last]}"; }

# Leaves the state after a command that may have set an EXIT trap of its own.
__sg_end() {
  __sg[status]=$?
  [[ ${__sg_request[0]} == [tg] ]] && __sg_leave
  builtin return "${__sg[status]}"
}
