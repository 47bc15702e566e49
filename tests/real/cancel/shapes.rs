//! Commands that would make the file `NEXT` if they went on after what runs
//! in them has been ended.

/// One shape of command.
pub struct Shape {
    pub name: &'static str,
    pub command: &'static str,
}

const fn shape(name: &'static str, command: &'static str) -> Shape {
    Shape { name, command }
}

/// The shapes that a shell understands.
pub fn of(shell: &str) -> Vec<Shape> {
    let mut shapes = Vec::from(ANY);
    match shell {
        "fish" => shapes.extend(FISH),
        _ => shapes.extend(POSIX),
    }
    if shell == "bash" || shell == "zsh" {
        shapes.extend(BASH_AND_ZSH);
    }
    shapes
}

const ANY: [Shape; 11] = [
    shape("sequence", "sleep 9871; touch NEXT"),
    shape("and", "sleep 9871 && touch NEXT"),
    shape("or", "sleep 9871 || touch NEXT"),
    shape("pipeline", "sleep 9871 | cat; touch NEXT"),
    shape(
        "pipeline of shells",
        "sh -c 'sleep 9871; touch NEXT' | sh -c 'cat; touch NEXT'",
    ),
    shape("shell", "sh -c 'sleep 9871; touch NEXT'; touch NEXT"),
    shape(
        "shells in shells",
        "bash -c \"bash -c 'sleep 9871; touch NEXT'; touch NEXT\"",
    ),
    shape("eval", "eval 'sleep 9871; touch NEXT'; touch NEXT"),
    shape("xargs", "echo 9871 9871 | xargs -n 1 sleep; touch NEXT"),
    shape("make", "make --silent; touch NEXT"),
    shape(
        "interrupt ignored",
        "python3 -c 'import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); \
         time.sleep(9871); open(\"NEXT\", \"w\")'; touch NEXT",
    ),
];

const POSIX: [Shape; 24] = [
    shape("if not", "if ! sleep 9871; then touch NEXT; fi"),
    shape("if", "if sleep 9871; then touch NEXT; else touch NEXT; fi"),
    shape("function", "f() { sleep 9871; touch NEXT; }; f; touch NEXT"),
    shape("for", "for i in 1 2 3; do sleep 9871; touch NEXT; done"),
    shape(
        "while",
        "while :; do sleep 9871; touch NEXT; done; touch NEXT",
    ),
    shape("until", "until sleep 9871; do touch NEXT; done; touch NEXT"),
    shape("substitution", "x=$(sleep 9871); touch NEXT"),
    shape("substitution in a word", "touch NEXT.$(sleep 9871) NEXT"),
    shape("case", "case $(sleep 9871) in *) touch NEXT;; esac"),
    shape("subshell", "(sleep 9871; touch NEXT); touch NEXT"),
    shape("group", "{ sleep 9871; touch NEXT; }; touch NEXT"),
    shape(
        "subshell in a pipeline",
        "(sleep 9871; touch NEXT) | cat; touch NEXT",
    ),
    shape("source", ". ./sourced; touch NEXT"),
    shape(
        "EXIT trap",
        "trap 'touch NEXT' EXIT; sleep 9871; touch NEXT",
    ),
    shape("INT trap", "trap 'touch NEXT' INT; sleep 9871; touch NEXT"),
    shape(
        "TERM trap",
        "trap 'touch NEXT' TERM HUP QUIT; sleep 9871; touch NEXT",
    ),
    shape(
        "CHLD trap",
        "trap 'touch NEXT' CHLD; sleep 9871; touch NEXT",
    ),
    shape(
        "EXIT trap in a subshell",
        "(trap 'touch NEXT' EXIT INT; sleep 9871); touch NEXT",
    ),
    shape("wait", "sleep 9871 & wait; touch NEXT"),
    shape("wait for one", "sleep 9871 & wait $!; touch NEXT"),
    shape(
        "background shell",
        "(sleep 9871; touch NEXT) & sleep 9871; touch NEXT",
    ),
    shape("builtins", "while :; do :; done; touch NEXT"),
    shape(
        "builtins in a subshell",
        "(while :; do :; done); touch NEXT",
    ),
    shape(
        "here-document",
        "sh <<END\nsleep 9871\ntouch NEXT\nEND\ntouch NEXT",
    ),
];

const BASH_AND_ZSH: [Shape; 5] = [
    shape(
        "ERR trap",
        "trap 'touch NEXT' ERR; sleep 9871; touch NEXT; trap - ERR",
    ),
    shape(
        "process substitution",
        "cat <(sleep 9871; touch NEXT); touch NEXT",
    ),
    shape("errexit", "set -e; sleep 9871; touch NEXT"),
    shape("read", "read x < <(sleep 9871); touch NEXT"),
    shape(
        "DEBUG trap",
        "trap 'test -e past && touch NEXT' DEBUG; sleep 9871; touch past",
    ),
];

const FISH: [Shape; 12] = [
    shape("if not", "if not sleep 9871; touch NEXT; end"),
    shape("if", "if sleep 9871; touch NEXT; else; touch NEXT; end"),
    shape(
        "function",
        "function f; sleep 9871; touch NEXT; end; f; touch NEXT",
    ),
    shape("for", "for i in 1 2 3; sleep 9871; touch NEXT; end"),
    shape(
        "while",
        "while true; sleep 9871; touch NEXT; end; touch NEXT",
    ),
    shape("substitution", "set x (sleep 9871); touch NEXT"),
    shape("block", "begin; sleep 9871; touch NEXT; end; touch NEXT"),
    shape("source", "source ./sourced; touch NEXT"),
    shape(
        "EXIT trap",
        "trap 'touch NEXT' EXIT INT TERM; sleep 9871; touch NEXT",
    ),
    shape("wait", "sleep 9871 & wait; touch NEXT"),
    shape("builtins", "while true; end; touch NEXT"),
    shape(
        "event",
        "function h --on-signal INT; touch NEXT; end; sleep 9871; touch NEXT",
    ),
];
