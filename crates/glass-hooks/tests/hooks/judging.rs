//! What hooks answer, and what several answers make together.

use crate::fixture::{about, asked, environment, hook};
use glass_hooks::{AfterShellExecution, FailureMode, Hook, Hooks, Permission};
use serde_json::{Value, json};
use std::path::Path;

fn answers(answer: &str) -> Hook {
    hook(&format!("cat >/dev/null; echo '{answer}'"))
}

async fn check(hooks: Vec<Hook>, permission: Permission, user: &str, agent: &str) {
    let verdicts = asked(hooks).before(&about(Path::new("/"))).await;
    assert_eq!(verdicts.permission, permission, "{verdicts:?}");
    assert_eq!(verdicts.user_message, user);
    assert_eq!(verdicts.agent_message, agent);
    assert_eq!(verdicts.failures, Vec::<String>::new());
}

#[tokio::test]
async fn without_a_hook_everything_is_allowed() {
    check(vec![], Permission::Allow, "", "").await;
}

#[tokio::test]
async fn the_strictest_answer_wins_with_its_own_words() {
    let allow = || answers(r#"{"permission":"allow","userMessage":"Fine."}"#);
    let ask = |who: &str| {
        let text = r#"{"permission":"ask","userMessage":"WHO?","agentMessage":"Wait for WHO."}"#;
        answers(&text.replace("WHO", who))
    };
    let deny = || answers(r#"{"permission":"deny","userMessage":"No.","agentMessage":"Never."}"#);
    check(vec![allow()], Permission::Allow, "Fine.", "").await;
    check(
        vec![allow(), ask("Ann"), allow()],
        Permission::Ask,
        "Ann?",
        "Wait for Ann.",
    )
    .await;
    let both = "Wait for Ann.\nWait for Bob.";
    check(
        vec![ask("Ann"), allow(), ask("Bob")],
        Permission::Ask,
        "Ann?\nBob?",
        both,
    )
    .await;
    check(
        vec![ask("Ann"), allow(), deny()],
        Permission::Deny,
        "No.",
        "Never.",
    )
    .await;
}

#[tokio::test]
async fn hooks_run_in_order_and_none_runs_after_a_refusal() {
    let folder = tempfile::tempdir().expect("a folder");
    let says = |word: &str, permission: &str| {
        hook(&format!(
            "echo {word} >>order; echo '{{\"permission\":\"{permission}\"}}'"
        ))
    };
    let hooks = vec![
        says("1", "ask"),
        says("2", "allow"),
        says("3", "deny"),
        says("4", "allow"),
    ];
    let verdicts = asked(hooks).before(&about(folder.path())).await;
    assert_eq!(verdicts.permission, Permission::Deny);
    let order = std::fs::read_to_string(folder.path().join("order")).expect("written");
    assert_eq!(order, "1\n2\n3\n");
}

#[tokio::test]
async fn a_hook_gets_the_payload_the_directory_and_this_environment_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "cat >asked; env | cut -d= -f1 | sort >names; ls -l /proc/self/fd >fds; \
                  echo '{\"permission\":\"allow\"}'";
    let verdicts = asked(vec![hook(script)])
        .before(&about(folder.path()))
        .await;
    assert_eq!(verdicts.failures, Vec::<String>::new());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    let payload: Value = serde_json::from_str(&read("asked")).expect("JSON");
    assert_eq!(payload["hook"], json!("beforeShellExecution"));
    assert_eq!(payload["command"], json!("make all"));
    assert_eq!(payload["sessionId"], json!("s-1"));
    let names = read("names");
    assert!(
        names.contains("MARK\n") && !names.contains("HOME\n"),
        "{names}"
    );
    // The fourth is what `ls` reads the folder with.
    let fds = read("fds")
        .lines()
        .filter(|line| line.contains("->"))
        .count();
    assert_eq!(fds, 4);
}

#[tokio::test]
async fn a_hook_has_a_session_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "cut -d' ' -f1,5,6 /proc/self/stat >cut; read stat </proc/$$/stat; \
                  echo $stat >stat; echo '{\"permission\":\"allow\"}'";
    asked(vec![hook(script)])
        .before(&about(folder.path()))
        .await;
    let stat = std::fs::read_to_string(folder.path().join("stat")).expect("written");
    let fields: Vec<&str> = stat.split_whitespace().collect();
    // Its number, its group and its session.
    assert_eq!(fields[0], fields[4]);
    assert_eq!(fields[0], fields[5]);
}

#[tokio::test]
async fn hooks_are_told_one_after_the_other_and_only_failures_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let hooks = vec![
        hook("cat >1; echo '{\"permission\":\"deny\"}'"),
        Hook {
            failure: FailureMode::Open,
            ..hook("echo no luck >&2; exit 3")
        },
        hook("cat >2"),
    ];
    let hooks = Hooks::new(Vec::new(), hooks, environment());
    let told = AfterShellExecution {
        command: "make".to_owned(),
        cwd: folder.path().to_str().expect("UTF-8").to_owned(),
        exit_code: Some(2),
        output: "failed\n".to_owned(),
        ..AfterShellExecution::default()
    };
    let failures = hooks.after(&told).await;
    let expected = "The hook `echo no luck >&2; exit 3` failed: it exited with code 3.\n\
                    It said: no luck";
    assert_eq!(failures, [expected]);
    for name in ["1", "2"] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("written");
        let payload: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(payload["hook"], json!("afterShellExecution"));
        assert_eq!(payload["exitCode"], json!(2));
        assert_eq!(payload["output"], json!("failed\n"));
    }
}
