# Tells the terminal what an interactive nu does. Sourced after the user's own
# files; it adds hooks and one key, and changes no prompt. `__glass_nonce` and
# `__glass_dir` are constants before it.

# Raw: else nu lays it out first, which takes more than a millisecond.
def __glass_mark [body: string] {
    print --raw --no-newline $"\u{1b}]633;($body);($__glass_nonce)\u{7}"
}

# A value as the markers carry it; no process is made.
def __glass_escape []: string -> string {
    $in
    | str replace --all '\' '\\'
    | str replace --all ';' '\x3b'
    | str replace --all "\n" '\x0a'
    | str replace --all "\t" '\x09'
    # Other controls are in no line that somebody typed.
    | str replace --all --regex '[\x00-\x1f\x7f]' '?'
}

# A marker with a value, unless nobody would read one so long.
def __glass_tell [name: string, value: string] {
    let text = ($value | __glass_escape)
    if ($text | str length) <= 32768 { __glass_mark $"($name)($text)" }
}

# First among the prompt's hooks: the end, and where, is told before anybody
# prints. An end of nothing is believed by nobody.
def --env __glass_first [] {
    if $env.__glass.key {
        # The key is no command, and the last code is what it was.
        $env.__glass.key = false
        $env.LAST_EXIT_CODE = $env.__glass.code
        return
    }
    if $env.PWD != $env.__glass.cwd {
        $env.__glass.cwd = $env.PWD
        __glass_tell "P;Cwd=" $env.PWD
    }
    let code = $env.LAST_EXIT_CODE
    $env.__glass.code = $code
    # A signal's number is negative here.
    __glass_mark $"D;(if $code < 0 { 128 - $code } else { $code })"
}

# Last among them. The prompt at which a line is accepted that was handed over
# is the one at which it was taken.
def __glass_last [] {
    if not $env.__glass.taken { __glass_mark A }
}

def --env __glass_begin [] {
    let line = (commandline)
    # The key comes this way, too.
    if $line == "null | __glass_take" {
        $env.__glass.key = true
        return
    }
    $env.__glass.taken = false
    if ($line | str trim) == "" { return }
    # What the history is not to have may be a secret.
    let hides = ($env.config.history?.ignore_space_prefixed? | default true)
    let shown = (if $hides and ($line starts-with " ") { "" } else { $line })
    # A program may throw away what the terminal has not been read of.
    try { $shown | save --raw --force ($__glass_dir | path join said) }
    if $shown != "" { __glass_tell "E;" $shown }
    __glass_mark C
}

# A command was handed over, perhaps. Whoever makes the file `taken` has it, and
# nobody else does.
def --env __glass_take [] {
    let draft = (commandline)
    let next = ($__glass_dir | path join next)
    let parts = (
        try { open --raw $next | into binary | decode utf-8 | split row --number 3 "\n" }
        catch { [] }
    )
    if ($parts | length) != 3 {
        if $draft == "" and $env.__glass.draft != "" {
            commandline edit --replace $env.__glass.draft
            $env.__glass.draft = ""
        }
        return
    }
    let id = $parts.1
    if $parts.0 != $__glass_nonce or $id !~ '^[0-9]+$' { return }
    let claim = ($__glass_dir | path join $"taken.($id)")
    # `save` would look first and make it then.
    let made = (^/bin/sh -C -c ': >"$1"' sh $claim | complete)
    if $made.exit_code != 0 { return }
    __glass_mark $"P;Taken=($id)"
    # An empty line does not take the place of one that still waits.
    if $draft != "" {
        $env.__glass.draft = $draft
        __glass_mark "P;Draft=1"
    }
    $env.__glass.taken = true
    commandline edit --replace --accept ($parts.2 | str trim --right --char "\n")
}

$env.__glass = {cwd: "", draft: "", taken: false, key: false, code: 0}
$env.config.hooks.pre_prompt = (
    [{|| __glass_first }]
    ++ ($env.config.hooks.pre_prompt? | default [])
    ++ [{|| __glass_last }]
)
$env.config.hooks.pre_execution = (
    ($env.config.hooks.pre_execution? | default []) ++ [{|| __glass_begin }]
)
$env.config.keybindings = ($env.config.keybindings? | default []) ++ [{
    name: __glass
    modifier: control_alt_shift
    keycode: char_u1f0a1
    mode: [emacs vi_normal vi_insert]
    event: {send: executehostcommand, cmd: "null | __glass_take"}
}]
__glass_mark "P;Ready=nu"
