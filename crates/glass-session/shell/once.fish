# The once driver for fish. The shell's own output is the command's, and its exit
# is the command's.

function __sg_leave --on-event fish_exit
    __sg_state $__sg_dir/s$__sg_last
end

__sg_read; or exit 0
__sg_enter; or exit 125
builtin set -g __sg_last $__sg_seq
builtin set argv
begin
    # A last statement that keeps the status, because `eval` takes a redirection
    # that fails for success.
    builtin eval $__sg_code\n'builtin set -g __sg_kept $status'
end </dev/null 9>&-
