//! The same commands under a driver and as `SHELL -c`.

use crate::harness::{Driven, End, KINDS, code_of, shell};
use glass_model::{ShellKind, Startup};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Commands that every one of the shells understands.
const COMMON: &[&str] = &[
    "true",
    "false",
    ":",
    "",
    "# only a comment",
    "echo hello",
    "echo -n no newline",
    "printf 'a\\nb\\n'",
    "printf '%s|' one 'two three' four",
    "echo out; echo err >&2",
    "echo err >&2; false",
    "ls /nonexistent",
    "cat /nonexistent 2>/dev/null",
    "cat </etc/hostname",
    "seq 1 5",
    "seq 1 20000",
    "seq 1 5 | tail -2",
    "seq 1 100000 | head -1",
    "yes | head -3",
    "sh -c 'exit 42'",
    "sh -c 'kill -9 $$'",
    "sh -c 'kill -TERM $$'",
    "sh -c 'echo a; echo b >&2; exit 3'",
    "nonexistent-command",
    "/nonexistent/path",
    "/etc/passwd",
    "/tmp",
    "cd /usr; pwd",
    "cd /nonexistent",
    "cd /tmp; cd /nonexistent; pwd",
    "pwd | cat",
    "echo $HOME",
    "echo \"$HOME\" '$HOME'",
    "echo a   b    c",
    "echo 'quoted  text'",
    "echo \"it's\"",
    "echo back\\\\slash",
    "echo multi\necho line\necho script",
    "true; false; true",
    "true | false",
    "false | true",
    "echo a | cat | cat | wc -c",
    "cat",
    "head -c 10",
    "sleep 0.01",
    "sleep 0.01 & wait",
    "echo début \u{1f600}",
    "printf '\\033]633;D;0\\007'",
    "printf 'd1\\0n1\\0000\\0/\\0'",
    "head -c 100000 /dev/zero | wc -c",
    "head -c 3000 /dev/zero | tr '\\0' x",
    "env -i sh -c 'echo clean'",
    "expr 1 + 1",
    "test -d /usr",
    "test -d /nonexistent",
    "[ 1 = 1 ]",
    "[ 1 = 2 ]",
    "echo one > /dev/null",
    "echo one >&2 2>/dev/null",
    "ls -d /usr /nonexistent",
    "sh -c 'cat; echo done'",
    "printf 'no end of line'",
    "echo $(echo nested)",
    "exit 0",
    "exit 3",
    "echo before; exit 5; echo after",
    "exec true",
    "exec sh -c 'echo replaced; exit 6'",
    "kill -0 1",
    "touch /nonexistent/file",
    "sort </dev/null",
    "tr a-z A-Z </etc/hostname",
];

/// Commands in the language of bash, zsh and POSIX shells.
const POSIX: &[&str] = &[
    "x=5; echo $x",
    "x=5 sh -c 'echo $x'",
    "export x=6; sh -c 'echo $x'",
    "if true; then echo yes; else echo no; fi",
    "for i in 1 2 3; do echo $i; done",
    "for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; [ $i = 3 ] && break; done; echo end",
    "i=0; while [ $i -lt 5 ]; do i=$((i+1)); echo $i; done",
    "until true; do echo never; done",
    "case abc in a*) echo match;; *) echo none;; esac",
    "f() { echo in f $1; return 4; }; f arg",
    "f() { return 4; }; f; echo $?",
    "(exit 3)",
    "(cd /usr; pwd); pwd",
    "{ echo a; echo b >&2; }",
    "{ echo a; echo b >&2; } 2>&1 | sort",
    "echo $((6*7))",
    "echo \"${nope:-default}\" ${#HOME}",
    "x=abc; echo ${x#a} ${x%c}",
    "cat <<END\nhere $((1+1))\nEND",
    "cat <<'END'\n$not expanded\nEND",
    "! true",
    "! false",
    "true && echo and || echo or",
    "false && echo and || echo or",
    "echo `echo back`",
    "trap 'echo bye' EXIT; echo hi",
    "trap 'echo bye $?' EXIT; exit 4",
    "trap 'echo bye' EXIT; trap - EXIT",
    "trap 'echo caught' USR1; kill -USR1 $$; echo after",
    "set -e; echo a; false; echo b",
    "set -e; false || true; echo b",
    "set -u; echo ${nope}; echo b",
    "set -x; echo traced; f() { echo in; }; f",
    "set -f; echo *",
    "set -- a b c; echo $# $2",
    "set -- a b c; shift; echo \"$@\"",
    "echo ${x?message}; echo b",
    "exec >/dev/null; echo hidden",
    "exec 3>&1; echo three >&3",
    "read x; echo \"status $?\"",
    "while read line; do echo $line; done </etc/hostname",
    "printf 'a b\\nc d\\n' | while read x y; do echo $y; done",
    "eval 'echo evaluated; false'",
    "eval 'exit 9'",
    ". /nonexistent",
    "echo 'echo sourced; x=7' >sourced; . ./sourced; echo $x",
    "umask 022; umask",
    "unset x; echo ${x-unset}",
    "IFS=,; x=a,b; echo $x",
    "echo $1 $# $0",
    "sleep 0.05 & echo $((1)); wait; echo $?",
    "sh -c 'exit 7' & wait $!; echo $?",
    "true & wait",
    "command -v sh",
    "command echo x",
    "type nonexistent-command",
    "kill -TERM $$; sleep 1",
    "return 3",
    "alias x=echo",
    "cd /usr && pwd && cd - && cd /nonexistent",
    "ls | wc -l; echo *",
    "echo a\\\nb",
    "test 1 -eq one",
    "echo $((1/0)); echo after",
    "x=$(exit 5); echo $?",
    "echo ${x!y}",
    "if",
    "echo 'unclosed",
    "fi",
    "echo a; )",
];

const BASH_AND_ZSH: &[&str] = &[
    "a=(1 2 3); echo ${#a[@]} \"${a[@]}\"",
    "declare -A m=([k]=v); echo ${m[k]}",
    "[[ abc == a* ]] && echo match",
    "[[ abc =~ b ]]; echo $?",
    "(( 1 > 2 ))",
    "for ((i=0;i<3;i++)); do echo $i; done",
    "echo {1..5}",
    "cat <<<'here string'",
    "diff <(echo a) <(echo b)",
    "echo $'tab\\there'",
    "set -o pipefail; false | true",
    "set -euo pipefail; false | true; echo no",
    "trap 'echo error' ERR; false; true",
    "trap 'echo debug' DEBUG; true; false",
    "f() { local x=1; echo $x; }; f",
    "echo a >&2 | cat; echo ${PIPESTATUS[0]-}",
    "echo $LINENO\necho $LINENO",
    "typeset x=1; echo $x",
    "source /nonexistent",
    "exec 3<>/dev/null; echo >&3",
    "printf -v x %03d 7; echo $x",
    "echo ${HOME/root/x}",
    "echo ~",
    "set -x; for i in 1 2; do : $i; done",
    "coproc cat; echo $?",
    "echo a &> /dev/null",
    "select x in; do :; done",
];

const FISH: &[&str] = &[
    "set x 5; echo $x",
    "set -gx x 6; sh -c 'echo $x'",
    "if true; echo yes; else; echo no; end",
    "for i in 1 2 3; echo $i; end",
    "for i in 1 2 3; test $i = 2; and break; echo $i; end; echo end",
    "while false; end; echo after",
    "switch abc; case 'a*'; echo match; end",
    "function f; echo in f $argv; return 4; end; f arg",
    "begin; echo a; echo b >&2; end",
    "begin; echo a; echo b >&2; end 2>&1 | sort",
    "math 6 x 7",
    "echo (echo one; echo two)",
    "count a b c",
    "not true",
    "true; and echo and; or echo or",
    "false; or echo or",
    "true && echo a || echo b",
    "string upper abc",
    "set l a b c; echo $l[2] (count $l)",
    "echo $status",
    "false; echo $status",
    "echo *.nomatch",
    "echo {a,b}c",
    "eval 'echo evaluated; false'",
    "eval 'exit 9'",
    "return 3",
    "trap 'echo bye' EXIT; echo hi",
    "trap 'echo bye' EXIT; exit 4",
    "read x; echo status $status",
    "printf 'a\\nb\\n' | while read l; echo $l; end",
    "if",
    "end",
    "echo (",
    "echo $",
    "set -l x 1; echo $x",
    "argparse h -- -h; echo $_flag_h",
    "cat (echo hi | psub)",
    "echo $argv",
    "exec nonexistent",
    "builtin nonexistent",
    "sh -c 'exit 7' &; wait; echo done",
    "contains a b c",
    "echo a | read x; echo $x",
    "source /nonexistent",
    "type nonexistent-command",
];

/// Commands that answer differently, and why that is right.
const DIFFERENT: &[(ShellKind, &str)] = &[
    // `bash -c` becomes its only command, so that no shell is left to say how
    // that died.
    (ShellKind::Bash, "sh -c 'kill -9 $$'"),
    (ShellKind::Bash, "sh -c 'kill -TERM $$'"),
    // `fish -c` ends with 0 where the whole text cannot be parsed.
    (ShellKind::Fish, "end"),
    (ShellKind::Fish, "echo ("),
    (ShellKind::Fish, "echo $"),
    (ShellKind::Fish, "builtin nonexistent"),
];

fn commands(kind: ShellKind) -> Vec<&'static str> {
    let more: &[&[&str]] = match kind {
        ShellKind::Fish => &[FISH],
        ShellKind::Bash | ShellKind::Zsh => &[POSIX, BASH_AND_ZSH],
        _ => &[POSIX],
    };
    let all = COMMON.iter().chain(more.iter().copied().flatten());
    all.copied()
        .filter(|command| !DIFFERENT.contains(&(kind, *command)))
        .collect()
}

/// What the shell says by itself.
fn alone(kind: ShellKind, command: &str, dir: &std::path::Path) -> (String, String, i32) {
    let shell = shell(kind);
    let name = shell.path.rsplit('/').next().expect("a name");
    let mut process = Command::new(&shell.path);
    match kind {
        ShellKind::Zsh => process.arg("-f"),
        ShellKind::Fish => process.arg("--no-config"),
        _ => &mut process,
    };
    process
        .arg0(name)
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .current_dir(dir);
    process.env("TZ", "UTC").process_group(0);
    let output = process.output().expect("the shell starts");
    let [out, err] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (out, err, code_of(output.status))
}

/// Takes the marks of `eval` out of the shell's own messages.
fn plain(kind: ShellKind, err: &str) -> String {
    let line = |line: &str| match kind {
        ShellKind::Bash => {
            let line = line.replacen("bash: eval: line", "bash: -c: line", 1);
            let depth = line.bytes().take_while(|&byte| byte == b'+').count();
            line[depth.saturating_sub(1)..].to_owned()
        }
        ShellKind::Zsh => line.replacen("(eval):", "zsh:", 1),
        ShellKind::Posix => line.replacen(": eval: ", ": ", 1),
        _ => line.to_owned(),
    };
    err.lines().map(line).map(|line| line + "\n").collect()
}

fn check(kind: ShellKind) {
    let dir = tempfile::tempdir().expect("a directory");
    let enter = format!("cd {}", dir.path().display());
    let mut driven = Driven::start(kind, Startup::Nothing, &[]);
    let mut differences = Vec::new();
    for command in commands(kind) {
        // Options would be kept, so each command has a shell that has seen
        // only commands without any; the directory is always the same.
        driven.out(&enter);
        driven.run("true");
        let expected = alone(kind, command, dir.path());
        let outcome = driven.run(command);
        let found = (
            outcome.out.clone(),
            plain(kind, &outcome.err),
            outcome.code(),
        );
        let expected = (expected.0, plain(kind, &expected.1), expected.2);
        if found != expected {
            differences.push(format!(
                "{command:?}\n  alone  {expected:?}\n  driven {found:?}"
            ));
        }
        let dirty = [
            "set -", "setopt", "trap", "exec", "umask", "IFS", "shift", "alias",
        ];
        if matches!(outcome.end, End::Died(_)) || dirty.iter().any(|word| command.contains(word)) {
            driven = Driven::start(kind, Startup::Nothing, &[]);
        }
    }
    let count = differences.len();
    assert!(
        differences.is_empty(),
        "{kind:?}: {count} differ\n{}",
        differences.join("\n")
    );
}

#[test]
fn bash_gives_what_it_gives_alone() {
    check(ShellKind::Bash);
}

#[test]
fn zsh_gives_what_it_gives_alone() {
    check(ShellKind::Zsh);
}

#[test]
fn dash_gives_what_it_gives_alone() {
    check(ShellKind::Posix);
}

#[test]
fn fish_gives_what_it_gives_alone() {
    check(ShellKind::Fish);
}

#[test]
fn every_kind_has_its_hundred_commands() {
    for kind in KINDS {
        assert!(commands(kind).len() >= 100, "{kind:?}");
    }
}
