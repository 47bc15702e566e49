//! What walls cost: in a shell that has them already, and when they are built.

use crate::latency::quantile;
use crate::table::Table;
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::{Daemon, TestSession};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Rounds for warm shells; interleaved, so that a noisy moment hits both.
const WARM_ROUNDS: usize = 1_500;

/// Rounds for new walls.
const NEW_ROUNDS: usize = 60;

fn policy(kind: Type) -> SandboxPolicy {
    SandboxPolicy {
        r#type: kind.into(),
        ..SandboxPolicy::default()
    }
}

/// What tells the shell of a session.
fn mark(kind: Type) -> String {
    format!("{}-{}", std::process::id(), kind.as_str_name())
}

async fn session(daemon: &Daemon, workspace: &Path, kind: Type) -> TestSession {
    let workspace = workspace.to_string_lossy().into_owned();
    let request = CreateSessionRequest {
        working_directory: workspace.clone(),
        workspace_root: workspace,
        shell: "bash".to_owned(),
        mode: SessionMode::Pipe.into(),
        startup: "none".to_owned(),
        env: [(crate::counts::MARK.to_owned(), mark(kind))].into(),
        sandbox_policy: Some(policy(kind)),
        ..CreateSessionRequest::default()
    };
    TestSession::create(daemon, request).await
}

/// How long a command takes that succeeds.
pub async fn run(session: &TestSession, command: &str) -> Duration {
    let mut client = session.client.clone();
    let request = session.request(command);
    let begin = Instant::now();
    let result = client.run(request).await.unwrap().into_inner();
    let elapsed = begin.elapsed();
    assert_eq!(shellglass_tests::summary(result).code, Some(0));
    elapsed
}

/// A session, its shell and its first command.
async fn first(daemon: &Daemon, workspace: &Path, kind: Type) -> Duration {
    let begin = Instant::now();
    let session = session(daemon, workspace, kind).await;
    run(&session, "true").await;
    let elapsed = begin.elapsed();
    session.dispose().await;
    elapsed
}

/// What the field uses for the same walls.
fn bubblewrap(workspace: &Path) -> Duration {
    let begin = Instant::now();
    let status = Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .args(["--tmpfs", "/tmp", "--bind"])
        .args([workspace, workspace])
        .args(["--unshare-all", "--die-with-parent", "bash", "-c", "true"])
        .status()
        .expect("bwrap is there");
    assert!(status.success());
    begin.elapsed()
}

/// Warm and new, each beside its baseline.
pub async fn measure(table: &mut Table) {
    let daemon = Daemon::start("");
    let place = tempfile::Builder::new().prefix("sg-").tempdir().unwrap();
    let workspace = place.path();
    let walled = session(&daemon, workspace, Type::WorkspaceReadwrite).await;
    let open = session(&daemon, workspace, Type::InsecureNone).await;
    for (command, what) in [
        ("true", "Run(true), warm, in walls, p50"),
        ("/bin/true", "Run(/bin/true), warm, in walls, p50"),
        (
            "cat /etc/hosts >f; rm f",
            "Run(cat, rm), warm, in walls, p50",
        ),
    ] {
        let [mut inside, mut outside] = [const { Vec::new() }; 2];
        for round in 0..WARM_ROUNDS + 100 {
            let (with, without) = (run(&walled, command).await, run(&open, command).await);
            if round >= 100 {
                inside.push(with);
                outside.push(without);
            }
        }
        let (with, without) = (quantile(&mut inside, 0.5), quantile(&mut outside, 0.5));
        table.ratio(
            what,
            with,
            without,
            "without walls",
            "ms",
            "<= 1.25x, aim 1.1x",
        );
    }
    let kinds = [Type::WorkspaceReadwrite, Type::InsecureNone];
    let marks = kinds.map(mark);
    let sessions = [(&walled, marks[0].as_str()), (&open, marks[1].as_str())];
    for command in ["true", "/bin/true"] {
        crate::counts::compare(table, &daemon, sessions, command).await;
    }
    let [mut walls, mut plain, mut bwrap] = [const { Vec::new() }; 3];
    for _ in 0..NEW_ROUNDS {
        walls.push(first(&daemon, workspace, Type::WorkspaceReadwrite).await);
        plain.push(first(&daemon, workspace, Type::InsecureNone).await);
        bwrap.push(bubblewrap(workspace));
    }
    let walls = quantile(&mut walls, 0.5);
    let base = quantile(&mut bwrap, 0.5);
    let what = "session and first command in walls, p50";
    table.ratio(what, walls, base, "bwrap … bash -c true", "ms", "<= 3x");
    let plain = quantile(&mut plain, 0.5);
    table.ratio(what, walls, plain, "the same without walls", "ms", "");
}
