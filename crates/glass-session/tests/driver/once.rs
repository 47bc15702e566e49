//! The once driver: one command, whose shell is the boundary.

use crate::harness::{Driven, End, KINDS, Outcome, blank, plain_descriptors, shell};
use glass_model::{ShellKind, Startup};
use glass_session::driver::{Request, State, Style, state_name};

fn once(kind: ShellKind, request: Request<'_>) -> (Outcome, Option<State>) {
    let mut driven = Driven::launch(&shell(kind), Startup::Nothing, Style::Once, &[]);
    driven.begin(request);
    let end = driven.finish(0).end;
    let read = |name| std::fs::read_to_string(driven.dir.path().join(name)).expect("output");
    let outcome = Outcome {
        end,
        out: read("so"),
        err: read("se"),
    };
    let state = driven.state(&state_name(1));
    (outcome, state)
}

fn run(kind: ShellKind, command: &str) -> (Outcome, Option<State>) {
    once(kind, Request { command, ..blank() })
}

#[test]
fn the_shell_ends_as_the_command_did() {
    for kind in KINDS {
        for (command, code) in [
            ("true", 0),
            ("false", 1),
            ("sh -c 'exit 42'", 42),
            ("exit 7", 7),
        ] {
            assert_eq!(
                run(kind, command).0.end,
                End::Died(code),
                "{kind:?} {command}"
            );
        }
        let (outcome, _) = run(kind, "echo out; echo err >&2; cat");
        assert_eq!(
            (outcome.out.as_str(), outcome.err.as_str()),
            ("out\n", "err\n"),
            "{kind:?}"
        );
        let pid = if kind == ShellKind::Fish {
            "$fish_pid"
        } else {
            "$$"
        };
        assert_eq!(
            run(kind, &format!("kill -9 {pid}")).0.end,
            End::Died(137),
            "{kind:?}"
        );
    }
}

#[test]
fn the_state_is_left_behind() {
    for kind in KINDS {
        let export = if kind == ShellKind::Fish {
            "set -gx Y 1"
        } else {
            "export Y=1"
        };
        for ending in ["", "; false", "; exit 3"] {
            let (_, state) = run(kind, &format!("{export}; cd /usr{ending}"));
            let state = state.expect("there is a state");
            assert_eq!(state.cwd, b"/usr", "{kind:?} {ending}");
            assert!(state.env.contains(&b"Y=1".to_vec()), "{kind:?} {ending}");
        }
    }
}

#[test]
fn traps_and_traces_are_those_of_the_command() {
    for kind in [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix] {
        let (outcome, state) = run(kind, "cd /usr; trap 'echo bye' EXIT; echo hi; false");
        assert_eq!(
            (outcome.end, outcome.out.as_str()),
            (End::Died(1), "hi\nbye\n"),
            "{kind:?}"
        );
        assert_eq!(
            state.map(|state| state.cwd),
            Some(b"/usr".to_vec()),
            "{kind:?}"
        );
        let (outcome, _) = run(kind, "trap 'echo bye' EXIT; exit 4");
        assert_eq!(
            (outcome.end, outcome.out.as_str()),
            (End::Died(4), "bye\n"),
            "{kind:?}"
        );
        let (outcome, _) = run(kind, "set -x; echo hi");
        assert!(
            outcome.err.ends_with("echo hi\n"),
            "{kind:?}: {}",
            outcome.err
        );
        assert!(!outcome.err.contains("__sg"), "{kind:?}: {}", outcome.err);
        assert_eq!(outcome.err.lines().count(), 1, "{kind:?}: {}", outcome.err);
    }
    for kind in [ShellKind::Bash, ShellKind::Zsh] {
        let (outcome, _) = run(kind, "trap 'echo error' ERR; false");
        assert_eq!(outcome.out, "error\n", "{kind:?}");
        let (outcome, _) = run(kind, "trap 'echo debug' DEBUG; true");
        assert_eq!(outcome.out, "debug\n", "{kind:?}");
    }
}

#[test]
fn the_command_sees_only_its_own_descriptors() {
    for kind in KINDS {
        let (outcome, _) = run(kind, "ls /proc/self/fd");
        assert_eq!(outcome.out, plain_descriptors(), "{kind:?}");
    }
}

#[test]
fn variables_directory_and_long_commands_are_those_of_the_request() {
    let env = [("ONE".to_owned(), "it's $x".to_owned())];
    for kind in KINDS {
        let (outcome, _) = once(
            kind,
            Request {
                env: &env,
                cwd: Some(b"/usr"),
                tool_call_id: "call_1",
                command: "printenv ONE SHELLGLASS_TOOL_CALL_ID; pwd",
                ..blank()
            },
        );
        assert_eq!(outcome.out, "it's $x\ncall_1\n/usr\n", "{kind:?}");
        let long = format!("printf %s '{}' | wc -c", "x".repeat(100_000));
        assert_eq!(run(kind, &long).0.out, "100000\n", "{kind:?}");
        let missing = Request {
            cwd: Some(b"/nonexistent"),
            command: "echo ran",
            ..blank()
        };
        assert_eq!(once(kind, missing).0.end, End::NoCwd, "{kind:?}");
    }
}
