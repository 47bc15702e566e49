# The warm driver for zsh: what it does between commands.
#
# Between commands standard output and standard error are /dev/null, so that
# traps of the user's that meet our code are not seen.

# Gives back the status of the command before, as its successor's first `$?`.
__sg_keep() { builtin return "$__sg_status" }

# Keeps the status of a command that may have set a trap.
__sg_mark() { __sg_status=$? }

# Runs when the shell ends by itself.
__sg_exit() { { __sg_state "$__sg_dir/exit" } >/dev/null 2>&1 }

# Ends one command and waits for the next. A request that was executed before
# is one that was sent again after a crash.
__sg_next() {
  local __sg_code_now=$?
  [[ $__sg_how == traps ]] || __sg_status=$__sg_code_now
  [[ $__sg_phase != idle ]] && __sg_settle && return 0
  while builtin :; do
    __sg_read || builtin exit 0
    if [[ $__sg_kind == s ]] || (( __sg_seq > __sg_last )); then
      __sg_prepare && return 0
    fi
  done
}

# Reports the command that has just ended, or goes on with its EXIT trap.
# Returns 0 where there is more to execute.
__sg_settle() {
  if [[ $__sg_phase == run ]]; then
    __sg_result=$__sg_status
    if [[ $__sg_how == traps ]] && __sg_take_trap; then
      __sg_phase=trap
      __sg_choose
      return 0
    fi
  fi
  __sg_status=$__sg_result __sg_phase=idle
  [[ -n $__sg_after ]] && builtin eval "$__sg_after"
  builtin printf 'd%s\0%s\0%s\0%s\0' \
    "$__sg_seq" "$__sg_nonce" "$__sg_result" "${PWD-}" >&9
  return 1
}

# Takes over an EXIT trap that a command has set. Returns 0 where there is one.
__sg_take_trap() {
  local -a __sg_words
  __sg_words=("${(@z)$(<"$__sg_dir/trap")}")
  if [[ ${__sg_words[4]} == EXIT ]]; then
    __sg_code=${(Q)__sg_words[3]}
  elif (( ${+functions[TRAPEXIT]} )); then
    __sg_code=${functions[TRAPEXIT]}
    builtin unfunction TRAPEXIT
  else
    return 1
  fi
}

# Makes a request ready to be executed by the loop. Returns 1 where there is
# nothing to execute.
__sg_prepare() {
  if [[ $__sg_kind == s ]]; then
    __sg_state "$__sg_dir/s$__sg_seq"
    builtin printf 't%s\0' "$__sg_seq" >&9
    return 1
  fi
  __sg_last=$__sg_seq
  __sg_enter || return 1
  __sg_phase=run
  [[ $__sg_kind == [tg] ]] && __sg_traps=1
  __sg_choose
  [[ -n $__sg_traps && $__sg_how == plain || $__sg_kind == [tg] ]] && __sg_how=traps
  return 0
}

# Chooses how the loop evaluates: `plain`, or `keep` to begin with a `$?` that
# is not 0.
__sg_choose() {
  __sg_how=plain
  (( __sg_status )) && __sg_how=keep
  return 0
}

# Says that the start files are behind us.
__sg_ready() {
  exec </dev/null >/dev/null 2>&1
  zshexit_functions+=(__sg_exit)
  builtin printf 'r\0' >&9
}
