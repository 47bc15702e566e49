//! Sessions as the service shows them: made, picked, listed, over.

use glass_proto::shellglass::v1::{
    CancelRequest, CreateSessionRequest, Empty, ExecuteRequest, ListSessionsRequest, SessionMode,
};
use shellglass_tests::calls::{next, refused, rest, success, told};
use shellglass_tests::{Client, Daemon, TestSession, eventually, processes};
use std::collections::HashMap;
use tonic::Code;

async fn listed(client: &Client, include_disposed: bool) -> Vec<String> {
    let request = ListSessionsRequest { include_disposed };
    let answer = client.clone().list_sessions(request).await.unwrap();
    let sessions = answer.into_inner().sessions;
    sessions
        .into_iter()
        .map(|session| session.session_id)
        .collect()
}

#[tokio::test]
async fn a_new_session_has_every_field() {
    let daemon = Daemon::start("");
    let request = CreateSessionRequest {
        working_directory: "/usr".to_owned(),
        shell: "bash".to_owned(),
        mode: SessionMode::Pipe.into(),
        name: "a name".to_owned(),
        task_id: "task-1".to_owned(),
        cols: 132,
        rows: 43,
        ..CreateSessionRequest::default()
    };
    let mut client = daemon.client().await;
    let made = client.create_session(request).await.unwrap().into_inner();
    assert!(made.session_id.starts_with("s-"), "{made:?}");
    assert_eq!(
        (made.name.as_str(), made.task_id.as_str()),
        ("a name", "task-1")
    );
    assert_eq!(made.mode(), SessionMode::Pipe);
    assert_eq!(made.working_directory, "/usr");
    assert!(made.shell.starts_with('/') && made.shell.ends_with("/bash"));
    assert_eq!(made.host, "local");
    assert_eq!((made.cols, made.rows), (132, 43));
    assert!(!made.busy && !made.running);
    assert!(made.created_unix_ms > 1_700_000_000_000);
    assert!(made.last_activity_unix_ms >= made.created_unix_ms);
    assert_eq!((made.last_shell_id, made.last_exit_code), (0, None));
    let plain = CreateSessionRequest::default();
    let plain = client.create_session(plain).await.unwrap().into_inner();
    assert_eq!((plain.cols, plain.rows), (80, 30));
    assert!(plain.working_directory.starts_with('/'));
    assert!(plain.shell.starts_with('/'));
}

#[tokio::test]
async fn a_session_shows_what_runs_and_what_ran() {
    let mut daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (id, mut stream) = session
        .begin("until test -e go; do sleep 0.01; done; cd /usr; false")
        .await;
    let shown = session.shown().await;
    assert!(shown.running && shown.busy, "{shown:?}");
    assert!(shown.active_command.starts_with("until test -e go"));
    assert_eq!(shown.last_shell_id, id);
    std::fs::write(daemon.home().join("go"), "").unwrap();
    rest(&mut stream).await.exit();
    let check = |shown: glass_proto::shellglass::v1::Session| {
        assert!(!shown.running && !shown.busy, "{shown:?}");
        assert_eq!(shown.active_command, "");
        assert!(
            shown.last_command.starts_with("until test -e go"),
            "{shown:?}"
        );
        assert_eq!((shown.last_shell_id, shown.last_exit_code), (id, Some(1)));
        assert_eq!(shown.working_directory, "/usr");
        assert!(shown.last_activity_unix_ms > shown.created_unix_ms);
    };
    check(session.until("idle", |shown| !shown.busy).await);
    daemon.crash_and_restart();
    let session = TestSession {
        client: daemon.client().await,
        id: session.id,
    };
    check(session.shown().await);
    session.dispose().await;
    check(session.shown().await);
}

#[tokio::test]
async fn sessions_are_listed_in_the_order_of_their_making() {
    let daemon = Daemon::start("");
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(TestSession::with(&daemon, "bash", SessionMode::Line).await);
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let ids: Vec<String> = made.iter().map(|session| session.id.clone()).collect();
    let client = &made[0].client;
    assert_eq!(listed(client, false).await, ids);
    made[2].dispose().await;
    assert_eq!(listed(client, true).await, ids);
    let left: Vec<String> = ids.iter().filter(|id| **id != ids[2]).cloned().collect();
    assert_eq!(listed(client, false).await, left);
}

#[tokio::test]
async fn a_disposed_session_refuses_and_remembers() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        session.run("echo remembered").await;
        let mut watcher = session.subscribe(0).await;
        session.dispose().await;
        session.dispose().await;
        let message = refused(
            session.try_run(session.request("touch ran")).await,
            Code::FailedPrecondition,
        );
        assert!(message.contains("disposed"), "{message}");
        let streamed = told(&session.client, session.request("touch ran")).await;
        refused(streamed, Code::FailedPrecondition);
        let cancel = CancelRequest {
            session_id: session.id.clone(),
            ..CancelRequest::default()
        };
        let cancelled = session.client.clone().cancel(cancel).await;
        refused(cancelled, Code::FailedPrecondition);
        assert!(!daemon.home().join("ran").exists());
        let history = session.history().await;
        assert_eq!(history.executions[0].command, "echo remembered");
        let mut count = 0;
        while next(&mut watcher).await.is_some() {
            count += 1;
        }
        assert_eq!(count, history.events.len());
    }
}

#[tokio::test]
async fn disposing_ends_what_runs_and_what_waits() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let (_, mut running) = session.begin("sleep 1000; touch next").await;
        let mut client = session.client.clone();
        let waiting = client.execute(session.request("touch waited")).await;
        let mut waiting = waiting.unwrap().into_inner();
        session.dispose().await;
        let told = rest(&mut running).await;
        assert!(told.exit().aborted, "{mode:?} {told:?}");
        let told = rest(&mut waiting).await;
        assert!(told.exit().aborted, "{mode:?} {told:?}");
        assert!(!daemon.home().join("next").exists());
        assert!(!daemon.home().join("waited").exists());
    }
}

#[tokio::test]
async fn a_keeper_ends_when_the_last_session_and_the_daemon_have_gone() {
    let mut daemon = Daemon::start("[keeper]\nidle_seconds = 1\n");
    let mut client = daemon.client().await;
    for _ in 0..5 {
        let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
        session.run("true").await;
        let line = TestSession::with(&daemon, "bash", SessionMode::Line).await;
        line.run("true").await;
        client.dispose_session(session.reference()).await.unwrap();
        client.dispose_session(line.reference()).await.unwrap();
    }
    // At once: whoever is told that a session is gone may stop everything.
    daemon.kill();
    eventually("the keeper has gone", || daemon.keeper_pid().is_none()).await;
}

fn ephemeral(daemon: &Daemon, command: &str) -> ExecuteRequest {
    let path = std::env::var("PATH").unwrap();
    let spec = CreateSessionRequest {
        working_directory: daemon.home().to_str().unwrap().to_owned(),
        env: HashMap::from([
            ("PATH".to_owned(), path),
            ("MINE".to_owned(), "1".to_owned()),
        ]),
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        ..CreateSessionRequest::default()
    };
    let args = glass_proto::agent::v1::ShellArgs {
        command: command.to_owned(),
        ..Default::default()
    };
    ExecuteRequest {
        args: Some(args),
        ephemeral: Some(spec),
        ..ExecuteRequest::default()
    }
}

/// Nothing of any session is left but its history.
async fn check_nothing_left(daemon: &Daemon) {
    let sessions = daemon.home().join("run/sessions");
    eventually("no session has a directory", || {
        std::fs::read_dir(&sessions).unwrap().next().is_none()
    })
    .await;
    let home = daemon.home().to_str().unwrap().to_owned();
    eventually("no process is left", || {
        let inside = |pid: u32| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&home))
        };
        !processes().into_iter().any(|(pid, _)| inside(pid))
    })
    .await;
}

#[tokio::test]
async fn a_session_for_one_command_leaves_nothing() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    let result = client.run(ephemeral(
        &daemon,
        "echo $MINE $HOME; cd /usr; sleep 1000 &",
    ));
    let result = success(result.await.unwrap().into_inner());
    // Its environment is the caller's alone.
    assert_eq!(result.stdout, "1\n");
    assert_eq!(listed(&client, false).await, Vec::<String>::new());
    check_nothing_left(&daemon).await;
    let failed = client.run(ephemeral(&daemon, "exit 3")).await.unwrap();
    assert!(failed.into_inner().result.is_some());
    check_nothing_left(&daemon).await;
    let both = ExecuteRequest {
        session_id: "s-aaaaaaaaaaaaaaaa".to_owned(),
        ..ephemeral(&daemon, "true")
    };
    refused(client.run(both).await, Code::InvalidArgument);
}

#[tokio::test]
async fn a_session_for_one_command_leaves_nothing_after_a_restart() {
    let mut daemon = Daemon::start("");
    let mut client = daemon.client().await;
    let mut request = ephemeral(&daemon, "until test -e go; do sleep 0.01; done; echo went");
    request.args.as_mut().unwrap().tool_call_id = "call".to_owned();
    let mut stream = client.execute(request.clone()).await.unwrap().into_inner();
    next(&mut stream).await.expect("it starts");
    daemon.crash_and_restart();
    std::fs::write(daemon.home().join("go"), "").unwrap();
    let mut client = daemon.client().await;
    let result = success(client.run(request).await.unwrap().into_inner());
    assert_eq!(result.stdout, "went\n");
    check_nothing_left(&daemon).await;
    assert_eq!(listed(&client, false).await, Vec::<String>::new());
}

fn anywhere(directory: &str, task: &str, command: &str) -> ExecuteRequest {
    let args = glass_proto::agent::v1::ShellArgs {
        command: command.to_owned(),
        working_directory: directory.to_owned(),
        ..Default::default()
    };
    ExecuteRequest {
        args: Some(args),
        task_id: task.to_owned(),
        ..ExecuteRequest::default()
    }
}

async fn picked(client: &Client, request: ExecuteRequest) -> String {
    let told = told(client, request).await.unwrap();
    told.exit();
    told.start().session_id.clone()
}

#[tokio::test]
async fn the_registry_picks_an_idle_session_of_the_task_and_directory() {
    let daemon = Daemon::start("");
    let client = daemon.client().await;
    let first = picked(&client, anywhere("/usr", "a", "true")).await;
    assert_eq!(picked(&client, anywhere("/usr", "a", "true")).await, first);
    let elsewhere = picked(&client, anywhere("/tmp", "a", "true")).await;
    assert_ne!(elsewhere, first);
    // A session of its own task is better than an older one of another.
    let spec = CreateSessionRequest {
        working_directory: "/usr".to_owned(),
        task_id: "b".to_owned(),
        ..CreateSessionRequest::default()
    };
    let own = TestSession::create(&daemon, spec).await;
    assert_eq!(picked(&client, anywhere("/usr", "b", "true")).await, own.id);
    // Busy ones are never picked, nor those that are over.
    let (_, _running) = own.begin("sleep 1000").await;
    assert_eq!(picked(&client, anywhere("/usr", "b", "true")).await, first);
    let reference = glass_proto::shellglass::v1::SessionRef {
        session_id: first.clone(),
    };
    client.clone().dispose_session(reference).await.unwrap();
    let fresh = picked(&client, anywhere("/usr", "b", "true")).await;
    assert!(fresh != first && fresh != own.id);
    let shown = own.until("busy", |shown| shown.busy).await;
    assert_eq!(shown.task_id, "b");
}

#[tokio::test]
async fn two_calls_at_once_do_not_get_the_same_idle_session() {
    let daemon = Daemon::start("");
    let client = daemon.client().await;
    let idle = picked(&client, anywhere("/usr", "", "true")).await;
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let client = client.clone();
            let request = anywhere("/usr", "", "sleep 0.5");
            tokio::spawn(async move { picked(&client, request).await })
        })
        .collect();
    let mut ids = Vec::new();
    for call in calls {
        ids.push(call.await.unwrap());
    }
    assert!(ids.contains(&idle), "{ids:?}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6, "each has a session of its own: {ids:?}");
}

#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let daemon = Daemon::start("[limits]\nsessions_max = 2\n");
    let one = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    let _two = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    let mut client = daemon.client().await;
    let third = client.create_session(CreateSessionRequest::default()).await;
    refused(third, Code::ResourceExhausted);
    one.dispose().await;
    let third = client.create_session(CreateSessionRequest::default()).await;
    assert!(third.is_ok(), "{third:?}");
}

#[tokio::test]
async fn capabilities_name_shells_hosts_and_version() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    let now = client
        .get_capabilities(Empty {})
        .await
        .unwrap()
        .into_inner();
    assert!(now.raw_sandbox_supported, "{now:?}");
    for feature in ["user_ns", "mount_ns", "pid_ns", "net_ns", "seccomp"] {
        let features = &now.sandbox_features;
        assert!(features.iter().any(|name| name == feature), "{now:?}");
    }
    for shell in ["bash", "zsh", "fish", "dash"] {
        let name = format!("/{shell}");
        assert!(
            now.shells.iter().any(|path| path.ends_with(&name)),
            "{now:?}"
        );
    }
    assert_eq!(now.hosts, ["local"]);
    assert_eq!(now.version, glass_proto::WIRE_VERSION);
    assert!(!now.program_version.is_empty());
    let watched = client.watch_capabilities(Empty {}).await.unwrap();
    let mut watched = watched.into_inner();
    assert_eq!(next(&mut watched).await, Some(now));
    // It stays open: what changes later will be told.
    let more = tokio::time::timeout(std::time::Duration::from_millis(200), watched.message());
    assert!(more.await.is_err());
}

#[tokio::test]
async fn variables_of_a_session_reach_its_commands() {
    let daemon = Daemon::start("[session]\nenv = { FROM_CONFIG = \"c\", BOTH = \"config\" }\n");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let spec = CreateSessionRequest {
            mode: mode.into(),
            env: HashMap::from([
                ("FROM_CALL".to_owned(), "two words".to_owned()),
                ("BOTH".to_owned(), "call".to_owned()),
            ]),
            ..CreateSessionRequest::default()
        };
        let session = TestSession::create(&daemon, spec).await;
        let seen = session
            .run("printenv FROM_CONFIG FROM_CALL BOTH PAGER")
            .await;
        assert_eq!(seen.stdout, "c\ntwo words\ncall\ncat\n", "{mode:?}");
    }
}

/// Clock ticks that a process has used.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(") ").unwrap().1.split(' ');
    fields
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<u64>().unwrap())
        .sum()
}

#[tokio::test]
async fn a_program_in_the_shells_place_costs_the_daemon_nothing() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish", "dash"] {
        let session = TestSession::with(&daemon, shell, SessionMode::Pipe).await;
        let (_, mut stream) = session.begin("exec sleep 1000").await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let before = ticks(daemon.pid());
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        // Half a second of work would be 50.
        let used = ticks(daemon.pid()) - before;
        assert!(used < 15, "{shell}: {used} ticks");
        assert!(session.cancel(None).await, "{shell}");
        assert!(rest(&mut stream).await.exit().aborted, "{shell}");
        assert_eq!(session.run("echo on").await.stdout, "on\n", "{shell}");
    }
}
