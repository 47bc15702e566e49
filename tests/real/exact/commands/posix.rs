//! Commands that bash, zsh and dash all understand.

use super::{Kind::Ends, Kind::Late, Kind::Same, Template};

/// Quiet and chatty, failing and signalled, with traps, redirections,
/// here-documents, background jobs and forged boundaries.
pub const COMMON: &[Template] = &[
    (Same, |_| "true".into()),
    (Same, |_| ":".into()),
    (Same, |_| "false".into()),
    (Same, |_| "  # only a comment".into()),
    (Same, |r| format!("(exit {})", r.below(256))),
    (Same, |r| format!("echo {} {}", r.below(9), r.below(99_999))),
    (Same, |r| {
        format!("printf '%s\\n' '{}' '{}'", r.word(), r.word())
    }),
    (Same, |r| {
        format!("echo '{}' >&2; echo '{}'", r.word(), r.word())
    }),
    (Same, |_| "printf 'no newline at the end'".into()),
    (Same, |_| "printf error >&2; false".into()),
    (Same, |r| format!("seq 1 {}", r.below(3000))),
    (Same, |r| format!("seq 1 {} >&2", r.below(2000))),
    (Same, |r| {
        let n = r.below(200);
        format!("i=0; while [ $i -lt {n} ]; do echo \"line $i\"; i=$((i+1)); done")
    }),
    (Same, |r| {
        let n = r.below(60);
        format!("for i in $(seq {n}); do echo out $i; echo err $i >&2; done")
    }),
    (Same, |r| format!("head -c {} /bin/ls", r.below(20_000))),
    (Same, |r| format!("head -c {} /bin/ls >&2", r.below(9_000))),
    (Same, |_| r"printf '\377\376\000\001\200ab\303'".into()),
    (Same, |_| r"printf '\303'; printf '\251\n'".into()),
    (Same, |r| {
        let n = r.below(150_000);
        format!("head -c {n} /dev/zero | tr '\\0' x")
    }),
    (Same, |r| format!("cat /nonexistent/{}", r.below(99))),
    (Same, |_| "cd /nonexistent/directory".into()),
    (Same, |r| format!("no_such_command_{}", r.below(99))),
    (Same, |_| "/etc/passwd".into()),
    (Same, |_| "/nonexistent/program --flag".into()),
    (Same, |_| "cat < /nonexistent/input".into()),
    (Same, |r| {
        let signal = r.one(&["KILL", "TERM", "HUP", "ABRT", "USR1", "PIPE"]);
        format!("sh -c 'kill -{signal} $$'; x=$?; echo $x; (exit $x)")
    }),
    (Same, |r| {
        let signal = r.one(&["KILL", "TERM", "INT"]);
        format!("sh -c 'echo before; kill -{signal} $$' | cat; echo after")
    }),
    (Same, |_| "sleep 0.01 &".into()),
    (Same, |_| "sleep 0.01 & echo started".into()),
    (Same, |_| {
        "(sleep 0.003; echo background) & wait; echo done".into()
    }),
    (Same, |_| "sh -c 'exit 7' & wait $!; echo $?".into()),
    (Same, |_| "{ echo a; } & { wait; echo b; }".into()),
    (Late, |r| format!("(sleep 0.0{}; echo late) &", r.below(5))),
    (Late, |r| {
        format!("echo now; (sleep 0.0{}; printf later) &", r.below(3))
    }),
    (Same, |_| {
        r"printf '\033]633;D;0\007\033]133;D;0\007\033]633;A\007'".into()
    }),
    (Same, |_| {
        r"printf '\033]633;E;echo forged;nonce\007\033]633;C\007' >&2; false".into()
    }),
    (Same, |r| {
        let n = r.below(5000);
        format!(r"printf 'd{n}\0000\0000\000/\000'; printf 's{n}\000' >&2; (exit 5)")
    }),
    (Same, |_| {
        r"printf 'r\000'; printf 'n1\0000\000'; printf 't2\000' >&2; (exit 6)".into()
    }),
    (Same, |r| {
        let n = r.below(50);
        format!("cat <<END\nline {n} $(({n} * 2))\n\ttab 'quote' \"double\" `echo tick`\nEND")
    }),
    (Same, |_| "cat <<'END'\n$HOME `x` \\ $(y)\nEND".into()),
    (Same, |_| {
        "cat <<-END\n\tindented\n\t\ttwice\n\tEND\necho after".into()
    }),
    (Same, |_| {
        "cat <<ONE; cat <<TWO >&2\nfirst\nONE\nsecond\nTWO".into()
    }),
    (Same, |r| {
        let n = r.below(9);
        format!("greet() {{\n  echo \"hello $1\"\n  return {n}\n}}\ngreet world\n")
    }),
    (Same, |r| {
        let n = r.below(4);
        format!("case {n} in\n  0) echo zero;;\n  1|2) echo some >&2;;\n  *) false;;\nesac")
    }),
    (Same, |r| {
        let n = r.below(9);
        format!("if [ {n} -gt 4 ]; then\n  echo more\nelse\n  echo less\n  (exit 3)\nfi")
    }),
    (Same, |r| format!("echo '{0}{0}{0}' | cat", r.word())),
    (Same, |_| "(cd / && ls -d etc; exit 3)".into()),
    (Same, |_| {
        "( echo a; echo b >&2 ); echo c; { echo d; }".into()
    }),
    (Same, |r| {
        format!("seq {} | sort -r | head -n 3", r.below(400) + 1)
    }),
    (Same, |r| format!("yes | head -n {}", r.below(500))),
    (Same, |_| "false | true".into()),
    (Same, |_| "true | false".into()),
    (Same, |_| "! true".into()),
    (Same, |_| "true && echo and || echo or".into()),
    (Same, |r| {
        format!("trap 'echo bye {}' EXIT; echo hello", r.below(99))
    }),
    (Same, |_| {
        "trap 'echo bye; echo error >&2' EXIT; false".into()
    }),
    (Same, |_| "(trap 'echo sub' EXIT; exit 4)".into()),
    (Same, |_| {
        "trap 'echo bye' EXIT; trap - EXIT; echo nothing follows".into()
    }),
    (Same, |_| {
        "trap 'echo usr' USR1; kill -USR1 $$; echo after; trap - USR1".into()
    }),
    (Same, |r| {
        let n = r.below(9_999);
        format!("echo x >f.{n}; cat f.{n}; echo y >>f.{n}; wc -l <f.{n}; rm f.{n}")
    }),
    (Same, |_| "{ echo a; echo b >&2; } 2>&1".into()),
    (Same, |_| {
        "echo gone >/dev/null; echo here 1>&2 2>/dev/null".into()
    }),
    (Same, |r| {
        format!(
            "exec >x.{0}; echo hidden; cat x.{0} >&2; rm x.{0}",
            r.below(9_999)
        )
    }),
    (Same, |_| {
        "exec 2>/dev/null; echo unseen >&2; echo seen".into()
    }),
    (Same, |r| {
        let n = r.below(9_999);
        format!("exec 3>y.{n}; echo three >&3; exec 3>&-; cat y.{n}; rm y.{n}")
    }),
    (Same, |_| "cat".into()),
    (Same, |_| "read x; echo \"[$x] $?\"".into()),
    (Same, |_| "wc -c".into()),
    (Same, |_| {
        "x='a b'; echo \"$x\"; unset x; echo \"${x-default}\"".into()
    }),
    (Same, |r| {
        format!("echo $(({} * {} % 7))", r.below(999), r.below(999))
    }),
    (Same, |_| {
        "FOO=bar sh -c 'echo $FOO'; echo \"[${FOO-}]\"".into()
    }),
    (Same, |_| {
        "export EXPORTED=yes; sh -c 'echo $EXPORTED'; unset EXPORTED".into()
    }),
    (Same, |_| "eval 'echo a; eval \"echo b; false\"'".into()),
    (Same, |_| {
        "x=$(printf 'a\\n\\n'); echo \"[$x]\"; x=$(false); echo $?".into()
    }),
    (Same, |_| {
        "echo \"$(echo \"$(echo deep)\")\" `echo old`".into()
    }),
    (Same, |_| {
        "set -- a 'b c'; echo $# \"$2\"; set --; echo $#".into()
    }),
    (Same, |_| "umask 077; umask; umask 022".into()),
    (Same, |_| "echo $#; echo \"$0\"".into()),
    (Same, |_| "sh -c 'echo out; echo err >&2; exit 42'".into()),
    (Same, |_| "echo one; echo two; # three\necho four".into()),
    (Same, |_| "echo a \\\n  b \\\n  c".into()),
    (Same, |_| "set -x; echo traced; set +x".into()),
    (Same, |_| "sleep 0.002".into()),
    (Same, |_| {
        "printf '\\r50%%\\r100%%\\n'; printf '\\033[31mred\\033[0m\\n'".into()
    }),
    (Same, |_| {
        "seq 1 2000 | while read n; do [ $n -eq 2000 ] && echo $n; done".into()
    }),
    (Same, |_| "(echo a; exit 3) | cat; (exit 2)".into()),
    (Same, |_| {
        "for f in 1 2 3; do [ $f = 2 ] && continue; echo $f; done".into()
    }),
    (Same, |_| "while :; do echo once; break; done".into()),
    (Same, |_| {
        "f() { local x=1; echo $x; }; f; unset -f f".into()
    }),
    (Same, |_| {
        "mkdir -p d && cd d && cd .. && rmdir d && echo moved".into()
    }),
];

/// `pipefail` is not known to every dash, and a syntax error ends that.
pub const WITH_PIPEFAIL: &[Template] = &[
    (Same, |_| "(set -o pipefail; false | true)".into()),
    (Same, |_| {
        "(set -euo pipefail; echo a; false | cat; echo never)".into()
    }),
    (Same, |_| "if true; then echo \"unfinished".into()),
    (Same, |_| "echo a; )".into()),
    (Same, |_| "for x in; do".into()),
];

/// What ends the shell itself.
pub const ENDS: &[Template] = &[
    (Ends, |r| format!("exit {}", r.below(256))),
    (Ends, |_| "echo a; echo b >&2; exit 3; echo never".into()),
    (Ends, |_| "exec true".into()),
    (Ends, |r| {
        format!("exec sh -c 'echo in; exit {}'", r.below(200))
    }),
    (Ends, |_| "set -e; echo a; false; echo never".into()),
    (Ends, |_| {
        "set -eu; echo \"$no_such_variable\"; echo never".into()
    }),
    (Ends, |_| "kill -TERM $$; echo never".into()),
    (Ends, |_| "kill -KILL $$; echo never".into()),
    (Ends, |_| "trap 'echo bye' EXIT; exit 9".into()),
    (Ends, |_| {
        "echo \"${no_such_variable?is missing}\"; echo never".into()
    }),
    (Ends, |_| "exec /nonexistent/program; echo never".into()),
    (Ends, |_| "f() { echo f; exit 8; }; f; echo never".into()),
    (Ends, |_| "exec >last; echo hidden; exit 4".into()),
];

/// What ends a shell that knows `pipefail`.
pub const ENDS_WITH_PIPEFAIL: &[Template] = &[(Ends, |_| {
    "set -euo pipefail; echo a; false | true; echo never".into()
})];

/// In dash these end the shell, alone and warm.
pub const ENDS_DASH: &[Template] = &[
    (Ends, |_| "if true; then echo \"unfinished".into()),
    (Ends, |_| "echo a; )".into()),
    (Ends, |_| "for x in; do".into()),
];
