//! Commands that end their shell, or seem to, and shells that others end.

use crate::matrix::{Case, each_case};
use glass_proto::shellglass::v1::SessionMode;
use rustix::process::{Pid, Signal, kill_process};
use shellglass_tests::{Daemon, eventually, exists};
use std::time::Duration;

/// By then an idle shell has been asked what it exports.
const ASKED_BY: Duration = Duration::from_millis(150);

/// The shell's own number, as its code says it.
fn own_pid(shell: &str) -> &'static str {
    if shell == "fish" { "$fish_pid" } else { "$$" }
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_gives_its_code_and_the_session_goes_on_where_it_was() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let export = case.export("LEFT", "behind");
        let result = case
            .session
            .stream(&format!("cd /usr; {export}; exit 5; echo never"))
            .await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert_eq!(
            (result.code, result.out().as_str()),
            (Some(5), ""),
            "{what}"
        );
        assert_eq!(
            result.shell_replaced,
            case.mode == SessionMode::Pipe,
            "{what}"
        );
        assert_eq!(result.cwd, "/usr", "{what}");
        let after = case.session.run("pwd; sh -c 'echo $LEFT'").await;
        assert_eq!(after.stdout, "/usr\nbehind\n", "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exec_gives_the_code_of_what_it_became() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let result = case
            .session
            .stream("exec sh -c 'echo became; exit 6'")
            .await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert_eq!(
            (result.code, result.out().as_str()),
            (Some(6), "became\n"),
            "{what}"
        );
        assert_eq!(
            result.shell_replaced,
            case.mode == SessionMode::Pipe,
            "{what}"
        );
        let after = case.session.run("pwd").await;
        assert_eq!(after.stdout, format!("{}\n", case.dir.display()), "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_killed_while_idle_is_replaced_before_the_next_command() {
    let daemon = Daemon::start("");
    for shell in crate::matrix::SHELLS {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        case.session.run(&case.export("KEPT", "yes")).await;
        let pid: u32 = case
            .session
            .run(&format!("echo {}", own_pid(shell)))
            .await
            .stdout
            .trim()
            .parse()
            .unwrap();
        kill(pid);
        for _ in 0..3 {
            let after = case.session.run("pwd; sh -c 'echo $KEPT'").await;
            let expected = format!("{}\nyes\n", case.dir.display());
            assert_eq!((after.code, after.stdout), (Some(0), expected), "{shell}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_shell_exported_is_kept_however_often_it_was_asked_in_between() {
    let daemon = Daemon::start("");
    let rest = || tokio::time::sleep(ASKED_BY);
    for shell in crate::matrix::SHELLS {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        for value in ["1", "2", "2", "3"] {
            case.session.run(&case.export("KEPT", value)).await;
            rest().await;
            let own = case.session.run(&format!("echo {}", own_pid(shell))).await;
            rest().await;
            kill(own.stdout.trim().parse().unwrap());
            let after = case.session.run("sh -c 'echo $KEPT'").await;
            assert_eq!(after.stdout, format!("{value}\n"), "{shell}");
        }
    }
}

/// What children of a process cost that it has waited for, in page faults: more than
/// before where there was another one.
fn faults_of_children(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit(") ").next().unwrap();
    after_name.split(' ').nth(8).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bash_that_exports_the_same_as_before_starts_no_program_to_say_so() {
    let daemon = Daemon::start("");
    let case = Case::make(&daemon, "bash", SessionMode::Pipe).await;
    let own = case.session.run("echo $$").await;
    let pid = own.stdout.trim().parse().unwrap();
    let cost_of = async |command: &str| {
        let before = faults_of_children(pid);
        assert_eq!(case.session.run(command).await.code, Some(0), "{command}");
        tokio::time::sleep(ASKED_BY).await;
        faults_of_children(pid) - before
    };
    tokio::time::sleep(ASKED_BY).await;
    for same in ["true", "x=1", "f() { true; }"] {
        assert_eq!(cost_of(same).await, 0, "{same}");
    }
    let before = faults_of_children(pid);
    case.session.run("export x").await;
    eventually("it says what has changed", || {
        faults_of_children(pid) > before
    })
    .await;
    assert_eq!(cost_of("true").await, 0, "that is known now");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_killed_while_busy_ends_its_command_with_the_signal() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let running = case
            .session
            .submit("echo some; touch begun; sleep 9881; touch NEXT")
            .await;
        exists(&case.dir.join("begun")).await;
        let shell = case.running_pid().await;
        kill(shell);
        let result = running.end().await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert_eq!((result.code, result.ends), (Some(137), 1), "{what}");
        assert_eq!(result.out(), "some\n", "{what}");
        assert_eq!(
            result.shell_replaced,
            case.mode == SessionMode::Pipe,
            "{what}"
        );
        assert_eq!(case.session.run("echo on").await.stdout, "on\n", "{what}");
        assert!(!case.dir.join("NEXT").exists(), "{what}");
        // What it had started is the session's to end.
        case.session.dispose().await;
    })
    .await;
    let left = shellglass_tests::processes();
    assert!(!left.iter().any(|(_, line)| line.contains("sleep 9881")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_that_make_failure_fatal_stay_until_they_end_the_shell() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh"] {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        let set = case.session.stream("set -euo pipefail").await;
        assert_eq!((set.code, set.shell_replaced), (Some(0), false), "{shell}");
        let fine = case
            .session
            .stream("echo fine; if false; then :; fi; false || true")
            .await;
        assert_eq!(
            (fine.code, fine.shell_replaced),
            (Some(0), false),
            "{shell} {fine:?}"
        );
        let fatal = case
            .session
            .stream("echo a; false | true; echo never")
            .await;
        assert_eq!(
            (fatal.code, fatal.out().as_str()),
            (Some(1), "a\n"),
            "{shell} {fatal:?}"
        );
        assert!(fatal.shell_replaced, "{shell}");
        let after = case
            .session
            .stream("false; echo forgiven; echo \"$unset_here\"")
            .await;
        assert_eq!(after.out(), "forgiven\n\n", "{shell}");
    }
    for shell in crate::matrix::SHELLS {
        if shell == "fish" {
            continue;
        }
        let case = Case::make(&daemon, shell, SessionMode::Line).await;
        assert_eq!(case.session.run("set -e").await.code, Some(0));
        let after = case.session.run("false; echo its own shell").await;
        assert_eq!(after.stdout, "its own shell\n", "{shell}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_syntax_error_is_a_failure_of_its_command_alone() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        for broken in ["echo 'unfinished", "echo (((", "&& true"] {
            let result = case.session.stream(broken).await;
            let what = format!("{} {:?} {broken}: {result:?}", case.shell, case.mode);
            assert!(result.code.is_some_and(|code| code != 0), "{what}");
            assert!(!result.err().is_empty(), "{what}");
            let replaced = case.mode == SessionMode::Pipe && case.shell == "dash";
            assert_eq!(result.shell_replaced, replaced, "{what}");
            assert_eq!(case.session.run("echo on").await.stdout, "on\n", "{what}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_words_outside_of_a_loop_do_no_harm() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        for word in ["break", "continue", "break 2", "return 3"] {
            let result = case.session.stream(&format!("echo before; {word}")).await;
            let what = format!("{} {:?} {word}: {result:?}", case.shell, case.mode);
            assert_eq!(result.ends, 1, "{what}");
            let after = case.session.run("echo on").await;
            assert_eq!(
                (after.code, after.stdout.as_str()),
                (Some(0), "on\n"),
                "{what}"
            );
        }
    })
    .await;
}
