//! A person answers on the command line.

use super::Watched;
use shellglass_tests::calls::{rejected, success};
use shellglass_tests::program::{finish, ran};
use std::process::Stdio;

#[tokio::test]
async fn a_person_sees_exactly_what_would_run_and_answers() {
    let watched = Watched::start("").await;
    let command = "touch a\u{202e}b \u{1b}[2J";
    let asked = watched.ask(watched.session.request(command));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    let listed = ran(watched.daemon.command().args(["approvals"])).quiet();
    assert!(
        listed.contains("  | touch a<U+202E>b <U+001B>[2J\n"),
        "{listed}"
    );
    assert!(listed.starts_with(&format!("{id}  session {}", watched.session.id)));
    assert!(!listed.contains('\u{1b}'), "{listed:?}");
    let listed = ran(watched
        .daemon
        .command()
        .args(["approvals", "list", "--json"]))
    .quiet();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["approvals"][0]["command"], command);
    let denied = ran(watched
        .daemon
        .command()
        .args(["approvals", "deny", &id, "--reason", "no"]));
    assert_eq!(denied.status, 0, "{denied:?}");
    assert_eq!(rejected(asked.await.unwrap()), "a person refused it: no");
    ran(watched.daemon.command().args(["approvals", "approve", &id])).failed_with(1);

    let asked = watched.ask(watched.session.request("touch c"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    let approve = ["approvals", "approve", &id, "--scope", "session"];
    assert_eq!(ran(watched.daemon.command().args(approve)).status, 0);
    success(asked.await.unwrap());
    success(watched.run("touch d").await);
}

#[tokio::test]
async fn run_says_that_it_waits_and_exits_as_the_answer_makes_it() {
    let watched = Watched::start("").await;
    let config = "[[policy.rule]]\nprefix = [\"echo\", \"maybe\"]\ndecision = \"ask\"\n";
    std::fs::write(watched.marker(".shellglass.toml"), config).unwrap();
    let start = |arguments: &[&str]| {
        let mut command = watched.daemon.command();
        command.args(arguments).current_dir(watched.daemon.home());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    for (word, status, printed) in [("approve", 0, "maybe\n"), ("deny", 126, "")] {
        let run = start(&["run", "echo maybe"]);
        let id = watched.until_waiting(1).await[0].approval_id.clone();
        assert_eq!(
            ran(watched.daemon.command().args(["approvals", word, &id])).status,
            0
        );
        let run = tokio::task::spawn_blocking(|| finish(run)).await.unwrap();
        assert_eq!(
            (run.status, run.out().as_str()),
            (status, printed),
            "{run:?}"
        );
        let hint = format!("`shellglass approvals approve {id}`");
        assert!(run.stderr.contains(&hint), "{run:?}");
    }
    let yes = tokio::task::spawn_blocking({
        let run = start(&["run", "--yes", "echo maybe"]);
        || finish(run)
    });
    assert_eq!(yes.await.unwrap().quiet(), "maybe\n");
    let refused = tokio::task::spawn_blocking({
        let run = start(&["run", "mkfs.ext4 /dev/sda"]);
        || finish(run)
    });
    let refused = refused.await.unwrap();
    assert_eq!(
        (refused.status, refused.out().as_str()),
        (126, ""),
        "{refused:?}"
    );
    assert!(refused.stderr.contains("mkfs"), "{refused:?}");
}

#[tokio::test]
async fn the_audit_says_who_decided_what() {
    let watched = Watched::start("").await;
    success(watched.run("echo hi").await);
    rejected(watched.run("mkfs.ext4 /dev/sda").await);
    for (word, reason) in [("approve", "fine"), ("deny", "no")] {
        let asked = watched.ask(watched.session.request("touch a"));
        let id = watched.until_waiting(1).await[0].approval_id.clone();
        let answer = ["approvals", word, &id, "--reason", reason];
        assert_eq!(ran(watched.daemon.command().args(answer)).status, 0);
        asked.await.unwrap();
    }
    let printed = ran(watched.daemon.command().args(["audit", "--json"])).quiet();
    let entries: Vec<serde_json::Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<String> = entries.iter().map(|entry| entry.to_string()).collect();
    let find = |words: &[&str]| {
        let found = told
            .iter()
            .find(|line| words.iter().all(|word| line.contains(word)));
        found.unwrap_or_else(|| panic!("{words:?} in {told:#?}"));
    };
    find(&["\"ran\"", "echo hi", "allowed: built-in: echo"]);
    find(&["\"decided\"", "mkfs.ext4 /dev/sda", "deny"]);
    find(&["\"asked\"", "touch a", "no rule allows it"]);
    let decided = |decision: &str, by: &str| {
        let found = entries.iter().find(|entry| {
            let decided_by = entry["decidedBy"].as_str().unwrap_or_default();
            entry["decision"] == decision && decided_by.starts_with(by)
        });
        found.unwrap_or_else(|| panic!("{decision} by {by} in {told:#?}"));
    };
    decided("allow", "built-in: echo");
    decided("ask", "no rule allows it");
    decided("allow", "a person");
    decided("deny", "built-in: mkfs");
    find(&["\"answered\"", "\"fine\"", "\"person\""]);
    find(&["\"ran\"", "touch a", "allowed: a person"]);
    find(&["\"answered\"", "\"no\"", "\"person\""]);
    find(&["rejected: a person refused it: no"]);
    let verified = ran(watched.daemon.command().args(["audit", "verify"]));
    assert_eq!(verified.status, 0, "{verified:?}");
}

#[tokio::test]
async fn the_history_has_what_was_refused_and_why() {
    let watched = Watched::start("").await;
    success(watched.run("echo hi").await);
    let why = rejected(watched.run("mkfs.ext4 /dev/sda").await);
    let history = watched.session.history().await.executions;
    let [ran_one, refused] = &history[..] else {
        panic!("two commands were asked for: {history:#?}");
    };
    assert_eq!(
        (ran_one.exit_code, ran_one.rejected.as_str()),
        (Some(0), "")
    );
    assert_eq!(refused.command, "mkfs.ext4 /dev/sda");
    assert_eq!((refused.exit_code, &refused.rejected), (None, &why));
    assert_eq!(refused.end_index, Some(refused.start_index));
    assert!(refused.start_index > ran_one.start_index);
    let printed = ran(watched
        .daemon
        .command()
        .args(["history", &watched.session.id]))
    .quiet();
    let last: Vec<&str> = printed.lines().skip(1).collect();
    assert!(
        last[0].contains("  refused  ") && last[0].ends_with("mkfs.ext4 /dev/sda"),
        "{printed}"
    );
    assert_eq!(last[1].trim(), why, "{printed}");
    // What was refused once is decided anew like the rest.
    let replayed = ran(watched.daemon.command().args(["policy", "replay"])).quiet();
    assert!(replayed.contains("2 commands, 0 would be"), "{replayed}");
    assert!(replayed.contains("deny 1 -> 1"), "{replayed}");
}
