//! What one daemon leaves, the next one takes up.

use super::birth;
use super::client::{Stubborn, request};
use super::workload::EVERYWHERE;
use glass_proto::shellglass::v1::{self as wire, SessionMode};
use shellglass_tests::{Daemon, eventually};
use std::time::Duration;

/// Longer than a shell is idle before it is asked what it exports.
const IDLE: Duration = Duration::from_millis(150);

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_shell_and_what_it_remembers_outlive_crashes() {
    let mut daemon = Daemon::start("");
    let client = Stubborn::new(&daemon.socket());
    let mut shells = Vec::new();
    for shell in ["bash", "zsh", "fish", "dash"] {
        let session = client.create(shell, SessionMode::Pipe, daemon.home()).await;
        let (set, pid) = match shell {
            "fish" => ("set -g kept yes", "$fish_pid"),
            _ => ("kept=yes", "$$"),
        };
        let first = client
            .run(
                &session,
                &format!("{set}; echo {pid}"),
                &format!("{shell}-set"),
            )
            .await;
        shells.push((shell, session, pid, first.stdout));
    }
    for round in 0..3 {
        tokio::time::sleep(IDLE).await;
        daemon.crash_and_restart();
        for (shell, session, pid, first) in &shells {
            let ask = format!("echo {pid}; echo $kept");
            let result = client.run(session, &ask, &format!("{shell}-{round}")).await;
            assert_eq!(result.stdout, format!("{first}yes\n"), "{shell} {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_ends_its_shell_while_no_daemon_lives_keeps_its_code() {
    let mut daemon = Daemon::start("");
    let client = Stubborn::new(&daemon.socket());
    for (shell, mode) in EVERYWHERE {
        let session = client.create(shell, mode, daemon.home()).await;
        let go = daemon.home().join(format!("go-{session}"));
        let command = format!(
            "echo before; sh -c 'until test -e {}; do sleep 0.01; done'; echo after; exit 4",
            go.display()
        );
        let running = {
            let (client, session) = (client.clone(), session.clone());
            tokio::spawn(async move { client.run(&session, &command, &session).await })
        };
        let (_, pid) = super::started(&client, &session).await;
        daemon.kill();
        std::fs::write(go, "").unwrap();
        eventually("the shell has left", || birth(pid).is_none()).await;
        daemon.spawn();
        daemon.wait_until_ready();
        let result = running.await.unwrap();
        assert_eq!(result.code, Some(4), "{shell} {mode:?}");
        assert_eq!(result.stdout, "before\nafter\n", "{shell} {mode:?}");
        let key = format!("{session}-2");
        let next = client.run(&session, "echo on", &key).await;
        assert_eq!(next.stdout, "on\n", "{shell} {mode:?}");
    }
}

/// The daemon dies when everything of a command is ended and nothing of that is
/// written: the next one must not take what the kernel says for the command's end.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_a_dead_daemon_was_ending_is_told_as_ended_by_it() {
    for (shell, mode) in [("bash", SessionMode::Pipe), ("bash", SessionMode::Line)] {
        for times_out in [false, true] {
            let mut daemon = Daemon::start("");
            daemon.kill();
            daemon.set_variable("SHELLGLASS_FAILPOINT", Some("drained"));
            daemon.spawn();
            daemon.wait_until_ready();
            let client = Stubborn::new(&daemon.socket());
            let session = client.create(shell, mode, daemon.home()).await;
            let mut sleeps = request(&session, "sleep 1000", "sleeps");
            if times_out && let Some(args) = &mut sleeps.args {
                args.timeout = 300;
            }
            let running = {
                let (client, sleeps) = (client.clone(), sleeps.clone());
                tokio::spawn(async move { client.run_request(sleeps).await })
            };
            super::started(&client, &session).await;
            let cancelled = (!times_out).then(|| {
                let (client, session_id) = (client.clone(), session.clone());
                tokio::spawn(async move {
                    let cancel = |mut client: shellglass_tests::Client| {
                        let request = wire::CancelRequest {
                            session_id: session_id.clone(),
                            ..wire::CancelRequest::default()
                        };
                        async move { client.cancel(request).await }
                    };
                    client.call("it is cancelled", cancel).await
                })
            });
            eventually("the daemon has died", || daemon.has_ended()).await;
            daemon.set_variable("SHELLGLASS_FAILPOINT", None);
            daemon.spawn();
            let ended = running.await.unwrap();
            assert!(
                ended.aborted && ended.timed_out == times_out,
                "{mode:?}: {ended:?}"
            );
            if let Some(cancelled) = cancelled {
                cancelled.await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_killed_while_no_daemon_lives_is_replaced() {
    let mut daemon = Daemon::start("");
    let client = Stubborn::new(&daemon.socket());
    let session = client
        .create("bash", SessionMode::Pipe, daemon.home())
        .await;
    let first = client.run(&session, "cd /usr; echo $$", "k1").await;
    tokio::time::sleep(IDLE).await;
    daemon.kill();
    let pid: i32 = first.stdout.trim().parse().unwrap();
    let shell = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(shell, rustix::process::Signal::KILL).unwrap();
    eventually("the shell is gone", || birth(pid as u32).is_none()).await;
    daemon.spawn();
    daemon.wait_until_ready();
    let next = client.run(&session, "pwd", "k2").await;
    assert_eq!(next.stdout, "/usr\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_on_disk_are_told_also_when_the_keeper_died() {
    let mut daemon = Daemon::start_with("", &[("SHELLGLASS_FAILPOINT", "output-spliced")], &[]);
    let client = Stubborn::new(&daemon.socket());
    let session = client
        .create("bash", SessionMode::Pipe, daemon.home())
        .await;
    let running = {
        let (client, session) = (client.clone(), session.clone());
        let command = "echo written; sleep 1000";
        tokio::spawn(async move { client.run(&session, command, "k1").await })
    };
    eventually("the daemon dies", || daemon.has_ended()).await;
    let keeper = daemon.keeper_pid().expect("a keeper lives");
    let pid = rustix::process::Pid::from_raw(keeper as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    eventually("the keeper is gone", || birth(keeper).is_none()).await;
    daemon.set_variable("SHELLGLASS_FAILPOINT", None);
    daemon.spawn();
    daemon.wait_until_ready();
    let result = running.await.unwrap();
    assert_eq!((result.code, result.stdout.as_str()), (None, "written\n"));
    let told = client.told(&session).await;
    assert_eq!(told[&result.shell_id].stdout, b"written\n");
    let next = client.run(&session, "echo on", "k2").await;
    assert_eq!(next.stdout, "on\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_for_one_command_goes_also_after_a_crash() {
    let mut daemon = Daemon::start("");
    let client = Stubborn::new(&daemon.socket());
    let (begun, go) = (daemon.home().join("begun"), daemon.home().join("go"));
    let command = format!(
        "touch {}; until test -e {}; do sleep 0.01; done",
        begun.display(),
        go.display()
    );
    let mut order = request("", &command, "alone");
    order.ephemeral = Some(wire::CreateSessionRequest {
        shell: "bash".to_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        env: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        startup: "none".to_owned(),
        ..wire::CreateSessionRequest::default()
    });
    let running = {
        let client = client.clone();
        tokio::spawn(async move { client.run_request(order).await })
    };
    // It need not have a directory: nobody needs its state.
    eventually("it runs", || begun.exists()).await;
    let sessions = daemon.home().join("run/sessions");
    let count = || std::fs::read_dir(&sessions).map_or(0, Iterator::count);
    tokio::time::sleep(IDLE).await;
    daemon.crash_and_restart();
    std::fs::write(&go, "").unwrap();
    assert_eq!(running.await.unwrap().code, Some(0));
    eventually("nothing of it is left", || count() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_command_is_run_once_or_is_said_not_to_have_run() {
    let mut daemon = Daemon::start("");
    let client = Stubborn::new(&daemon.socket());
    for (shell, mode) in [("bash", SessionMode::Pipe), ("dash", SessionMode::Line)] {
        let session = client.create(shell, mode, daemon.home()).await;
        let (go, mark) = (
            daemon.home().join(format!("go-{session}")),
            daemon.home().join(format!("mark-{session}")),
        );
        let wait = format!("until test -e {}; do sleep 0.01; done", go.display());
        let mark_it = format!("echo ran >> {}", mark.display());
        let keyed = |command: String, key: String| {
            let (client, session) = (client.clone(), session.clone());
            tokio::spawn(async move { client.run(&session, &command, &key).await })
        };
        let first = keyed(wait, format!("{session}-1"));
        let (shell_id, _) = super::started(&client, &session).await;
        let second = keyed(mark_it.clone(), format!("{session}-2"));
        let mut caller = daemon.client().await;
        let unkeyed = request(&session, &mark_it, "");
        let unkeyed = tokio::spawn(async move { caller.run(unkeyed).await });
        while waiting(&daemon, shell_id).await < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        daemon.crash_and_restart();
        assert!(unkeyed.await.unwrap().is_err(), "its caller is told");
        std::fs::write(go, "").unwrap();
        assert_eq!(first.await.unwrap().code, Some(0));
        assert_eq!(second.await.unwrap().code, Some(0));
        assert_eq!(std::fs::read_to_string(&mark).unwrap(), "ran\n");
        assert_eq!(
            client.run(&session, "echo on", &session).await.stdout,
            "on\n"
        );
        assert_eq!(std::fs::read_to_string(&mark).unwrap(), "ran\n");
    }
}

/// How many executions are accepted and not over, of the handles after `first`.
async fn waiting(daemon: &Daemon, first: u32) -> usize {
    let mut client = daemon.client().await;
    let mut count = 0;
    for shell_id in first + 1..first + 20 {
        let request = wire::ReadOutputRequest {
            shell_id,
            ..wire::ReadOutputRequest::default()
        };
        let answer = client.read_output(request).await;
        count += usize::from(answer.is_ok_and(|answer| answer.into_inner().running));
    }
    count
}
