# The loop of the warm driver for fish.
while __sg_next;
begin; builtin eval $__sg_code;
end </dev/null >$__sg_dir/"$__sg_slot"o 2>$__sg_dir/"$__sg_slot"e 9>&-;
end; builtin eval $__sg_loop
