# The warm driver for zsh: what it does between commands.
#
# Between commands standard output and standard error are /dev/null, so that
# traps of the user's that meet our code are not seen.

# Gives back the status of the command before, as its successor's first `$?`.
__sg_keep() { builtin return "${__sg[status]}" }

# Keeps the status of a command that may have set a trap.
__sg_mark() { __sg[status]=$? }

# Runs when the shell ends by itself.
__sg_exit() { { __sg_state "${__sg[dir]}/exit" } >/dev/null 2>&1 }

# Ends one command and waits for the next. A request that was executed before
# is one that was sent again after a crash.
__sg_next() {
  local __sg_status=$?
  [[ ${__sg[how]} == traps ]] || __sg[status]=$__sg_status
  [[ ${__sg[phase]} != idle ]] && __sg_settle && return 0
  while builtin :; do
    __sg_read || builtin exit 0
    (( __sg[seq] > __sg[last] )) && __sg_prepare && return 0
  done
}

# Reports the command that has just ended, or goes on with its EXIT trap.
# Returns 0 where there is more to execute.
__sg_settle() {
  if [[ ${__sg[phase]} == run ]]; then
    __sg[result]=${__sg[status]}
    if [[ ${__sg[how]} == traps ]] && __sg_take_trap; then
      __sg[phase]=trap
      __sg_choose
      return 0
    fi
  fi
  __sg[status]=${__sg[result]} __sg[phase]=idle
  [[ -n ${__sg[after]} ]] && builtin eval "${__sg[after]}"
  builtin printf 'd%s\0%s\0%s\0%s\0' \
    "${__sg[seq]}" "${__sg[nonce]}" "${__sg[result]}" "${PWD-}" >&9
  return 1
}

# Takes over an EXIT trap that a command has set. Returns 0 where there is one.
__sg_take_trap() {
  local -a __sg_words
  __sg_words=("${(@z)$(<"${__sg[dir]}/trap")}")
  if [[ ${__sg_words[4]} == EXIT ]]; then
    __sg[code]=${(Q)__sg_words[3]}
  elif (( ${+functions[TRAPEXIT]} )); then
    __sg[code]=${functions[TRAPEXIT]}
    builtin unfunction TRAPEXIT
  else
    return 1
  fi
}

# Makes a request ready to be executed by the loop. Returns 1 where there is
# nothing to execute.
__sg_prepare() {
  __sg[last]=${__sg[seq]}
  if [[ ${__sg[kind]} == s ]]; then
    __sg_state "${__sg[dir]}/s${__sg[last]}"
    builtin printf 't%s\0' "${__sg[last]}" >&9
    return 1
  fi
  __sg_enter || return 1
  __sg[phase]=run
  [[ ${__sg[kind]} == [tg] ]] && __sg[traps]=1
  __sg_choose
  [[ -n ${__sg[traps]} && ${__sg[how]} == plain || ${__sg[kind]} == [tg] ]] && __sg[how]=traps
  return 0
}

# Chooses how the loop evaluates: `plain`, or `keep` to begin with a `$?` that
# is not 0.
__sg_choose() {
  __sg[how]=plain
  (( __sg[status] )) && __sg[how]=keep
  return 0
}

# Says that the start files are behind us.
__sg_ready() {
  exec </dev/null >/dev/null 2>&1
  zshexit_functions+=(__sg_exit)
  builtin printf 'r\0' >&9
}
