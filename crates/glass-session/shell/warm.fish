# The warm driver for fish: what it does between commands.
#
# Outside of a command standard output and standard error are /dev/null for our
# code. fish itself writes its own messages to the descriptors it was started
# with, whatever the redirections.

# Runs when the shell ends by itself.
function __sg_exit --on-event fish_exit
    __sg_state $__sg_dir/exit
end

# Ends one command and waits for the next. A request that was executed before
# is one that was sent again after a crash.
function __sg_next
    builtin set -g __sg_status $status
    if builtin test $__sg_phase != idle
        __sg_settle; and return 0
    end
    while builtin true
        __sg_read; or exit 0
        if builtin test $__sg_kind = s -o $__sg_seq -gt $__sg_last
            __sg_prepare; and return 0
        end
    end
end

# Reports the command that has just ended, or goes on with its EXIT trap.
# Returns 0 where there is more to execute.
function __sg_settle
    if builtin test $__sg_phase = run
        builtin set -g __sg_result $__sg_status
        if builtin functions -q __trap_handler_EXIT
            builtin set -g __sg_phase trap
            builtin set -g __sg_code __trap_handler_EXIT
            return 0
        end
    else
        builtin functions -e __trap_handler_EXIT
    end
    builtin set -g __sg_status $__sg_result
    builtin set -g __sg_phase idle
    if builtin test -n "$__sg_after"
        builtin eval $__sg_after
    end
    builtin printf 'd%s\0%s\0%s\0%s\0' $__sg_seq $__sg_nonce $__sg_result $PWD >&9
    return 1
end

# Makes a request ready to be executed by the loop. Returns 1 where there is
# nothing to execute.
function __sg_prepare
    if builtin test $__sg_kind = s
        __sg_state $__sg_dir/s$__sg_seq
        builtin printf 't%s\0' $__sg_seq >&9
        return 1
    end
    builtin set -g __sg_last $__sg_seq
    __sg_enter; or return 1
    builtin set -g __sg_phase run
    return 0
end

# Says that the start files are behind us, and runs the loop, which begins again
# when a `break` outside of a loop has ended it.
builtin set argv
begin
    builtin printf 'r\0' >&9
    builtin eval $__sg_loop
end >/dev/null 2>/dev/null
