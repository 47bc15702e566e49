# What the warm and the once driver for zsh share. Evaluated once, at the top
# level, where $1 is the session's directory and $5 the text of the loop.
#
# It is evaluated by `emulate zsh +x -c`, so that its functions never have the
# user's options: they are not traced, and what they assign is not exported.

__sg_dir=$1 __sg_loop=$5 __sg_last=0 __sg_phase=idle __sg_status=0 __sg_result=0
__sg_how=plain __sg_traps= __sg_kind= __sg_seq=0 __sg_nonce= __sg_slot=0 __sg_extras=
__sg_call= __sg_cwd= __sg_before= __sg_after= __sg_code=

# Writes what outlives this shell to the file $1.
__sg_state() {
  { builtin printf '%s\0' "${PWD-}"; command /usr/bin/env -0 } >|"$1" 8<&- 9>&-
}

# Reads one request: a header, then the fields that it announces, each ended by
# a NUL. Few fields, because each costs.
__sg_read() {
  IFS=' ' builtin read -r -d '' -u 8 \
    __sg_kind __sg_seq __sg_nonce __sg_slot __sg_extras __sg_call || return 1
  __sg_cwd= __sg_before= __sg_after=
  if [[ $__sg_extras != - ]]; then
    if [[ $__sg_extras == *i* ]]; then
      IFS= builtin read -r -d '' -u 8 __sg_call || return 1
    fi
    if [[ $__sg_extras == *d* ]]; then
      IFS= builtin read -r -d '' -u 8 __sg_cwd || return 1
    fi
    if [[ $__sg_extras == *v* ]]; then
      IFS= builtin read -r -d '' -u 8 __sg_before || return 1
      IFS= builtin read -r -d '' -u 8 __sg_after || return 1
    fi
  fi
  IFS= builtin read -r -d '' -u 8 __sg_code
}

# Makes the shell ready for the command of the request. Returns 1, having said
# so, where its directory cannot be entered.
__sg_enter() {
  if [[ -n $__sg_cwd ]] && ! builtin cd -q -- "$__sg_cwd"; then
    builtin printf 'n%s\0%s\0' "$__sg_seq" "$__sg_nonce" >&9
    return 1
  fi
  builtin printf 's%s\0' "$__sg_seq" >&9
  [[ $__sg_kind == [fg] ]] && __sg_code="$(<"$__sg_dir/c$__sg_seq")"$'\n'
  if [[ -n $__sg_call ]]; then
    builtin export SHELLGLASS_TOOL_CALL_ID="$__sg_call"
  elif (( ${+SHELLGLASS_TOOL_CALL_ID} )); then
    builtin unset SHELLGLASS_TOOL_CALL_ID
  fi
  [[ -n $__sg_before ]] && builtin eval "$__sg_before"
  return 0
}
