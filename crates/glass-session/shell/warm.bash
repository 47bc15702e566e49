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

# Ends one command and waits for the next. Where there is none to end, the loop has
# reported it, and may have read the head of the next. A request whose number is not
# new was executed before, and sent again after a crash.
__sg_next() {
  __sg_ended=$?
  if [[ $__sg_phase != idle ]]; then
    __sg_status=$__sg_ended __sg_head=
    __sg_settle && builtin return 0
  fi
  while (( ${#__sg_head} == 128 )) || builtin read -r -N 128 -u 8 __sg_head || __sg_read_head; do
    case ${__sg_head:10:1} in
      ' ') __sg_prepare && builtin return 0 ;;
      l) __sg_take_long && builtin return 0 ;;
      *)
        if (( ${__sg_head:0:10} > __sg_last )); then
          __sg_last=${__sg_head:0:10} __sg_slot=${__sg_head:10:1} __sg_nonce=${__sg_head:11:10}
          __sg_code=${__sg_head:${__sg_head:24:3}} __sg_phase=run __sg_after=
          builtin export SHELLGLASS_TOOL_CALL_ID="${__sg_head:27:${__sg_head:21:3}}"
          builtin printf 's%d\0' "$__sg_last" >&9
          __sg_choose
          builtin return 0
        fi
        ;;
    esac
    __sg_head=
  done
}

# Takes a longer request. Returns 1 where it was executed before.
__sg_take_long() {
  builtin read -r -N "${__sg_head:21:5}" -u 8 __sg_code
  if (( ${__sg_head:11:10} <= __sg_last )); then
    __sg_head=
    builtin return 1
  fi
  __sg_last=${__sg_head:11:10} __sg_slot=${__sg_code:0:1} __sg_nonce=${__sg_code:1:10}
  __sg_at=${__sg_head:26:3} __sg_call=${__sg_code:11:__sg_at - 11} __sg_code=${__sg_code:__sg_at}
  __sg_phase=run __sg_after=
  builtin printf 's%d\0' "$__sg_last" >&9
  if [[ $__sg_call ]]; then
    builtin export SHELLGLASS_TOOL_CALL_ID="$__sg_call"
  elif [[ ${SHELLGLASS_TOOL_CALL_ID+set} ]]; then
    builtin unset -v SHELLGLASS_TOOL_CALL_ID
  fi
  __sg_choose
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

# Says whether this shell exports what it did when this was asked last, where $1 is
# `changed`: whoever asks knows that. Without a child: to make one costs more than
# most commands, and after it bash has to be given each of its pages anew. The tool
# call id is of the command, not of the shell. Nothing stays in the file: there may be
# secrets in it.
__sg_is_known() {
  builtin local -x SHELLGLASS_TOOL_CALL_ID=
  builtin local -a __sg_text
  __sg_text=$__sg_exports __sg_exports=
  { builtin declare -px && builtin declare -fx; } >|"$__sg_dir/exports" 8<&- 9>&- || builtin return 1
  builtin mapfile -d '' __sg_exports <"$__sg_dir/exports"
  builtin : >|"$__sg_dir/exports"
  [[ $1 == changed && $__sg_exports && $__sg_exports == "$__sg_text" ]]
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

# Makes a request that is neither short nor longer ready to be executed by the
# loop. Returns 1 where there is nothing to execute: a request that was executed
# before is one that was sent again after a crash.
__sg_prepare() {
  __sg_read_fields
  if [[ ${__sg_request[0]} == s ]]; then
    __sg_is_known "${__sg_request[8]}" || __sg_state "$__sg_dir/s${__sg_request[1]}"
    builtin printf 't%s\0' "${__sg_request[1]}" >&9
    builtin return 1
  fi
  (( __sg_request[1] > __sg_last )) || builtin return 1
  __sg_last=${__sg_request[1]} __sg_nonce=${__sg_request[2]} __sg_after=${__sg_request[7]}
  __sg_enter || builtin return 1
  __sg_phase=run
  if [[ ${__sg_request[0]} == [tg] ]]; then __sg_enter_base; else __sg_choose; fi
  builtin return 0
}

# Chooses how the loop evaluates: `keep` to begin with a `$?` that is not 0, `fast`
# where the loop can report the command and take the next by itself, or `plain`.
__sg_choose() {
  case $__sg_status$__sg_traps$__sg_debug$__sg_after in
    0) __sg_how=fast ;;
    0*) __sg_how=plain ;;
    *) __sg_how=keep ;;
  esac
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
  __sg_choose
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

# Says that the start files are behind us, which may have left a DEBUG trap.
__sg_ready() {
  exec </dev/null >/dev/null 2>&1
  builtin trap '{ __sg_exit; } >/dev/null 2>&1' EXIT
  builtin trap -p EXIT >|"$__sg_dir/trap"
  builtin mapfile -d '' __sg_request <"$__sg_dir/trap"
  __sg_trap=${__sg_request[0]}
  if [[ -s $__sg_dir/debug ]]; then __sg_debug=1; fi
  builtin printf 'r\0' >&9
}
