# The loop of the warm driver for zsh, whose lines are joined into one. A
# `continue` outside of a loop comes to our condition, a `break` to the loop
# around it, and after more than that it all begins again. An EXIT trap
# can only be seen outside of functions. A trace goes where standard error was
# when the outermost builtin began that has redirections, so it is switched off
# before and on again inside.
while :; do while __sg_next; do
if [[ -o xtrace ]]; then __sg_code="builtin set -x;$__sg_code"; builtin set +x; fi;
case "$__sg_how" in
(plain) builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;;
(keep) __sg_keep || builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;;
(traps) builtin eval "$__sg_code"
</dev/null >|"$__sg_dir/${__sg_slot}o" 2>|"$__sg_dir/${__sg_slot}e" 8<&- 9>&-;
__sg_mark; builtin trap >|"$__sg_dir/trap"; builtin trap - EXIT;;
esac; done; done; builtin eval "$__sg_loop"
