# What the warm and the once driver for zsh share. Evaluated once, at the top
# level, where $1 is the session's directory and $5 the text of the loop.
#
# Everything that is kept is in an array, because those are never exported,
# whatever the user's options say. It is evaluated by `emulate zsh +x -c`, so
# that its functions never have the user's options, tracing among them.

typeset -gA __sg
__sg=(dir "$1" loop "$5" last 0 phase idle status 0 result 0 code '' slot 0 how plain traps '')

# Writes what outlives this shell to the file $1.
__sg_state() {
  { builtin printf '%s\0' "${PWD-}"; command /usr/bin/env -0 } >|"$1" 8<&- 9>&-
}

# Reads one request: a header, then the fields that it announces, each ended by
# a NUL. Few fields, because each costs.
__sg_read() {
  local __sg_kind __sg_seq __sg_nonce __sg_slot __sg_extras __sg_call __sg_cwd __sg_before __sg_after __sg_code
  IFS=' ' builtin read -r -d '' -u 8 __sg_kind __sg_seq __sg_nonce __sg_slot __sg_extras __sg_call || return 1
  if [[ $__sg_extras != - ]]; then
    if [[ $__sg_extras == *i* ]]; then IFS= builtin read -r -d '' -u 8 __sg_call || return 1; fi
    if [[ $__sg_extras == *d* ]]; then IFS= builtin read -r -d '' -u 8 __sg_cwd || return 1; fi
    if [[ $__sg_extras == *v* ]]; then
      IFS= builtin read -r -d '' -u 8 __sg_before && IFS= builtin read -r -d '' -u 8 __sg_after || return 1
    fi
  fi
  IFS= builtin read -r -d '' -u 8 __sg_code || return 1
  __sg+=(kind "$__sg_kind" seq "$__sg_seq" nonce "$__sg_nonce" slot "$__sg_slot" call "$__sg_call" cwd "$__sg_cwd")
  __sg+=(before "$__sg_before" after "$__sg_after" code "$__sg_code")
}

# Makes the shell ready for the command of the request. Returns 1, having said
# so, where its directory cannot be entered.
__sg_enter() {
  if [[ -n ${__sg[cwd]} ]] && ! builtin cd -q -- "${__sg[cwd]}"; then
    builtin printf 'n%s\0%s\0' "${__sg[seq]}" "${__sg[nonce]}" >&9
    return 1
  fi
  builtin printf 's%s\0' "${__sg[seq]}" >&9
  [[ ${__sg[kind]} == [fg] ]] && __sg[code]="$(<"${__sg[dir]}/c${__sg[seq]}")"$'\n'
  if [[ -n ${__sg[call]} ]]; then
    builtin export SHELLGLASS_TOOL_CALL_ID="${__sg[call]}"
  elif (( ${+SHELLGLASS_TOOL_CALL_ID} )); then
    builtin unset SHELLGLASS_TOOL_CALL_ID
  fi
  [[ -n ${__sg[before]} ]] && builtin eval "${__sg[before]}"
  return 0
}
