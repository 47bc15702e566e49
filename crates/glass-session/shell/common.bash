# What the warm and the once driver for bash share. Evaluated once, at the top
# level, where $1 is the session's directory and $5 the text of the loop.
#
# Everything that is kept is in arrays, because those are never exported,
# whatever the user's options say. `builtin` goes before every builtin that a
# user's function may hide; only `exec` would lose its redirections that way.

declare -a __sg_dir=("$1") __sg_loop=("$5") __sg_last=(0) __sg_phase=(idle) __sg_status=(0)
declare -a __sg_result=(0) __sg_code=('') __sg_slot=(0) __sg_how=(plain) __sg_traps=('')
declare -a __sg_debug=('') __sg_trace=('') __sg_marked=(0) __sg_trap=('') __sg_head=('')
declare -a __sg_nonce=('') __sg_call=('') __sg_after=('') __sg_at=(0) __sg_ended=(0)
declare -a __sg_exports=('')

# What variables had before a command that has its own.
declare -A __sg=()

# A request that is neither short nor longer: its kind, number, nonce, slot,
# tool call id, directory, the code before and after the command, and the command.
declare -a __sg_request=()

# Writes what outlives this shell to the file $1.
__sg_state() {
  { builtin printf '%s\0' "${PWD-}"; builtin command /usr/bin/env -0; } >|"$1" 8<&- 9>&-
}

# Reads the head of a request, which is 128 bytes. There is none where the other
# side has gone; a time limit of the user's for reading is not for us.
#
# A short request is nothing but its head: its number, its slot, its nonce, the length
# of the tool call id, and where the command begins, in 10, 1, 10, 3 and 3 places, and
# then the tool call id and, up to the end, the command.
# The head of a longer request begins with a number of 0 and an l. Its number, the
# length of all that follows, and where in that its command begins are in 10, 5 and 3
# places. A slot of 1 byte, a nonce of 10 and the tool call id are before the command.
# Nothing separates the parts, because bash takes a socket in blocks only where it
# knows their length.
# The head of any other request is a number of 0 and blank.
__sg_read_head() {
  while :; do
    builtin read -r -N 128 -u 8 __sg_head && builtin return 0
    (( $? > 128 )) || builtin exit 0
  done
}

# Reads the rest of any other request.
__sg_read_fields() {
  builtin mapfile -t -d '' -n 9 -u 8 __sg_request
  (( ${#__sg_request[@]} == 9 )) || builtin exit 0
}

# Makes the shell ready for the command of the request. Returns 1, having said
# so, where its directory cannot be entered.
__sg_enter() {
  if [[ ${__sg_request[5]} ]] && ! builtin cd -- "${__sg_request[5]}"; then
    builtin printf 'n%s\0%s\0' "${__sg_request[1]}" "${__sg_request[2]}" >&9
    builtin return 1
  fi
  builtin printf 's%s\0' "${__sg_request[1]}" >&9
  [[ ${__sg_request[0]} == [fg] ]] && __sg_read_file
  __sg_code=${__sg_request[8]} __sg_slot=${__sg_request[3]}
  if [[ ${__sg_request[4]} ]]; then
    builtin export SHELLGLASS_TOOL_CALL_ID="${__sg_request[4]}"
  elif [[ ${SHELLGLASS_TOOL_CALL_ID+set} ]]; then
    builtin unset -v SHELLGLASS_TOOL_CALL_ID
  fi
  [[ ${__sg_request[6]} ]] && builtin eval "${__sg_request[6]}"
  builtin return 0
}

# Reads a command that was too long for the request. By lines, because only
# then does bash read a file in blocks.
__sg_read_file() {
  builtin local -a __sg_lines
  builtin mapfile __sg_lines <"$__sg_dir/c${__sg_request[1]}"
  builtin printf -v '__sg_request[8]' %s "${__sg_lines[@]}"
}
