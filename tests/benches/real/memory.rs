//! What idle sessions cost.

use crate::table::Table;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, TestSession};

/// Sessions held at once.
const SESSIONS: u64 = 1_000;

fn status_kib(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The most memory that a process has had, in KiB.
pub fn peak_kib(pid: u32) -> u64 {
    status_kib(pid, "VmHWM:")
}

/// The memory that a process has, in KiB.
pub fn resident_kib(pid: u32) -> u64 {
    status_kib(pid, "VmRSS:")
}

/// A thousand idle sessions with their shells.
pub async fn measure(table: &mut Table) {
    let daemon = Daemon::start("");
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(TestSession::with(&daemon, "bash", SessionMode::Pipe).await);
    }
    for session in &sessions {
        session.run("true").await;
    }
    let before = resident_kib(daemon.pid());
    let client = daemon.client().await;
    for _ in 0..SESSIONS {
        let mut session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
        // One connection for all: it is the session's cost that counts.
        session.client = client.clone();
        sessions.push(session);
    }
    for session in &sessions {
        assert_eq!(session.run("echo here").await.stdout, "here\n");
    }
    let after = resident_kib(daemon.pid());
    let each = (after.saturating_sub(before)) as f64 / SESSIONS as f64;
    table.figure(
        "an idle session in the daemon",
        format!("{each:.1} KiB"),
        "<= 64 KiB",
    );
    table.figure(
        "idle sessions at once",
        format!("{}", sessions.len()),
        ">= 1000",
    );
}
