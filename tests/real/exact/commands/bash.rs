//! Commands that only bash understands.

use super::{Kind::Ends, Kind::Same, Template};

/// Arrays, process substitution, traps on DEBUG and ERR, options.
pub const ONLY: &[Template] = &[
    (Same, |r| {
        format!(
            "a=(1 'two words' {}); echo \"${{#a[@]}} ${{a[1]}}\"",
            r.below(99)
        )
    }),
    (Same, |_| {
        "declare -A m=([k]=v [x]='y z'); echo \"${m[x]}\"; unset m".into()
    }),
    (Same, |_| {
        "[[ abc123 =~ ([a-z]+)([0-9]+) ]] && echo \"${BASH_REMATCH[2]}\"".into()
    }),
    (Same, |_| "cat <(echo a) <(echo b)".into()),
    (Same, |_| "echo {1..5} {a,b}c".into()),
    (Same, |_| {
        "mapfile -t lines < <(seq 3); echo \"${lines[@]}\"".into()
    }),
    (Same, |r| format!("cat <<<'{}'", r.word())),
    (Same, |_| {
        "x=hello; echo \"${x^^} ${x:1:3} ${x/l/L}\"".into()
    }),
    (Same, |_| "let x=3+4; echo $x; ((x == 8))".into()),
    (Same, |_| {
        "trap 'echo failed at $?' ERR; false; echo on; trap - ERR".into()
    }),
    (Same, |_| {
        "(trap 'echo \"+ $BASH_COMMAND\"' DEBUG; echo a; echo b)".into()
    }),
    (Same, |_| {
        "shopt -s nullglob; echo none*here; shopt -u nullglob".into()
    }),
    (Same, |_| "shopt -q extglob; echo $?".into()),
    (Same, |_| "echo \"$LINENO\"\necho \"$LINENO\"".into()),
    (Same, |_| "echo \"$-\"".into()),
    (Same, |_| {
        "echo \"$BASH_SUBSHELL\"; (echo \"$BASH_SUBSHELL\")".into()
    }),
    (Same, |_| {
        "sleep 0.001 & sleep 0.002 & wait -n; echo $?; wait".into()
    }),
    (Same, |_| {
        "true | false | true; echo \"${PIPESTATUS[@]}\"".into()
    }),
    (Same, |_| {
        "printf -v x '%05d' 42; echo $x; printf '%q\\n' \"a b'c\"".into()
    }),
    (Same, |_| {
        "f() { echo \"${FUNCNAME[0]} $LINENO\"; }; f".into()
    }),
    (Same, |_| {
        "name() { :; }; name && type -t name; unset -f name".into()
    }),
    (Same, |_| {
        "coproc cat; echo hi >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x; \
         kill $COPROC_PID; wait; true"
            .into()
    }),
    (Same, |_| "echo a |& cat; ls /nonexistent |& wc -l".into()),
    (Same, |_| {
        "echo both &>both.txt; cat both.txt; rm both.txt".into()
    }),
    (Same, |_| {
        "exec 10>ten; echo ten >&10; exec 10>&-; cat ten; rm ten".into()
    }),
    (Same, |_| {
        "exec {fd}>named; echo named >&$fd; exec {fd}>&-; cat named; rm named".into()
    }),
    (Same, |_| "echo $'tab\\there\\x41\\u00e9'".into()),
    (Same, |_| "select x in a b; do echo $x; break; done".into()),
    (Same, |_| {
        "printf forged >&8; printf forged >&9; echo $?".into()
    }),
];

/// What ends bash.
pub const ENDS: &[Template] = &[
    (Ends, |_| {
        "set -o errexit; trap 'echo error' ERR; false; echo never".into()
    }),
    (Ends, |_| {
        "set -u; echo ${no_such_array[1]}; echo never".into()
    }),
];
