# The warm driver for bash: what it does between commands.
#
# Between commands standard output and standard error are /dev/null, so that
# traces and traps of the user's that meet our code are not seen. `__sg_next`
# is the condition of a loop, where neither `set -e` nor an ERR trap reaches
# it.

# Gives back the status of the command before, as its successor's first `$?`.
__sg_keep() { builtin return "${__sg[status]}"; }

# Runs when the shell ends by itself, unless a command set its own EXIT trap.
__sg_exit() { __sg_state "${__sg[dir]}/exit"; }

# Ends one command and waits for the next. bash copies a function whenever it
# is called, so this has only what every command needs; the rest is elsewhere.
__sg_next() {
  __sg[status]=$?
  if [[ ${__sg[phase]} != idle ]]; then
    if [[ ${__sg[phase]}${__sg[traps]}${__sg_request[7]} != run ]]; then
      __sg_settle && builtin return 0
    else
      builtin printf 'd%s\0%s\0%s\0%s\0' \
        "${__sg_request[1]}" "${__sg_request[2]}" "${__sg[status]}" "${PWD-}" >&9
    fi
  fi
  while builtin mapfile -t -d '' -n 9 -u 8 __sg_request; do
    if [[ ${__sg_request[0]-}${__sg_request[5]-}${__sg_request[6]-} == r ]] &&
      (( __sg_request[1] > __sg[last] )); then
      builtin printf 's%s\0' "${__sg_request[1]}" >&9
      __sg[last]=${__sg_request[1]} __sg[phase]=run __sg[how]=plain
      __sg[code]=${__sg_request[8]} __sg[slot]=${__sg_request[3]}
      (( __sg[status] )) && __sg[how]=keep
      if [[ ${__sg_request[4]} ]]; then
        builtin export SHELLGLASS_TOOL_CALL_ID="${__sg_request[4]}"
      else
        builtin unset -v SHELLGLASS_TOOL_CALL_ID
      fi
      builtin return 0
    fi
    __sg_prepare && builtin return 0
  done
}

# Reports the command that has just ended, or goes on with its EXIT trap.
# Returns 0 where there is more to execute.
__sg_settle() {
  [[ ${__sg[how]} == based ]] && __sg_leave_base
  [[ ${__sg[how]} == debug ]] && __sg_leave_debug
  if [[ ${__sg[phase]} == run ]]; then
    __sg[result]=${__sg[status]}
    if [[ ${__sg[traps]} ]] && __sg_take_trap; then
      __sg[phase]=trap
      __sg_choose
      builtin return 0
    fi
  else
    builtin eval "${__sg[trap]}"
  fi
  __sg[status]=${__sg[result]} __sg[phase]=idle
  [[ ${__sg_request[7]} ]] && builtin eval "${__sg_request[7]}"
  builtin printf 'd%s\0%s\0%s\0%s\0' \
    "${__sg_request[1]}" "${__sg_request[2]}" "${__sg[result]}" "${PWD-}" >&9
  builtin return 1
}

# Takes over an EXIT trap that a command has set, which `trap -p` has quoted,
# and puts ours back. Returns 0 where there is one to execute.
__sg_take_trap() {
  builtin local -a __sg_lines
  builtin local __sg_text
  builtin trap -p EXIT >|"${__sg[dir]}/trap"
  builtin mapfile __sg_lines <"${__sg[dir]}/trap"
  builtin printf -v __sg_text %s "${__sg_lines[@]}"
  [[ $__sg_text == "${__sg[trap]}" ]] && builtin return 1
  builtin eval "${__sg[trap]}"
  [[ $__sg_text ]] || builtin return 1
  __sg_text=${__sg_text#trap -- }
  builtin eval "__sg[code]=${__sg_text%EXIT*}"
}

# Makes a request that is not of the plainest kind ready to be executed by the
# loop. Returns 1 where there is nothing to execute: a request that was executed
# before is one that was sent again after a crash. No request at all means that
# the other side is gone.
__sg_prepare() {
  (( ${#__sg_request[@]} == 9 )) || builtin exit 0
  if [[ ${__sg_request[0]} == s ]]; then
    __sg_state "${__sg[dir]}/s${__sg_request[1]}"
    builtin printf 't%s\0' "${__sg_request[1]}" >&9
    builtin return 1
  fi
  (( __sg_request[1] > __sg[last] )) || builtin return 1
  __sg[last]=${__sg_request[1]}
  __sg_enter || builtin return 1
  __sg[phase]=run
  __sg_choose
  [[ ${__sg_request[0]} == [tg] ]] && __sg_enter_base
  builtin return 0
}

# Chooses how the loop evaluates: `plain`, or `keep` to begin with a `$?`
# that is not 0.
__sg_choose() {
  __sg[how]=plain
  (( __sg[status] )) && __sg[how]=keep
  builtin return 0
}

# For a command that may set an EXIT trap, makes the shell's own output that of
# the command, which is where the trap writes when the command ends the shell:
# bash undoes the redirections of `eval` before. Around it the trace is off, so
# that it does not speak of our code. A DEBUG trap cannot be kept quiet like
# that, so then it is not done; the loop looks afterwards whether there still is
# one, because a function cannot see it.
__sg_enter_base() {
  __sg[traps]=1
  if [[ ${__sg[debug]} || ${__sg[code]} == *DEBUG* ]]; then
    __sg[how]=debug
    builtin return
  fi
  builtin declare -F exec && builtin return
  __sg[how]=based __sg[trace]=
  [[ $- == *x* ]] && __sg[trace]=1
  builtin set +x
  exec >|"${__sg[dir]}/${__sg[slot]}o" 2>|"${__sg[dir]}/${__sg[slot]}e"
}

# Keeps the status of a command that may have set a DEBUG trap.
__sg_mark() { __sg[marked]=$?; }

__sg_leave_debug() {
  __sg[status]=${__sg[marked]} __sg[debug]=
  if [[ -s ${__sg[dir]}/debug ]]; then __sg[debug]=1; fi
}

__sg_trace_on() { if [[ ${__sg[trace]} ]]; then builtin set -x; fi; }

__sg_trace_off() {
  __sg[status]=$? __sg[trace]=
  [[ $- == *x* ]] && __sg[trace]=1
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
  builtin trap -p EXIT >|"${__sg[dir]}/trap"
  builtin mapfile -d '' __sg_request <"${__sg[dir]}/trap"
  __sg[trap]=${__sg_request[0]}
  builtin printf 'r\0' >&9
}
