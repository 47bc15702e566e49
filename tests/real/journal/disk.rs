//! A disk that is full, or almost.

use super::account;
use crate::crash::client::{Stubborn, request};
use crate::crash::workload::numbered;
use glass_proto::shellglass::v1::{self as wire, SessionMode};
use shellglass_tests::{Daemon, PATIENCE, Summary, TestSession};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tonic::{Code, Status};

/// A small disk of its own, in memory. Mounting needs root, which the machines
/// that run all tests have.
pub(super) struct SmallDisk {
    dir: TempDir,
}

impl SmallDisk {
    pub(super) fn new(mebibytes: u32) -> SmallDisk {
        let dir = tempfile::Builder::new().prefix("sgd-").tempdir_in("/tmp");
        let disk = SmallDisk { dir: dir.unwrap() };
        disk.mount(&format!("size={mebibytes}m,mode=700"));
        disk
    }

    pub(super) fn mount(&self, options: &str) {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(self.dir.path())
            .status();
        assert!(mounted.unwrap().success(), "these tests mount, as root");
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A daemon that has its journal here.
    pub(super) fn daemon(&self, config: &str) -> Daemon {
        let path = self.path().to_str().unwrap();
        Daemon::start_with(config, &[], &["--data-dir", path])
    }

    fn free(&self) -> u64 {
        let stat = rustix::fs::statvfs(self.path()).unwrap();
        stat.f_bavail * stat.f_frsize
    }

    /// Takes all room but this, until the file is removed.
    fn fill(&self, leave: u64) -> PathBuf {
        let filler = self.path().join("filler");
        let bytes = usize::try_from(self.free().saturating_sub(leave)).unwrap();
        let written = std::fs::write(&filler, vec![1; bytes]);
        // The daemon may have taken some of it meanwhile.
        let full = |error: &std::io::Error| error.kind() == std::io::ErrorKind::StorageFull;
        assert!(written.as_ref().err().is_none_or(full), "{written:?}");
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because a process that is being killed may still be in it.
        let unmounted = Command::new("umount").arg("-l").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

/// The limit that keeps the watermark out of the way.
const NO_WATERMARK: &str = "[limits]\ndisk_free_bytes_min = 0\n";

fn assert_says_full(status: &Status) {
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    let hint = status.metadata().get(glass_proto::HINT_KEY);
    let hint = hint.expect("there is a hint").to_str().unwrap();
    assert!(hint.contains("free space"), "{hint}");
}

/// Runs small commands until the journal has no room for another one.
async fn run_until_full(session: &TestSession) -> Status {
    for _ in 0..20_000 {
        if let Err(status) = session.try_run(session.request("true")).await {
            return status;
        }
    }
    panic!("the disk is never full");
}

/// Runs a command as soon as there is room for it again.
async fn run_when_possible(session: &TestSession, command: &str) -> String {
    try_when_possible(session, session.request(command))
        .await
        .stdout
}

/// Asks for a command that may have run before there was no room.
async fn run_request_when_possible(daemon: &Daemon, order: wire::ExecuteRequest) -> Summary {
    let session = TestSession {
        client: daemon.client().await,
        id: order.session_id.clone(),
    };
    try_when_possible(&session, order).await
}

async fn try_when_possible(session: &TestSession, order: wire::ExecuteRequest) -> Summary {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match session.try_run(order.clone()).await {
            Ok(result) => return result,
            Err(status) => {
                assert_says_full(&status);
                assert!(Instant::now() < deadline, "it stays full");
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Runs a command again and again until it prints this: the free space is
/// looked at now and then.
async fn run_until(session: &TestSession, command: &str, printed: &str) -> Summary {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let result = session.run(command).await;
        if result.stdout == printed {
            return result;
        }
        assert!(Instant::now() < deadline, "{:.80}", result.stdout);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_said_and_loses_nothing_that_was_recorded() {
    let disk = SmallDisk::new(6);
    let daemon = disk.daemon(NO_WATERMARK);
    let client = Stubborn::new(&daemon.socket());
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let other = client
        .create("dash", SessionMode::Line, daemon.home())
        .await;
    let go = daemon.home().join("go");
    // It writes before, while and after there is no room.
    let command = format!(
        "i=0; while ! [ -e {} ]; do i=$((i+1)); echo $i; sleep 0.01; done; echo end $i; exit 6",
        go.display()
    );
    let running = request(&other, &command, "other");
    let mut caller = daemon.client().await;
    let running = tokio::spawn(async move { caller.run(running).await });
    let begun = TestSession {
        client: daemon.client().await,
        id: other.clone(),
    };
    begun.until("it is under way", |shown| shown.running).await;
    let first = session.run("seq 1 1000").await;
    assert_eq!(first.stdout, numbered("", 1000));

    let filler = disk.fill(0);
    assert_says_full(&run_until_full(&session).await);
    let mut caller = daemon.client().await;
    let refused = caller.create_session(wire::CreateSessionRequest::default());
    assert_says_full(&refused.await.expect_err("there is no room for a session"));
    assert_says_full(&run_until_full(&session).await);
    tokio::time::sleep(Duration::from_millis(200)).await;

    std::fs::remove_file(filler).unwrap();
    assert_eq!(run_when_possible(&session, "echo again").await, "again\n");
    let told = client.told(&session.id).await;
    assert_eq!(told[&first.shell_id].stdout, first.stdout.as_bytes());

    // The other session's command never noticed.
    std::fs::write(go, "").unwrap();
    let result = running.await.unwrap().expect("it ends").into_inner();
    let result = shellglass_tests::summary(result);
    assert_eq!(result.code, Some(6));
    let events = client.history(&other).await;
    let last = result.stdout.rsplit(' ').next().unwrap().trim();
    let count: u64 = last.parse().unwrap();
    let expected = format!("{}end {count}\n", numbered("", count));
    account(&events, result.shell_id, &expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_begins_on_a_full_disk_and_has_everything() {
    let disk = SmallDisk::new(6);
    let mut daemon = disk.daemon(NO_WATERMARK);
    let client = Stubborn::new(&daemon.socket());
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let first = session.run("kept=yes; seq 1 1000").await;
    let filler = disk.fill(0);
    run_until_full(&session).await;
    let before = client.history(&session.id).await;
    for _ in 0..3 {
        daemon.crash_and_restart();
        let after = client.history(&session.id).await;
        assert_eq!(after[..before.len()], before, "nothing is lost");
    }
    std::fs::remove_file(filler).unwrap();
    let session = TestSession {
        client: daemon.client().await,
        id: session.id,
    };
    assert_eq!(run_when_possible(&session, "echo $kept").await, "yes\n");
    let told = client.told(&session.id).await;
    assert_eq!(told[&first.shell_id].stdout, first.stdout.as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_could_not_be_written_is_known_after_a_crash() {
    let disk = SmallDisk::new(6);
    let mut daemon = disk.daemon(NO_WATERMARK);
    let client = Stubborn::new(&daemon.socket());
    let (go, marks) = (daemon.home().join("go"), daemon.home().join("marks"));
    let mut running = Vec::new();
    for (nth, (shell, mode, last)) in [
        ("bash", SessionMode::Pipe, "sh -c 'exit 5'"),
        ("zsh", SessionMode::Pipe, "exit 5"),
        ("dash", SessionMode::Line, "exit 5"),
    ]
    .into_iter()
    .enumerate()
    {
        let session = client.create(shell, mode, daemon.home()).await;
        let command = format!(
            "until test -e {}; do sleep 0.01; done; echo {nth} >> {}; {last}",
            go.display(),
            marks.display()
        );
        let order = request(&session, &command, &session);
        let (mut caller, call) = (daemon.client().await, order.clone());
        running.push((order, tokio::spawn(async move { caller.run(call).await })));
        crate::crash::started(&client, &session).await;
    }
    let filling = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let filler = disk.fill(0);
    run_until_full(&filling).await;
    std::fs::write(go, "").unwrap();
    let mut orders = Vec::new();
    for (order, answer) in running {
        // Some may have found a little room.
        if let Err(status) = answer.await.unwrap() {
            assert_says_full(&status);
        }
        orders.push(order);
    }
    daemon.crash_and_restart();
    std::fs::remove_file(filler).unwrap();
    for order in orders {
        let result = run_request_when_possible(&daemon, order).await;
        assert_eq!(result.code, Some(5));
    }
    let marks = std::fs::read_to_string(marks).unwrap();
    assert_eq!(marks.lines().count(), 3, "each ran once: {marks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_command_is_recorded_when_the_disk_fills_while_it_runs() {
    let disk = SmallDisk::new(24);
    let daemon = disk.daemon(NO_WATERMARK);
    let client = Stubborn::new(&daemon.socket());
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    // More than there is room for.
    let result = session.run("seq 1 5000000; exit 5").await;
    assert_eq!(result.code, Some(5));
    let events = client.history(&session.id).await;
    let account = account(&events, result.shell_id, &numbered("", 5_000_000));
    assert!(
        account.kept > 10 << 20 && account.dropped > 0,
        "{account:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn below_the_watermark_output_is_counted_and_not_recorded() {
    let disk = SmallDisk::new(64);
    let daemon = disk.daemon("[limits]\ndisk_free_bytes_min = 33554432\n");
    let client = Stubborn::new(&daemon.socket());
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let expected = numbered("", 1000);
    assert_eq!(session.run("seq 1 1000").await.stdout, expected);
    let filler = disk.fill(20 << 20);
    let low = run_until(&session, "seq 1 1000; sh -c 'exit 3'", "").await;
    assert_eq!(low.code, Some(3));
    std::fs::remove_file(filler).unwrap();
    let again = run_until(&session, "seq 1 1000", &expected).await;
    let events = client.history(&session.id).await;
    let dropped = account(&events, low.shell_id, &expected);
    assert_eq!((dropped.kept, dropped.dropped), (0, 3893));
    let kept = account(&events, again.shell_id, &expected);
    assert_eq!((kept.kept, kept.dropped), (3893, 0));
}
