# The warm driver for POSIX shells: what it does between commands.
#
# Between commands standard output and standard error are /dev/null, so that
# traces and traps of the user's that meet our code are not seen. `__sg_next`
# is the condition of a loop, where `set -e` does not reach it.

# Gives back the status of the command before, as its successor's first `$?`.
__sg_keep() { return "$__sg_status"; }

# Runs when the shell ends by itself, unless a command set its own EXIT trap.
__sg_exit() { __sg_state "$__sg_dir/exit"; }

# Ends one command and waits for the next.
__sg_next() {
  __sg_status=$?
  case $__sg_phase in run | trap) __sg_settle && return 0 ;; esac
  while :; do
    __sg_read || exit 0
    eval "$__sg_text" && return 0
  done
}

# Reports the command that has just ended, or goes on with its EXIT trap.
# Returns 0 where there is more to execute.
__sg_settle() {
  case $__sg_how in based) __sg_leave_base ;; esac
  case $__sg_phase in
    run)
      __sg_result=$__sg_status
      case $__sg_traps in
        1) if __sg_take_trap; then __sg_phase=trap; __sg_choose; return 0; fi ;;
      esac
      ;;
    *) eval "$__sg_trap" ;;
  esac
  __sg_status=$__sg_result __sg_phase=idle
  case $__sg_after in ?*) eval "$__sg_after" ;; esac
  command printf 'd%s\0%s\0%s\0%s\0' "$__sg_last" "$__sg_nonce" "$__sg_result" "${PWD-}" >&9
  return 1
}

# Reads the EXIT trap, as the shell quotes it, into __sg_text. It is the first
# that a shell prints.
__sg_list_trap() {
  trap >|"$__sg_dir/trap"
  __sg_text=
  while IFS= command read -r __sg_line; do
    __sg_text=$__sg_text${__sg_text:+$__sg_newline}$__sg_line
    case $__sg_text in *" EXIT") return 0 ;; esac
  done <"$__sg_dir/trap"
  __sg_text=
}

# Takes over an EXIT trap that a command has set and puts ours back. Returns 0
# where there is one to execute.
__sg_take_trap() {
  __sg_list_trap
  case $__sg_text in "$__sg_trap") return 1 ;; esac
  eval "$__sg_trap"
  case $__sg_text in '') return 1 ;; esac
  __sg_text=${__sg_text#trap -- }
  eval "__sg_code=${__sg_text%EXIT}"
}

# Makes a request ready to be executed by the loop. Returns 1 where there is
# nothing to execute. A request that was executed before is one that was sent
# again after a crash.
__sg_take() {
  case $1 in
    s)
      __sg_state "$__sg_dir/s$2"
      command printf 't%s\0' "$2" >&9
      return 1
      ;;
  esac
  case $(($2 > __sg_last)) in 0) return 1 ;; esac
  __sg_last=$2 __sg_nonce=$3
  __sg_enter "$@" || return 1
  __sg_phase=run
  __sg_choose
  case $1 in [tg]) __sg_enter_base ;; esac
  return 0
}

# Chooses how the loop evaluates: `plain`, or `keep` to begin with a `$?` that
# is not 0.
__sg_choose() {
  __sg_how=plain
  case $__sg_status in 0) ;; *) __sg_how=keep ;; esac
}

# For a command that may set an EXIT trap, makes the shell's own output that of
# the command, which is where the trap writes when the command ends the shell:
# the redirections of `eval` are undone before. Around it the trace is off, so
# that it does not speak of our code.
__sg_enter_base() {
  __sg_traps=1 __sg_how=based __sg_trace=
  case $- in *x*) __sg_trace=1 ;; esac
  set +x
  exec >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e"
}

__sg_trace_on() { case $__sg_trace in 1) set -x ;; esac; }

__sg_trace_off() {
  __sg_status=$? __sg_trace=
  case $- in *x*) __sg_trace=1 ;; esac
  set +x
  return "$__sg_status"
}

__sg_leave_base() {
  exec >/dev/null 2>&1
  __sg_trace_on
}

# Says that the start files are behind us.
__sg_ready() {
  exec </dev/null >/dev/null 2>&1
  trap '{ __sg_exit; } >/dev/null 2>&1' EXIT
  __sg_list_trap
  __sg_trap=$__sg_text
  command printf 'r\0' >&9
}
