# The loop of the warm driver for bash, whose lines are joined into one: then
# the user's commands begin at line 1. A `continue` outside of a loop comes to
# our condition, a `break` to the loop around it, and after more than that it
# all begins again.
while :; do while __sg_next; do
case $__sg_how in
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
