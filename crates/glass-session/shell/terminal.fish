# Tells the terminal what an interactive fish does. Sourced after the user's own
# files; its functions are events and one key, and change no prompt.

function __glass_mark
    builtin printf '\e]633;%s;%s\a' $argv[1] $__glass_nonce
end

# A value as the markers carry it; no process is made.
function __glass_escape
    set -l value (string join \n -- $argv | string collect)
    set value (string replace -a '\\' '\\\\' -- $value | string collect)
    set value (string replace -a ';' '\\x3b' -- $value | string collect)
    set value (string replace -a \n '\\x0a' -- $value | string collect)
    set value (string replace -a \t '\\x09' -- $value | string collect)
    # Other controls are in no line that somebody typed.
    string replace -ar '[\x00-\x1f\x7f]' '?' -- $value
end

# A marker with a value, unless nobody would read one so long.
function __glass_tell
    set -l value (__glass_escape $argv[2] | string collect)
    set -l bytes (string replace -ar '[^\x01-\x7f]' '????' -- $value | string collect)
    if test (string length -- "$bytes") -le 32768
        __glass_mark "$argv[1]$value"
    end
end

function __glass_where
    if test "$PWD" != "$__glass_cwd"
        set -g __glass_cwd $PWD
        __glass_tell "P;Cwd=" $PWD
    end
end

function __glass_prompt --on-event fish_prompt
    set -l last $status
    __glass_where
    __glass_mark A
    return $last
end

function __glass_preexec --on-event fish_preexec
    # What begins with a space is not to be remembered.
    if not string match -q ' *' -- $argv[1]
        __glass_tell "E;" $argv[1]
    end
    __glass_mark C
end

function __glass_postexec --on-event fish_postexec
    set -l last $status
    __glass_where
    __glass_mark "D;$last"
end

# A command was handed over, perhaps. Whoever makes the file `taken` has it, and
# nobody else does.
function __glass_take
    if not test -r $__glass_dir/next
        set -l written (commandline | string collect)
        if test -n "$__glass_draft"; and test -z "$written"
            commandline -r -- $__glass_draft
            set -g __glass_draft
        end
        return
    end
    set -l nonce
    set -l id
    set -l line
    begin
        read -l -z all <$__glass_dir/next
        or return
        set -l parts (string split -m 2 \n -- $all)
        set nonce $parts[1]
        set id $parts[2]
        # The lines of a command stay one text.
        set line (string trim -r -c \n -- $parts[3] | string collect)
    end
    test "$nonce" = "$__glass_nonce"; or return
    string match -qr '^[0-9]+$' -- $id; or return
    test -e $__glass_dir/taken.$id; and return
    begin
        echo >?$__glass_dir/taken.$id
    end 2>/dev/null
    or return
    __glass_mark "P;Taken=$id"
    # An empty line does not take the place of one that still waits.
    set -l draft (commandline | string collect)
    if test -n "$draft"
        set -g __glass_draft $draft
        __glass_mark "P;Draft=1"
    end
    commandline -r -- $line
    # What fish would not execute is an error of the command's, and not a line
    # that waits to be edited.
    if not commandline --is-valid
        commandline -r -- "eval "(string escape -- $line | string collect)
    end
    commandline -f execute
end

if status is-interactive
    set -g __glass_cwd
    set -g __glass_draft
    for mode in default insert
        bind -M $mode \e\[6714~ __glass_take 2>/dev/null
    end
    __glass_mark "P;Ready=fish"
end
