//! What a session remembers, and what it does not.

use crate::matrix::{Case, each_case};
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, exists};
use std::process::Command;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_cd_leaves_the_session_where_it_was() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let result = case.session.stream("cd /nonexistent/directory").await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert!(result.code.is_some_and(|code| code != 0), "{what}");
        assert!(result.err().contains("nonexistent"), "{what}");
        assert_eq!(result.cwd, case.dir.to_string_lossy(), "{what}");
        let after = case.session.run("pwd").await;
        assert_eq!(after.stdout, format!("{}\n", case.dir.display()), "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clear_is_a_program_like_any_other() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let result = case
            .session
            .stream("echo a; TERM=xterm clear; echo b")
            .await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert_eq!(result.code, Some(0), "{what}");
        assert!(result.out().starts_with("a\n\u{1b}["), "{what}");
        assert!(result.out().ends_with("b\n"), "{what}");
        assert_eq!(case.session.run("cls").await.code, Some(127), "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirections_of_the_shell_end_with_their_command() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        if case.shell == "fish" {
            return;
        }
        let hidden = case
            .session
            .stream("exec >out.txt 2>err.txt; echo a; echo b >&2")
            .await;
        let what = format!("{} {:?} {hidden:?}", case.shell, case.mode);
        assert_eq!(
            (hidden.code, hidden.out(), hidden.err()),
            (Some(0), String::new(), String::new()),
            "{what}"
        );
        let seen = case
            .session
            .stream("echo seen; cat out.txt err.txt >&2")
            .await;
        assert_eq!(
            (seen.out().as_str(), seen.err().as_str()),
            ("seen\n", "a\nb\n"),
            "{what}"
        );
        let closed = case
            .session
            .stream("exec >&- 2>&- </dev/null; echo lost")
            .await;
        assert_eq!(closed.ends, 1, "{what}");
        assert_eq!(case.session.run("echo on").await.stdout, "on\n", "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exit_trap_fires_at_the_end_of_its_command_once() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        for (command, code) in [
            ("trap 'echo bye' EXIT; echo hello", 0),
            ("trap 'echo bye' EXIT; echo hello; sh -c 'exit 4'", 4),
            ("trap 'echo bye' EXIT; echo hello; exit 9", 9),
        ] {
            let result = case.session.stream(command).await;
            let what = format!("{} {:?} {command}: {result:?}", case.shell, case.mode);
            assert_eq!(result.out(), "hello\nbye\n", "{what}");
            assert_eq!(result.code, Some(code), "{what}");
            let after = case.session.run("echo on").await;
            assert_eq!(
                (after.stdout.as_str(), after.stderr.as_str()),
                ("on\n", ""),
                "{what}"
            );
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn traps_on_debug_and_err_see_commands_and_never_the_driver() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh"] {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        let set = case.session.stream("trap 'echo failed' ERR").await;
        assert_eq!(
            (set.code, set.out().as_str()),
            (Some(0), ""),
            "{shell} {set:?}"
        );
        for _ in 0..2 {
            let result = case.session.stream("echo a; false; echo b").await;
            assert_eq!(result.out(), "a\nfailed\nb\n", "{shell} {result:?}");
            assert_eq!(result.err(), "", "{shell}");
        }
        case.session
            .run("trap - ERR; trap 'echo debugged' DEBUG")
            .await;
        let result = case.session.stream("echo a").await;
        assert_eq!(result.out(), "debugged\na\n", "{shell} {result:?}");
        assert_eq!(result.err(), "", "{shell}");
        case.session.run("trap - DEBUG").await;
        let result = case.session.stream("echo plain").await;
        assert_eq!(result.out(), "plain\n", "{shell}");
    }
}

/// What a DEBUG trap prints of the driver is not seen, but what it counts is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_debug_trap_of_bash_fires_three_times_for_the_driver() {
    let daemon = Daemon::start("");
    let case = Case::make(&daemon, "bash", SessionMode::Pipe).await;
    case.session.run("true").await;
    case.session.run("trap 'fired=$((fired + 1))' DEBUG").await;
    let fired = async |command: &str| -> u32 {
        let result = case.session.stream(command).await;
        result.out().trim().parse().expect("a number")
    };
    let first = fired("echo $fired").await;
    // Its own statement, and three of the driver's.
    let second = fired("echo $fired").await;
    assert_eq!(second - first, 4);
    let long = format!("echo $fired # {}", "x".repeat(200));
    let third = fired(&long).await;
    assert_eq!(third - second, 4);
    // After a failure one more of the driver's gives its status back.
    case.session.run("false").await;
    let last = fired("echo $fired").await;
    assert_eq!(last - third, 4 + 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_shows_the_command_and_never_the_driver() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "dash"] {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        case.session.run("set -x").await;
        for _ in 0..2 {
            let result = case.session.stream("echo traced").await;
            assert_eq!(result.out(), "traced\n", "{shell} {result:?}");
            let trace = result.err();
            assert_eq!(trace.lines().count(), 1, "{shell} {trace}");
            assert!(
                trace.contains("echo traced") && !trace.contains("__sg"),
                "{shell} {trace}"
            );
        }
        case.session.run("set -v +x").await;
        let result = case.session.stream("echo verbose").await;
        assert!(!result.err().contains("__sg"), "{shell} {result:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standard_input_is_empty() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        for command in [
            "cat; echo ended",
            "wc -c >/dev/null; echo ended",
            "read x; echo ended",
        ] {
            let result = case.session.stream(command).await;
            let what = format!("{} {:?} {command}: {result:?}", case.shell, case.mode);
            assert_eq!(
                (result.code, result.out().as_str()),
                (Some(0), "ended\n"),
                "{what}"
            );
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_background_job_that_keeps_the_pipes_does_not_keep_its_command() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let job = "sh -c 'until test -e go; do sleep 0.02; done; echo late; echo bad >&2'";
        let result = case.session.stream(&format!("echo now; {job} &")).await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert_eq!(
            (result.code, result.out().as_str()),
            (Some(0), "now\n"),
            "{what}"
        );
        for number in 0..5 {
            let other = case.session.run(&format!("echo {number}")).await;
            assert_eq!(other.stdout, format!("{number}\n"), "{what}");
        }
        std::fs::write(case.dir.join("go"), "").unwrap();
        case.session
            .expect_output(result.shell_id, "now\nlate\nbad\n")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_output_stays_with_its_execution_however_close_the_next_one_follows() {
    let daemon = Daemon::start("");
    let case = Case::make(&daemon, "bash", SessionMode::Pipe).await;
    for round in 0..400 {
        let command = format!("echo now; (sleep 0.00{}; printf later) &", round % 10);
        let first = case.session.stream(&command).await;
        if round % 3 == 0 {
            let next = case.session.stream("true").await;
            assert_eq!(next.out(), "", "round {round}");
        }
        if round % 40 == 39 {
            case.session.stream("exit 3").await;
        }
        case.session
            .expect_output(first.shell_id, "now\nlater")
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_warm_shell_keeps_functions_aliases_arrays_and_options() {
    let daemon = Daemon::start("");
    let cases: [(&str, &[(&str, &str)]); 4] = [
        (
            "bash",
            &[
                (
                    "greet() { echo \"hi $1\"; }; plain=kept; list=(a 'b c')",
                    "",
                ),
                (
                    "greet you; echo $plain \"${list[1]}\"",
                    "hi you\nkept b c\n",
                ),
                ("shopt -s expand_aliases; alias ll='echo aliased'", ""),
                ("ll", "aliased\n"),
                ("shopt -s nullglob; set -o noclobber", ""),
                ("echo none*here; echo $-", "\nhBCc\n"),
                (
                    "declare -A map=([k]=v); declare -i number=1; readonly fixed=1",
                    "",
                ),
                ("number=number+4; echo ${map[k]} $number", "v 5\n"),
                (
                    "pushd / >/dev/null; pushd /usr >/dev/null; popd >/dev/null",
                    "",
                ),
                ("pwd", "/\n"),
            ],
        ),
        (
            "zsh",
            &[
                (
                    "greet() { echo \"hi $1\"; }; plain=kept; list=(a 'b c')",
                    "",
                ),
                (
                    "greet you; echo $plain \"${list[2]}\"",
                    "hi you\nkept b c\n",
                ),
                ("alias ll='echo aliased'", ""),
                ("ll", "aliased\n"),
                ("setopt nullglob; typeset -A map; map=(k v)", ""),
                ("echo none*here; echo ${map[k]}", "\nv\n"),
            ],
        ),
        (
            "fish",
            &[
                (
                    "function greet; echo hi $argv; end; set -g plain kept; set -g list a 'b c'",
                    "",
                ),
                ("greet you; echo $plain $list[2]", "hi you\nkept b c\n"),
                ("alias ll 'echo aliased'", ""),
                ("ll", "aliased\n"),
            ],
        ),
        (
            "dash",
            &[
                ("greet() { echo \"hi $1\"; }; plain=kept", ""),
                ("greet you; echo $plain", "hi you\nkept\n"),
                ("alias ll='echo aliased'", ""),
                ("ll", "aliased\n"),
            ],
        ),
    ];
    for (shell, steps) in cases {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        for (command, expected) in steps {
            let result = case.session.run(command).await;
            assert_eq!(result.stdout, *expected, "{shell} {command}: {result:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn line_mode_keeps_the_directory_and_what_is_exported_alone() {
    let daemon = Daemon::start("");
    for shell in crate::matrix::SHELLS {
        let case = Case::make(&daemon, shell, SessionMode::Line).await;
        let export = case.export("CARRIED", "over");
        let plain = if shell == "fish" {
            "set -g plain gone"
        } else {
            "plain=gone"
        };
        case.session
            .run(&format!("{export}; {plain}; cd /usr"))
            .await;
        let result = case.session.run("pwd; echo \"[$plain]\" $CARRIED").await;
        assert_eq!(result.stdout, "/usr\n[] over\n", "{shell}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_activated_virtual_environment_stays_and_survives_its_shell() {
    let daemon = Daemon::start("");
    let venv = daemon.home().join("venv");
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&venv)
        .status();
    assert!(made.unwrap().success());
    each_case(&daemon, async |case: Case| {
        let script = match case.shell {
            "fish" => venv.join("bin/activate.fish"),
            _ => venv.join("bin/activate"),
        };
        let activated = case.session.run(&format!(". '{}'", script.display())).await;
        let what = format!("{} {:?} {activated:?}", case.shell, case.mode);
        assert_eq!(activated.code, Some(0), "{what}");
        let which = "sh -c 'command -v python; echo $VIRTUAL_ENV'";
        let expected = format!("{0}/bin/python\n{0}\n", venv.display());
        assert_eq!(case.session.run(which).await.stdout, expected, "{what}");
        let running = case.session.submit("touch begun; sleep 9882").await;
        exists(&case.dir.join("begun")).await;
        assert!(case.session.cancel(None).await, "{what}");
        assert!(running.end().await.aborted, "{what}");
        assert_eq!(case.session.run(which).await.stdout, expected, "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_of_a_command_is_seen_by_the_next() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "dash"] {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        case.session.run("sh -c 'exit 42'").await;
        assert_eq!(case.session.run("echo $?").await.stdout, "42\n", "{shell}");
        assert_eq!(case.session.run("echo $?").await.stdout, "0\n", "{shell}");
    }
}
