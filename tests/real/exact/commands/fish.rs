//! Commands for fish. Syntax errors are not among them: `fish -c` says 0 after
//! one, and a session says 123, as `eval` does.

use super::{Kind::Ends, Kind::Late, Kind::Same, Template};

/// What the other shells are asked for, as fish says it.
pub const COMMON: &[Template] = &[
    (Same, |_| "true".into()),
    (Same, |_| "false".into()),
    (Same, |_| "# only a comment".into()),
    (Same, |r| format!("sh -c 'exit {}'", r.below(256))),
    (Same, |r| format!("echo {} {}", r.below(9), r.below(99_999))),
    (Same, |_| {
        "printf '%s\\n' 'two words' 'żółć' '日本語' '🎉'".into()
    }),
    (Same, |_| "echo error >&2; echo out".into()),
    (Same, |_| "printf 'no newline at the end'".into()),
    (Same, |r| format!("seq 1 {}", r.below(3000))),
    (Same, |r| format!("seq 1 {} >&2", r.below(2000))),
    (Same, |r| {
        format!(
            "for i in (seq {}); echo out $i; echo err $i >&2; end",
            r.below(50)
        )
    }),
    (Same, |r| format!("head -c {} /bin/ls", r.below(20_000))),
    (Same, |_| r"printf '\377\376\000\001\200ab\303'".into()),
    (Same, |r| {
        format!("head -c {} /dev/zero | tr '\\0' x", r.below(150_000))
    }),
    (Same, |r| format!("cat /nonexistent/{}", r.below(99))),
    (Same, |_| "cd /nonexistent/directory".into()),
    (Same, |r| format!("no_such_command_{}", r.below(99))),
    (Same, |_| "/nonexistent/program --flag".into()),
    (Same, |_| "/etc/passwd".into()),
    (Same, |_| "cat < /nonexistent/input".into()),
    (Same, |r| {
        let signal = r.one(&["KILL", "TERM", "HUP", "USR1"]);
        format!("sh -c 'kill -{signal} $$'; set x $status; echo $x; sh -c \"exit $x\"")
    }),
    (Same, |_| {
        "sh -c 'echo before; kill -KILL $$' | cat; echo after".into()
    }),
    (Same, |_| "sleep 0.01 &".into()),
    (Same, |_| "sleep 0.01 & echo started".into()),
    (Same, |_| {
        "sh -c 'sleep 0.003; echo background' & wait; echo done".into()
    }),
    (Late, |r| {
        format!("sh -c 'sleep 0.0{}; echo late' &", r.below(5))
    }),
    (Same, |_| {
        r"printf '\033]633;D;0\007\033]133;D;0\007\033]633;A\007'".into()
    }),
    (Same, |_| {
        r"printf 'd1\0000\0000\000/\000'; printf 's1\000' >&2; sh -c 'exit 5'".into()
    }),
    (Same, |_| {
        "function greet\n  echo hello $argv\n  return 4\nend\ngreet world".into()
    }),
    (Same, |_| {
        "if test 1 -gt 2\n  echo more\nelse\n  echo less\n  false\nend".into()
    }),
    (Same, |_| {
        "switch b\n case a\n  echo a\n case b\n  echo b >&2\nend".into()
    }),
    (Same, |_| "begin; echo a; echo b >&2; end; echo c".into()),
    (Same, |r| {
        format!("seq {} | sort -r | head -n 3", r.below(400) + 1)
    }),
    (Same, |r| format!("yes | head -n {}", r.below(500))),
    (Same, |_| "false | true; echo $pipestatus".into()),
    (Same, |_| "true; and echo and; or echo or".into()),
    (Same, |_| "not true".into()),
    (Same, |r| {
        let n = r.below(9_999);
        format!("echo x >f.{n}; cat f.{n}; echo y >>f.{n}; wc -l <f.{n}; rm f.{n}")
    }),
    (Same, |_| "begin; echo a; echo b >&2; end 2>&1".into()),
    (Same, |_| "cat".into()),
    (Same, |_| "read x; echo \"[$x] $status\"".into()),
    (Same, |_| {
        "set x 'a b'; echo $x; set -e x; echo \"[$x]\"".into()
    }),
    (Same, |r| format!("math {} x {}", r.below(99), r.below(99))),
    (Same, |_| {
        "FOO=bar sh -c 'echo $FOO'; echo \"[$FOO]\"".into()
    }),
    (Same, |_| {
        "set -gx EXPORTED yes; sh -c 'echo $EXPORTED'; set -e EXPORTED".into()
    }),
    (Same, |_| "eval 'echo a; eval \"echo b; false\"'".into()),
    (Same, |_| {
        "set x (printf 'a\\nb\\n'); echo (count $x) $x[2]".into()
    }),
    (Same, |_| "echo (echo (echo deep))".into()),
    (Same, |_| {
        "string upper abc; string replace l L hello; string match -r '[0-9]+' ab12".into()
    }),
    (Same, |_| "echo {a,b}c".into()),
    (Same, |_| "sh -c 'echo out; echo err >&2; exit 42'".into()),
    (Same, |_| "echo a \\\n  b".into()),
    (Same, |_| "printf '\\r50%%\\r100%%\\n'".into()),
    (Same, |_| "while true; echo once; break; end".into()),
    (Same, |_| "trap 'echo bye' EXIT; echo hello".into()),
    (Same, |_| {
        "mkdir -p d; and cd d; and cd ..; and rmdir d; and echo moved".into()
    }),
    (Same, |_| {
        "count $argv; status is-interactive; echo $status".into()
    }),
];

/// What ends fish.
pub const ENDS: &[Template] = &[
    (Ends, |r| format!("exit {}", r.below(256))),
    (Ends, |_| "echo a; echo b >&2; exit 3; echo never".into()),
    (Ends, |_| "exec true".into()),
    (Ends, |r| {
        format!("exec sh -c 'echo in; exit {}'", r.below(200))
    }),
    (Ends, |_| "kill -TERM $fish_pid; echo never".into()),
    (Ends, |_| "kill -KILL $fish_pid; echo never".into()),
    (Ends, |_| {
        "function f; echo f; exit 8; end; f; echo never".into()
    }),
];
