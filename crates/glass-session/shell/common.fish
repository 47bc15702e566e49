# What the warm and the once driver for fish share. The arguments are the
# session's directory and the text of the loop.
#
# Requests come on standard input, because fish loses a descriptor that it
# inherits for reading. `builtin` goes before every builtin that a user's
# function may hide.

builtin set -g __sg_dir $argv[1]
builtin set -g __sg_loop $argv[2]
builtin set -g __sg_last 0
builtin set -g __sg_phase idle
builtin set -g __sg_status 0
builtin set -g __sg_result 0

# Writes what outlives this shell to the file $argv[1].
function __sg_state
    begin
        builtin printf '%s\0' $PWD
        command /usr/bin/env -0
    end >$argv[1] 2>/dev/null 9>&- </dev/null
end

# Reads one request: a header, then the fields that it announces, each ended by
# a NUL. Few fields, because each costs.
function __sg_read
    builtin read -z -g -d ' ' __sg_kind __sg_seq __sg_nonce __sg_slot __sg_extras __sg_call
    or return 1
    builtin set -g __sg_cwd
    builtin set -g __sg_before
    builtin set -g __sg_after
    if builtin test $__sg_extras != -
        if builtin string match -q '*i*' $__sg_extras
            builtin read -z -g __sg_call; or return 1
        end
        if builtin string match -q '*d*' $__sg_extras
            builtin read -z -g __sg_cwd; or return 1
        end
        if builtin string match -q '*v*' $__sg_extras
            builtin read -z -g __sg_before; and builtin read -z -g __sg_after; or return 1
        end
    end
    builtin read -z -g __sg_code
end

# Makes the shell ready for the command of the request. Returns 1, having said
# so, where its directory cannot be entered.
function __sg_enter
    if builtin test -n "$__sg_cwd"; and not builtin cd $__sg_cwd
        builtin printf 'n%s\0%s\0' $__sg_seq $__sg_nonce >&9
        return 1
    end
    builtin printf 's%s\0' $__sg_seq >&9
    if builtin string match -q -r '[fg]' $__sg_kind
        builtin read -z -g __sg_code <$__sg_dir/c$__sg_seq
    end
    if builtin test -n "$__sg_call"
        builtin set -gx SHELLGLASS_TOOL_CALL_ID $__sg_call
    else
        builtin set -e -g SHELLGLASS_TOOL_CALL_ID
    end
    if builtin test -n "$__sg_before"
        builtin eval $__sg_before
    end
    return 0
end

