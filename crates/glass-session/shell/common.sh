# What the warm and the once driver for POSIX shells share. Evaluated once, at
# the top level, where $1 is the session's directory and $5 the text of the
# loop. `command` goes before every builtin that a user's function may hide;
# the special ones cannot be hidden.

__sg_dir=$1 __sg_loop=$5 __sg_last=0 __sg_phase=idle __sg_status=0 __sg_result=0
__sg_code= __sg_slot=0 __sg_how=plain __sg_traps= __sg_trace= __sg_nonce= __sg_after=
__sg_newline='
'

# Writes what outlives this shell to the file $1.
__sg_state() {
  { command printf '%s\0' "${PWD-}"; command /usr/bin/env -0; } >|"$1" 8<&- 9>&-
}

# Reads a request, a call of `__sg_take`, which comes as a number of lines and
# then the lines. A POSIX shell cannot read a NUL.
__sg_read() {
  __sg_text=
  IFS= command read -r __sg_count || return 1
  while :; do
    case $__sg_count in 0) return 0 ;; esac
    IFS= command read -r __sg_line || return 1
    __sg_text=$__sg_text$__sg_line$__sg_newline
    __sg_count=$((__sg_count - 1))
  done
} <&8

# Makes the shell ready for the command of a request: its kind, number, nonce,
# slot, tool call id, directory, the code before and after the command, and the
# command. Returns 1, having said so, where the directory cannot be entered.
__sg_enter() {
  case $6 in
    ?*)
      if ! command cd -- "$6"; then
        command printf 'n%s\0%s\0' "$2" "$3" >&9
        return 1
      fi
      ;;
  esac
  command printf 's%s\0' "$2" >&9
  __sg_slot=$4 __sg_after=$8 __sg_code=$9
  case $1 in [fg]) __sg_code='. "$__sg_dir/c$__sg_last"' ;; esac
  case $5 in
    ?*) export SHELLGLASS_TOOL_CALL_ID="$5" ;;
    *) case ${SHELLGLASS_TOOL_CALL_ID+set} in ?*) unset SHELLGLASS_TOOL_CALL_ID ;; esac ;;
  esac
  case $7 in ?*) eval "$7" ;; esac
  return 0
}
