# The loop of the warm driver for fish. A last statement that keeps the status,
# because `eval` takes a redirection that fails for success.
while __sg_next;
begin; builtin eval $__sg_code\n'builtin set -g __sg_kept $status';
end </dev/null >$__sg_dir/"$__sg_slot"o 2>$__sg_dir/"$__sg_slot"e 9>&-;
end; builtin eval $__sg_loop
