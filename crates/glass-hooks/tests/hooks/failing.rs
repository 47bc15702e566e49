//! Each way to fail refuses the command, or counts as absent, as was chosen.

use crate::fixture::{about, asked, hasty, hook};
use glass_hooks::{FailureMode, Hook, Permission};
use std::path::Path;
use std::time::{Duration, Instant};

/// Checks both failure modes of a hook, and what is said about it.
async fn check(hook: Hook, expected: &str) {
    let about = about(Path::new("/"));
    let closed = asked(vec![hook.clone()]).before(&about).await;
    assert_eq!(closed.permission, Permission::Deny, "{closed:?}");
    assert!(closed.user_message.contains(expected), "{closed:?}");
    let start: String = hook.command.chars().take(20).collect();
    assert!(closed.agent_message.contains(&start), "{closed:?}");
    assert!(closed.agent_message.contains("refused"), "{closed:?}");
    assert_eq!(closed.failures, [closed.user_message]);

    let open = Hook {
        failure: FailureMode::Open,
        ..hook
    };
    let open = asked(vec![open]).before(&about).await;
    assert_eq!(open.permission, Permission::Allow, "{open:?}");
    assert_eq!(open.user_message + &open.agent_message, "");
    assert_eq!(open.failures.len(), 1);
    assert!(open.failures[0].contains(expected), "{:?}", open.failures);
    assert!(open.failures[0].contains("counts as absent"));
}

#[tokio::test]
async fn a_hook_that_hangs() {
    let begun = Instant::now();
    check(
        hasty("sleep 1000"),
        "took longer than 300 ms and was killed",
    )
    .await;
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_hook_that_ignores_every_signal_and_hangs() {
    check(
        hasty("trap '' HUP INT TERM QUIT; while :; do sleep 1000; done"),
        "took longer",
    )
    .await;
}

#[tokio::test]
async fn a_hook_that_crashes() {
    check(hook("echo oh dear >&2; exit 7"), "exited with code 7").await;
    check(hook("echo oh dear >&2; exit 7"), "It said: oh dear").await;
    check(hook("kill -SEGV $$"), "signal 11 ended it").await;
    check(hook("no-such-program-here"), "exited with code 127").await;
    check(
        hook("echo '{\"permission\":\"allow\"}'; exit 1"),
        "exited with code 1",
    )
    .await;
    check(hook("if"), "exited with code 2").await;
}

#[tokio::test]
async fn a_hook_that_prints_nonsense() {
    check(hook("true"), "printed no answer").await;
    check(hook("echo sure"), "not an answer").await;
    check(hook("printf '\\377\\376{'"), "not an answer").await;
    check(
        hook("echo '{\"permission\":\"maybe\"}'"),
        "no permission `maybe`",
    )
    .await;
    check(
        hook("echo '{\"decision\":\"allow\"}'"),
        "missing field `permission`",
    )
    .await;
    check(hook("echo '{\"permission\":\"allow\"}{'"), "trailing").await;
}

#[tokio::test]
async fn a_hook_that_prints_without_end() {
    let flood = "echo '{\"permission\":\"allow\"}'; head -c 100000000 /dev/zero";
    check(
        hook(flood),
        "printed more than 1048576 bytes and was killed",
    )
    .await;
}

#[tokio::test]
async fn a_hook_that_complains_at_length_keeps_the_end_of_it() {
    let script = "head -c 100000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 1";
    let verdicts = asked(vec![hook(script)])
        .before(&about(Path::new("/")))
        .await;
    let message = verdicts.user_message;
    assert!(message.ends_with("xxxthe end"), "{}", message.len());
    assert!(message.len() < 5000, "{}", message.len());
}

#[tokio::test]
async fn a_message_never_carries_what_a_terminal_obeys() {
    let script = "printf '\\033[2Jboo\\r' >&2; exit 1";
    let verdicts = asked(vec![hook(script)])
        .before(&about(Path::new("/")))
        .await;
    let has_control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
    assert!(
        !has_control(&verdicts.user_message),
        "{:?}",
        verdicts.user_message
    );
    assert!(verdicts.user_message.contains("boo"));
}

#[tokio::test]
async fn a_hook_need_not_read_its_payload() {
    let mut about = about(Path::new("/"));
    about.command = "x".repeat(1 << 20);
    let answer = "echo '{\"permission\":\"ask\"}'";
    for script in [
        answer.to_owned(),
        format!("exec <&-; {answer}"),
        format!("head -c 10 >/dev/null; exec <&-; sleep 0.2; {answer}"),
        format!("sleep 0.2; {answer}"),
    ] {
        let verdicts = asked(vec![hook(&script)]).before(&about).await;
        assert_eq!(
            verdicts.permission,
            Permission::Ask,
            "{script}: {verdicts:?}"
        );
        assert_eq!(verdicts.failures, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_long_payload_arrives_whole() {
    let mut about = about(Path::new("/"));
    about.command = "x".repeat(1 << 20);
    let script = "n=$(tr -cd x | wc -c); echo \"{\\\"permission\\\":\\\"ask\\\",\\\"userMessage\\\":\\\"$n\\\"}\"";
    let verdicts = asked(vec![hook(script)]).before(&about).await;
    let count: usize = verdicts.user_message.parse().expect("a number");
    // `beforeShellExecution` has an x, too.
    assert!(count > 1 << 20 && count < (1 << 20) + 10, "{count}");
}

#[tokio::test]
async fn a_directory_that_is_gone_is_no_failure() {
    let script = "[ \"$PWD\" = / ] && echo '{\"permission\":\"ask\"}'";
    let verdicts = asked(vec![hook(script)])
        .before(&about(Path::new("/no/such/place")))
        .await;
    assert_eq!(verdicts.permission, Permission::Ask, "{verdicts:?}");
}

#[tokio::test]
async fn too_many_hooks_wait_their_turn() {
    let hooks = asked(vec![hook("sleep 0.05; echo '{\"permission\":\"ask\"}'")]);
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..80 {
        let hooks = hooks.clone();
        running.spawn(async move { hooks.before(&about(Path::new("/"))).await });
    }
    let verdicts = running.join_all().await;
    assert_eq!(verdicts.len(), 80);
    for verdict in verdicts {
        assert_eq!(verdict.permission, Permission::Ask, "{verdict:?}");
    }
}
