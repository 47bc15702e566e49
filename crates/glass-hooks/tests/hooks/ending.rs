//! Nothing of a hook is left, however it ends.

use crate::fixture::{about, asked, gone, hasty, hook, lives, pid_in};
use glass_hooks::{Hook, Permission};
use std::time::{Duration, Instant};

/// Runs a hook that leaves its background process's number in `pid`, and
/// checks that the answer comes in time and the process is gone by then.
async fn check(hook: Hook, permission: Permission) {
    let folder = tempfile::tempdir().expect("a folder");
    let begun = Instant::now();
    let verdicts = asked(vec![hook]).before(&about(folder.path())).await;
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(verdicts.permission, permission, "{verdicts:?}");
    let pid = pid_in(&folder.path().join("pid")).await;
    assert!(!lives(pid), "process {pid} still runs");
}

const ASK: &str = "echo '{\"permission\":\"ask\"}'";

#[tokio::test]
async fn a_background_process_that_holds_the_output_delays_nothing() {
    let script = format!("sleep 1000 & echo $! >pid; {ASK}");
    check(hook(&script), Permission::Ask).await;
}

#[tokio::test]
async fn a_background_process_is_ended_with_a_hook_that_hangs() {
    check(
        hasty("sleep 1000 & echo $! >pid; sleep 1000"),
        Permission::Deny,
    )
    .await;
}

#[tokio::test]
async fn a_process_in_another_session_is_ended() {
    let script = "setsid sh -c 'echo $$ >pid; sleep 1000' & sleep 1000";
    check(hasty(script), Permission::Deny).await;
}

#[tokio::test]
async fn an_orphan_without_group_parent_or_environment_is_ended() {
    let orphan =
        "(env -i setsid sh -c 'echo $$ >pid; exec sleep 1000' </dev/null >/dev/null 2>&1 &)";
    let script = format!("{orphan}; while [ ! -s pid ]; do :; done; {ASK}");
    check(hook(&script), Permission::Ask).await;
}

#[tokio::test]
async fn a_flood_is_ended() {
    check(hook("yes & echo $! >pid; cat /dev/zero"), Permission::Deny).await;
}

#[tokio::test]
async fn a_hook_that_nobody_waits_for_is_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let hooks = asked(vec![hook(
        "echo $$ >shell; sleep 1000 & echo $! >pid; wait",
    )]);
    let about = about(folder.path());
    let (shell, pid) = {
        let asking = hooks.before(&about);
        tokio::pin!(asking);
        let pids = async {
            let shell = pid_in(&folder.path().join("shell")).await;
            (shell, pid_in(&folder.path().join("pid")).await)
        };
        tokio::select! {
            verdicts = &mut asking => panic!("it ended by itself: {verdicts:?}"),
            pids = pids => pids,
        }
    };
    gone(shell).await;
    gone(pid).await;
}

/// A runtime that ends, as a daemon's does, drops what it runs.
#[test]
fn a_hook_ends_with_the_runtime_that_waits_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = || tokio::runtime::Runtime::new().expect("a runtime");
    let daemon = runtime();
    let hooks = asked(vec![hook("echo $$ >pid; sleep 1000")]);
    let about = about(folder.path());
    daemon.spawn(async move { hooks.before(&about).await });
    let pid = daemon.block_on(pid_in(&folder.path().join("pid")));
    drop(daemon);
    runtime().block_on(gone(pid));
}
