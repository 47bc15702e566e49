# The once driver for bash. The shell's own output is the command's, its exit is
# the command's, and our descriptors are gone before the command begins.

# Reads the request, of whatever kind.
__sg_read() {
  __sg_read_head
  case ${__sg_head:10:1} in
    ' ')
      __sg_read_fields
      builtin return
      ;;
    l)
      builtin read -r -N "${__sg_head:21:5}" -u 8 __sg_code
      __sg_last=${__sg_head:11:10} __sg_at=${__sg_head:26:3}
      __sg_call=${__sg_code:11:__sg_at - 11} __sg_code=${__sg_code:__sg_at}
      ;;
    *)
      __sg_last=${__sg_head:0:10} __sg_call=${__sg_head:27:${__sg_head:21:3}}
      __sg_code=${__sg_head:${__sg_head:24:3}}
      ;;
  esac
  __sg_request=(r "$(( __sg_last ))" 0 0 "$__sg_call" '' '' '' "$__sg_code")
}

# Reads the request and gets out of the way.
__sg_take() {
  __sg_read
  __sg_enter || builtin exit 125
  __sg_last=${__sg_request[1]}
  builtin trap '{ __sg_leave; } >/dev/null 2>&1' EXIT
  exec </dev/null 8<&- 9>&-
}

__sg_leave() { __sg_state "$__sg_dir/s$__sg_last"; }

# Leaves the state after a command that may have set an EXIT trap of its own.
__sg_end() {
  __sg_status=$?
  [[ ${__sg_request[0]} == [tg] ]] && __sg_leave
  builtin return "$__sg_status"
}
