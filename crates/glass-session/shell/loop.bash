# The loop of the warm driver for bash, whose lines are joined into one: then
# the user's commands begin at line 1. A `continue` outside of a loop comes to
# a condition of ours, a `break` to the loop around it, and after more than that
# it all begins again.
#
# The loop inside `fast` is for short requests that come one after the other. Its
# condition, where neither `set -e` nor an ERR trap reaches it, does what `__sg_next`
# does for others: it reports the command before and takes the next. A short request
# is taken here and not in a function, because bash copies a function whenever it is
# called. What is neither short nor longer ends this loop, with nothing left to report,
# and `__sg_next` goes on with the head. A DEBUG trap would see each of these statements,
# so a shell that is known to have one does not come here.
while :; do while __sg_next; do
case $__sg_how in
fast) builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;
while __sg_status=$? __sg_phase=idle;
builtin printf 'd%d\0%s\0%s\0%s\0' "$__sg_last" "$__sg_nonce" "$__sg_status" "${PWD-}" >&9;
builtin read -r -N 128 -u 8 __sg_head &&
if (( ${__sg_head:0:10} > __sg_last )); then
__sg_last=${__sg_head:0:10} __sg_slot=${__sg_head:10:1} __sg_nonce=${__sg_head:11:10}
__sg_code=${__sg_head:${__sg_head:24:3}} __sg_phase=run;
builtin export SHELLGLASS_TOOL_CALL_ID="${__sg_head:27:${__sg_head:21:3}}";
builtin printf 's%d\0' "$__sg_last" >&9;
else [[ ${__sg_head:10:1} == l ]] && __sg_take_long; fi; do
case $__sg_status in
0) builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;;
*) __sg_keep || builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;;
esac; done;;
plain) builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;;
keep) __sg_keep || builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;;
based) { __sg_trace_on; builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;
__sg_trace_off; } >/dev/null 2>&1;;
debug) builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;
__sg_mark; builtin trap -p DEBUG >|"$__sg_dir/debug";;
esac; done; done; builtin eval "$__sg_loop"
