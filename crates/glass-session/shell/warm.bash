# The warm driver for bash: what it does between commands.
#
# Between commands standard output and standard error are /dev/null, so that
# traces and traps of the user's that meet our code are not seen. `__sg_next`
# is the condition of a loop, where neither `set -e` nor an ERR trap reaches
# it.

# Gives back the status of the command before, as its successor's first `$?`.
__sg_keep() { builtin return "$__sg_status"; }

# Runs when the shell ends by itself, unless a command set its own EXIT trap.
__sg_exit() { __sg_state "$__sg_dir/exit"; }

# Ends one command and waits for the next. bash copies a function whenever it
# is called, so this has only what every command needs; the rest is elsewhere.
#
# A request of the plainest kind begins with 19 bytes: a p, its number, the length
# of all that follows, and where in that its command begins, in 10, 5 and 3 places.
# A slot of 1 byte, a nonce of 10 and the tool call id are before the command. Nothing
# separates the parts, because bash takes a socket in blocks only where it knows
# their length.
__sg_next() {
  __sg_status=$?
  if [[ $__sg_phase$__sg_traps$__sg_after == run ]]; then
    builtin printf 'd%d\0%s\0%s\0%s\0' \
      "$__sg_last" "$__sg_nonce" "$__sg_status" "${PWD-}" >&9
  elif [[ $__sg_phase != idle ]]; then
    __sg_settle && builtin return 0
  fi
  while :; do
    builtin read -r -N 19 -u 8 __sg_head || __sg_read_head
    if [[ $__sg_head == p* ]]; then
      builtin read -r -N "${__sg_head:11:5}" -u 8 __sg_code
      (( ${__sg_head:1:10} > __sg_last )) || builtin continue
      __sg_last=${__sg_head:1:10} __sg_at=${__sg_head:16:3}
      builtin printf 's%d\0' "$__sg_last" >&9
      __sg_phase=run __sg_how=plain __sg_after=
      (( __sg_status )) && __sg_how=keep
      if (( __sg_at > 11 )); then
        builtin export SHELLGLASS_TOOL_CALL_ID="${__sg_code:11:__sg_at - 11}"
      elif [[ ${SHELLGLASS_TOOL_CALL_ID+set} ]]; then
        builtin unset -v SHELLGLASS_TOOL_CALL_ID
      fi
      __sg_slot=${__sg_code:0:1} __sg_nonce=${__sg_code:1:10} __sg_code=${__sg_code:__sg_at}
      builtin return 0
    fi
    __sg_prepare && builtin return 0
  done
}

# Reports the command that has just ended, or goes on with its EXIT trap.
# Returns 0 where there is more to execute.
__sg_settle() {
  [[ $__sg_how == based ]] && __sg_leave_base
  [[ $__sg_how == debug ]] && __sg_leave_debug
  if [[ $__sg_phase == run ]]; then
    __sg_result=$__sg_status
    if [[ $__sg_traps ]] && __sg_take_trap; then
      __sg_phase=trap
      __sg_choose
      builtin return 0
    fi
  else
    builtin eval "$__sg_trap"
  fi
  __sg_status=$__sg_result __sg_phase=idle
  [[ $__sg_after ]] && builtin eval "$__sg_after"
  builtin printf 'd%d\0%s\0%s\0%s\0' "$__sg_last" "$__sg_nonce" "$__sg_result" "${PWD-}" >&9
  builtin return 1
}

# Takes over an EXIT trap that a command has set, which `trap -p` has quoted,
# and puts ours back. Returns 0 where there is one to execute.
__sg_take_trap() {
  builtin local -a __sg_lines
  builtin local __sg_text
  builtin trap -p EXIT >|"$__sg_dir/trap"
  builtin mapfile __sg_lines <"$__sg_dir/trap"
  builtin printf -v __sg_text %s "${__sg_lines[@]}"
  [[ $__sg_text == "$__sg_trap" ]] && builtin return 1
  builtin eval "$__sg_trap"
  [[ $__sg_text ]] || builtin return 1
  __sg_text=${__sg_text#trap -- }
  builtin eval "__sg_code=${__sg_text%EXIT*}"
}

# Makes a request that is not of the plainest kind ready to be executed by the
# loop. Returns 1 where there is nothing to execute: a request that was executed
# before is one that was sent again after a crash.
__sg_prepare() {
  __sg_read_fields
  if [[ ${__sg_request[0]} == s ]]; then
    __sg_state "$__sg_dir/s${__sg_request[1]}"
    builtin printf 't%s\0' "${__sg_request[1]}" >&9
    builtin return 1
  fi
  (( __sg_request[1] > __sg_last )) || builtin return 1
  __sg_last=${__sg_request[1]} __sg_nonce=${__sg_request[2]} __sg_after=${__sg_request[7]}
  __sg_enter || builtin return 1
  __sg_phase=run
  __sg_choose
  [[ ${__sg_request[0]} == [tg] ]] && __sg_enter_base
  builtin return 0
}

# Chooses how the loop evaluates: `plain`, or `keep` to begin with a `$?`
# that is not 0.
__sg_choose() {
  __sg_how=plain
  (( __sg_status )) && __sg_how=keep
  builtin return 0
}

# For a command that may set an EXIT trap, makes the shell's own output that of
# the command, which is where the trap writes when the command ends the shell:
# bash undoes the redirections of `eval` before. Around it the trace is off, so
# that it does not speak of our code. A DEBUG trap cannot be kept quiet like
# that, so then it is not done; the loop looks afterwards whether there still is
# one, because a function cannot see it.
__sg_enter_base() {
  __sg_traps=1
  if [[ $__sg_debug || $__sg_code == *DEBUG* ]]; then
    __sg_how=debug
    builtin return
  fi
  builtin declare -F exec && builtin return
  __sg_how=based __sg_trace=
  [[ $- == *x* ]] && __sg_trace=1
  builtin set +x
  exec >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e"
}

# Keeps the status of a command that may have set a DEBUG trap.
__sg_mark() { __sg_marked=$?; }

__sg_leave_debug() {
  __sg_status=$__sg_marked __sg_debug=
  if [[ -s $__sg_dir/debug ]]; then __sg_debug=1; fi
}

__sg_trace_on() { if [[ $__sg_trace ]]; then builtin set -x; fi; }

__sg_trace_off() {
  __sg_status=$? __sg_trace=
  [[ $- == *x* ]] && __sg_trace=1
  builtin set +x
  __sg_keep
}

__sg_leave_base() {
  exec >/dev/null 2>&1
  __sg_trace_on
}

# Says that the start files are behind us.
__sg_ready() {
  exec </dev/null >/dev/null 2>&1
  builtin trap '{ __sg_exit; } >/dev/null 2>&1' EXIT
  builtin trap -p EXIT >|"$__sg_dir/trap"
  builtin mapfile -d '' __sg_request <"$__sg_dir/trap"
  __sg_trap=${__sg_request[0]}
  builtin printf 'r\0' >&9
}
