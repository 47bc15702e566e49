//! Traps that commands set.

use crate::harness::{Driven, End, blank};
use glass_model::{ShellKind, Startup};
use glass_session::driver::Request;
use std::path::Path;

const POSIX_LIKE: [ShellKind; 3] = [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix];

#[test]
fn an_exit_trap_fires_once_at_the_end_of_its_command() {
    for kind in POSIX_LIKE {
        let mut shell = Driven::warm(kind);
        let first = shell.run("trap 'echo bye $?' EXIT; echo hello; (exit 3)");
        assert_eq!(
            (first.end, first.out.as_str()),
            (End::Done(3), "hello\nbye 3\n"),
            "{kind:?}"
        );
        assert_eq!(shell.out("echo next"), "next\n", "{kind:?}");
        assert_eq!(
            shell.out("trap 'echo two\necho lines' EXIT"),
            "two\nlines\n",
            "{kind:?}"
        );
        assert_eq!(
            shell.out("trap 'echo no' EXIT; trap - EXIT"),
            "",
            "{kind:?}"
        );
    }
    let mut fish = Driven::warm(ShellKind::Fish);
    assert_eq!(fish.out("trap 'echo bye' EXIT; echo hello"), "hello\nbye\n");
    assert_eq!(fish.out("echo next"), "next\n");
}

#[test]
fn an_exit_trap_fires_once_when_its_command_exits() {
    for kind in POSIX_LIKE {
        for (command, code) in [
            ("trap 'echo bye' EXIT; exit 4", 4),
            ("set -e; trap 'echo bye' EXIT; false", 1),
        ] {
            let mut shell = Driven::warm(kind);
            let outcome = shell.run(command);
            assert_eq!(
                (outcome.end, outcome.out.as_str()),
                (End::Died(code), "bye\n"),
                "{kind:?}"
            );
            assert_eq!(outcome.err, "", "{kind:?}");
        }
    }
    let mut fish = Driven::warm(ShellKind::Fish);
    let outcome = fish.run("trap 'echo bye' EXIT; exit 4");
    assert_eq!((outcome.end, outcome.out.as_str()), (End::Died(4), "bye\n"));
}

#[test]
fn an_exit_trap_can_change_the_status() {
    for kind in POSIX_LIKE {
        let mut shell = Driven::warm(kind);
        assert_eq!(
            shell.run("trap 'echo bye; exit 9' EXIT; false").end,
            End::Died(9),
            "{kind:?}"
        );
    }
}

#[test]
fn traps_and_traces_of_the_user_do_not_speak_of_our_code() {
    for (kind, prefix) in [
        (ShellKind::Bash, "++ "),
        (ShellKind::Zsh, "+(eval):1> "),
        (ShellKind::Posix, "+ "),
    ] {
        let mut shell = Driven::warm(kind);
        let first = shell.run("set -x; trap 'echo bye' EXIT; true");
        assert_eq!(first.out, "bye\n", "{kind:?}");
        assert!(!first.err.contains("__sg"), "{kind:?}: {}", first.err);
        assert_eq!(
            shell.run("echo traced").err,
            format!("{prefix}echo traced\n"),
            "{kind:?}"
        );
        assert_eq!(
            shell.run("set +x").err,
            format!("{prefix}set +x\n"),
            "{kind:?}"
        );
        let last = shell.run("set -x; exit 3");
        assert_eq!(last.end, End::Died(3));
        assert_eq!(last.err, format!("{prefix}exit 3\n"), "{kind:?}");
    }
}

#[test]
fn debug_and_error_traps_write_as_often_as_without_a_driver() {
    for kind in [ShellKind::Bash, ShellKind::Zsh] {
        let mut shell = Driven::warm(kind);
        shell.out("trap 'echo debug' DEBUG");
        assert_eq!(shell.out("true"), "debug\n", "{kind:?}");
        assert_eq!(shell.out("trap - DEBUG"), "debug\n", "{kind:?}");
        assert_eq!(
            shell.out("trap 'echo error' ERR; false"),
            "error\n",
            "{kind:?}"
        );
        assert_eq!(shell.out("false"), "error\n", "{kind:?}");
        shell.out("trap - ERR");
        assert_eq!(shell.out("false"), "", "{kind:?}");
    }
}

/// How often a DEBUG trap fires from one command to the next: for the commands
/// themselves, and for our code around them.
fn debug_counts(shell: &mut Driven, counted: &Path) -> [usize; 4] {
    let long = format!("true {}", "x".repeat(200));
    let env = [("ONE".to_owned(), "1".to_owned())];
    let plain = |command| Request { command, ..blank() };
    let with_env = Request {
        env: &env,
        ..plain("true")
    };
    [plain("true"), plain("false"), plain(&long), with_env].map(|request| {
        shell.out(&format!(": >|{}", counted.display()));
        shell.run_with(request);
        let seen = shell.out(&format!("cat {}", counted.display()));
        seen.lines().count()
    })
}

#[test]
fn a_debug_trap_sees_little_of_our_code() {
    let dir = tempfile::tempdir().expect("a directory");
    let counted = dir.path().join("counted");
    let set = format!("trap 'echo >>{}' DEBUG", counted.display());
    // Both for the command and for the next, which shows the count: one for it, and
    // three for us. After a command that failed there is one more of ours.
    let expected = [8, 9, 8, 8];
    let mut shell = Driven::warm(ShellKind::Bash);
    shell.out("true");
    shell.out(&set);
    assert_eq!(debug_counts(&mut shell, &counted), expected);

    std::fs::write(dir.path().join(".bashrc"), set).expect("a start file");
    let home = dir.path().to_str().expect("a plain path");
    let mut shell = Driven::start(ShellKind::Bash, Startup::Rc, &[("HOME", home)]);
    assert_eq!(debug_counts(&mut shell, &counted), expected);
    shell.out("trap - DEBUG");
    assert_eq!(debug_counts(&mut shell, &counted), [0; 4]);
}

#[test]
fn a_signal_trap_stays() {
    for kind in POSIX_LIKE {
        let mut shell = Driven::warm(kind);
        shell.out("trap 'echo caught' INT");
        assert_eq!(
            shell.out("kill -INT $$; echo on"),
            "caught\non\n",
            "{kind:?}"
        );
    }
}
