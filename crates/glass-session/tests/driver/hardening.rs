//! Options, functions and variables that could get in a driver's way.

use crate::harness::{Driven, End, KINDS, Outcome};
use glass_model::ShellKind;

/// Runs each command and then checks that the shell still works.
fn survives(kind: ShellKind, commands: &[&str]) {
    let mut shell = Driven::warm(kind);
    for command in commands {
        let outcome = shell.run(command);
        assert!(
            matches!(outcome.end, End::Done(_)),
            "{kind:?} {command}: {outcome:?}"
        );
        assert!(
            !outcome.err.contains("__sg"),
            "{kind:?} {command}: {outcome:?}"
        );
        let after = shell.run("echo ok");
        assert_eq!(
            (after.end, after.out.as_str()),
            (End::Done(0), "ok\n"),
            "{kind:?} {command}"
        );
        assert!(
            !after.err.contains("__sg"),
            "{kind:?} {command}: {}",
            after.err
        );
    }
}

#[test]
fn a_driver_survives_what_any_posix_shell_can_do_to_itself() {
    for kind in [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix] {
        survives(
            kind,
            &[
                "set -u",
                "set -e",
                "set -f",
                "set -x",
                "set +x",
                "set -v",
                "set +v",
                "set -a",
                "set -C",
                "IFS=0123456789",
                "IFS=",
                "unset IFS",
                "LC_ALL=C",
                "PATH=",
                "unset PATH",
                "unset PWD",
                "unset HOME",
                "unset OLDPWD",
                "set -- a b c",
                "readonly x=1",
                "printf() { :; }; read() { :; }; cd() { :; }; test() { :; }; env() { :; }",
                "true() { return 1; }; false() { return 0; }",
                "break 9; echo no",
                "alias eval=: while=: printf=: case=:",
                "break",
                "continue",
                "exec 9>&1",
                "exec 8<&-",
                "exec 9>&-",
                "exec 0<&-",
                "ulimit -n 64",
                "umask 777",
                "trap '' INT TERM HUP PIPE",
                "sleep 0 & wait",
            ],
        );
    }
}

#[test]
fn a_driver_survives_what_bash_can_do_to_itself() {
    survives(
        ShellKind::Bash,
        &[
            "set -o posix",
            "set +o posix",
            "shopt -s extdebug",
            "shopt -s nocasematch nullglob",
            "shopt -s failglob",
            "shopt -s expand_aliases",
            "set -T; set -E",
            "trap 'echo debug >&2' DEBUG",
            "trap 'true' ERR",
            "trap 'echo r' RETURN",
            "eval() { :; }; mapfile() { :; }; exit() { :; }; trap() { :; }; export() { :; }",
            "exec() { :; }",
            "declare() { :; }; unset() { :; }; return() { :; }",
            "readonly IFS",
            "readonly PWD",
            "PS4='$(echo evil)'",
            "BASH_XTRACEFD=2",
            "set -o pipefail",
            "shopt -s lastpipe",
            "hash -r",
            "unset BASH_ENV",
            "set +B; set +h",
            "return 3",
            "if",
            "echo 'unclosed",
            "shopt -u sourcepath",
            "CDPATH=/usr",
        ],
    );
}

#[test]
fn a_driver_survives_what_zsh_can_do_to_itself() {
    survives(
        ShellKind::Zsh,
        &[
            "setopt sh_word_split",
            "setopt no_unset",
            "setopt null_glob",
            "setopt ksh_arrays",
            "setopt glob_subst",
            "setopt err_return",
            "setopt no_clobber",
            "setopt all_export",
            "setopt xtrace",
            "setopt no_xtrace",
            "setopt warn_create_global",
            "setopt posix_builtins",
            "setopt auto_pushd chase_links",
            "setopt rc_quotes",
            "setopt ksh_glob no_glob",
            "emulate sh",
            "emulate ksh",
            "emulate zsh",
            "setopt no_aliases",
            "eval() { :; }; emulate() { :; }; exit() { :; }",
            "alias -g ok2=x",
            "chpwd() { echo chpwd; }",
            "typeset -r kind=1 seq=2",
            "typeset -r PWD",
            "TRAPZERR() { :; }",
            "TRAPDEBUG() { :; }",
            "if",
            "echo 'unclosed",
            "echo *.nomatch",
            "unset -f chpwd",
        ],
    );
}

#[test]
fn a_driver_survives_what_fish_can_do_to_itself() {
    survives(
        ShellKind::Fish,
        &[
            "function printf; end",
            "function read; end",
            "function cd; end",
            "function test; end",
            "function set_color; end",
            "function true; return 1; end",
            "function string; end",
            "set -e PATH",
            "set -x PATH",
            "break",
            "continue",
            "set -g status2 1",
            "set -gx LC_ALL C",
            "set -g x (seq 100)",
            "if",
            "echo 'unclosed",
            "echo *.nomatch",
            "foo",
            "set -g argv a b",
            "umask 777",
        ],
    );
}

fn ended(kind: ShellKind, command: &str) -> Outcome {
    Driven::warm(kind).run(command)
}

#[test]
fn a_shell_that_ends_gives_its_own_code() {
    for kind in KINDS {
        assert_eq!(ended(kind, "exit 7").end, End::Died(7), "{kind:?}");
        assert_eq!(
            ended(kind, "exec sh -c 'exit 5'").end,
            End::Died(5),
            "{kind:?}"
        );
        let pid = if kind == ShellKind::Fish {
            "$fish_pid"
        } else {
            "$$"
        };
        assert_eq!(
            ended(kind, &format!("kill -9 {pid}")).end,
            End::Died(137),
            "{kind:?}"
        );
        assert_eq!(
            ended(kind, &format!("kill -TERM {pid}")).end,
            End::Died(143),
            "{kind:?}"
        );
    }
    for kind in [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix] {
        assert_eq!(
            ended(kind, "set -e; echo a; false; echo b").end,
            End::Died(1),
            "{kind:?}"
        );
        assert_eq!(
            ended(kind, "exec /nonexistent").end,
            End::Died(127),
            "{kind:?}"
        );
        let outcome = ended(kind, "echo ${x?gone}; echo b");
        assert!(matches!(outcome.end, End::Died(_)), "{kind:?}");
        assert!(outcome.err.contains("gone"), "{kind:?}: {}", outcome.err);
    }
}

#[test]
fn a_command_looks_like_one_of_its_own_shell() {
    let mut bash = Driven::warm(ShellKind::Bash);
    assert_eq!(bash.out("echo $0 $# $LINENO $-"), "bash 0 1 hBc\n");
    assert_eq!(
        bash.run("foo").err,
        "bash: line 1: foo: command not found\n"
    );
    assert_eq!(
        bash.run("echo a\nfoo").err,
        "bash: line 2: foo: command not found\n"
    );
    let mut zsh = Driven::warm(ShellKind::Zsh);
    assert_eq!(zsh.out("echo $0 $# $LINENO"), "zsh 0 1\n");
    assert_eq!(zsh.run("foo").err, "(eval):1: command not found: foo\n");
    let mut dash = Driven::warm(ShellKind::Posix);
    assert_eq!(dash.out("echo $0 $#"), "dash 0\n");
    assert_eq!(dash.run("foo").err, "dash: 1: eval: foo: not found\n");
    let mut fish = Driven::warm(ShellKind::Fish);
    assert_eq!(fish.out("echo (count $argv)"), "0\n");
    assert!(
        fish.run("foo")
            .err
            .starts_with("fish: Unknown command: foo\n")
    );
}

#[test]
fn a_time_limit_for_reading_does_not_end_a_shell_that_waits() {
    for command in ["TMOUT=1", "readonly TMOUT=1"] {
        let mut shell = Driven::warm(ShellKind::Bash);
        assert_eq!(shell.run(command).end, End::Done(0));
        // Longer than the limit, which is whole seconds.
        std::thread::sleep(std::time::Duration::from_millis(1_300));
        assert_eq!(shell.out("echo still"), "still\n");
    }
}

#[test]
fn a_command_arrives_as_it_is_whatever_surrounds_it() {
    let mut shell = Driven::warm(ShellKind::Bash);
    shell.run("IFS=0123456789; shopt -s nocasematch extglob");
    let commands = [
        "  echo a  ",
        "\n\techo a\n\n",
        "echo a \\\n b",
        "echo 'a\\b\\' \"$((1 + 2))\"",
        "echo 'pPp' # p",
        "echo ä; echo a",
        "echo a\u{1}b\u{7f}c",
        "echo a\r",
    ];
    for command in commands {
        let plain = std::process::Command::new("/usr/bin/bash")
            .args(["-c", command])
            .output()
            .expect("bash runs");
        assert_eq!(shell.out(command).as_bytes(), plain.stdout, "{command:?}");
    }
}
