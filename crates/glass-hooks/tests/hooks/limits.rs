//! Every bound is one: what exceeds it is cut or has failed, and what reaches it
//! is not.

use crate::fixture::{SOON, about, asked, hook};
use glass_hooks::{ANSWER_BYTES_MAX, BeforeShellExecution, MESSAGE_BYTES_MAX, Permission};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the end of a complaint may have around it: the hook's name and why.
const AROUND_BYTES: usize = 512;

/// Hooks that run at once.
const RUNNING_MAX: usize = 32;

/// A hook whose answer has so many bytes.
fn answering(bytes: usize) -> String {
    let (start, end) = (r#"{"permission":"allow""#, "}");
    let padding = bytes - start.len() - end.len();
    format!("printf '%s%*s%s' '{start}' {padding} '' '{end}'")
}

#[tokio::test]
async fn an_answer_may_be_so_long() {
    let about = about(Path::new("/"));
    let longest = asked(vec![hook(&answering(ANSWER_BYTES_MAX))]);
    let said = longest.before(&about).await;
    assert_eq!(said.permission, Permission::Allow, "{:?}", said.failures);
    let longer = asked(vec![hook(&answering(ANSWER_BYTES_MAX + 1))]);
    let said = longer.before(&about).await;
    assert_eq!(said.permission, Permission::Deny);
    assert!(said.user_message.contains("printed more than"), "{said:?}");
}

#[tokio::test]
async fn a_message_is_cut() {
    let message = "m".repeat(MESSAGE_BYTES_MAX + 1);
    let script = format!(
        r#"echo '{{"permission":"deny","userMessage":"{message}","agentMessage":"{message}"}}'"#
    );
    let said = asked(vec![hook(&script)])
        .before(&about(Path::new("/")))
        .await;
    assert_eq!(said.permission, Permission::Deny);
    assert_eq!(said.user_message, message[1..]);
    assert_eq!(said.agent_message, message[1..]);
}

#[tokio::test]
async fn of_a_complaint_the_end_is_kept_and_of_a_name_the_beginning() {
    let command = format!(
        "printf 'BEGIN%*sEND' 100000 '' | tr ' ' x >&2; exit 3 # {}",
        "n".repeat(1000)
    );
    let said = asked(vec![hook(&command)])
        .before(&about(Path::new("/")))
        .await;
    let told = &said.failures[0];
    assert!(told.ends_with("xEND"), "{} bytes", told.len());
    // Its name has the word, too.
    assert_eq!(told.matches("BEGIN").count(), 1);
    assert!(told.len() <= 4096 + AROUND_BYTES, "{} bytes", told.len());
    assert!(told.contains("nnnn") && !told.contains(&"n".repeat(80)));
}

#[tokio::test]
async fn only_so_many_hooks_run_at_once_and_the_others_have_their_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    let (begun, go) = (folder.path().join("begun"), folder.path().join("go"));
    let script = format!(
        "echo >> {}; while [ ! -e {} ]; do sleep 0.02; done; echo '{{\"permission\":\"allow\"}}'",
        begun.display(),
        go.display()
    );
    let hooks = Arc::new(asked(vec![hook(&script)]));
    let started = || std::fs::read(&begun).map_or(0, |lines| lines.len());
    let calls: Vec<_> = (0..RUNNING_MAX + 8)
        .map(|_| {
            let (hooks, about) = (hooks.clone(), BeforeShellExecution::default());
            tokio::spawn(async move { hooks.before(&about).await })
        })
        .collect();
    let deadline = Instant::now() + SOON;
    while started() < RUNNING_MAX {
        assert!(Instant::now() < deadline, "only {} began", started());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for _ in 0..50 {
        assert_eq!(started(), RUNNING_MAX);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    std::fs::write(&go, "").expect("a file");
    for call in calls {
        let said = call.await.expect("no panic");
        assert_eq!(said.permission, Permission::Allow, "{said:?}");
    }
    assert_eq!(started(), RUNNING_MAX + 8);
}
