//! `policy replay`: what other rules would have said to what ran.

use serde_json::{Value, json};
use shellglass_tests::calls::{token, with_token};
use shellglass_tests::{Daemon, TestSession};

use glass_proto::shellglass::v1::CreateSessionRequest;

const RULES: &str = r#"
[[rule]]
prefix = ["make", "deploy"]
decision = "deny"
reason = "Not from here."
match = ["make deploy now"]
"#;

/// An agent's session, gone by now, in which commands ran.
async fn played(daemon: &Daemon, commands: &[&str]) -> String {
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        ..CreateSessionRequest::default()
    };
    let made = client.create_session(with_token(request, &agent)).await;
    let id = made.unwrap().into_inner().session_id;
    let session = TestSession { client, id };
    for command in commands {
        let request = with_token(session.request(command), &agent);
        session.client.clone().run(request).await.unwrap();
    }
    session.dispose().await;
    session.id
}

fn rules(daemon: &Daemon) -> String {
    let path = daemon.home().join("rules.toml");
    std::fs::write(&path, RULES).unwrap();
    path.to_str().unwrap().to_owned()
}

fn replayed(daemon: &Daemon, arguments: &[&str]) -> Value {
    let mut line = vec!["policy", "replay", "--json"];
    line.extend(arguments);
    let text = daemon.cli(&line).quiet();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn only_what_other_rules_would_decide_otherwise_is_told() {
    let daemon = Daemon::start("");
    let commands = [
        "git --version",
        "make deploy now",
        "echo \u{1b}[0m; make deploy",
    ];
    let id = played(&daemon, &commands).await;
    let rules = rules(&daemon);
    let answer = replayed(&daemon, &["--rules", &rules]);
    assert_eq!(answer["commands"], json!(3), "{answer}");
    let told: Vec<&Value> = answer["differences"].as_array().unwrap().iter().collect();
    assert_eq!(told.len(), 2, "{answer}");
    for (difference, command) in told.iter().zip(&commands[1..]) {
        assert_eq!(difference["command"], json!(command));
        assert_eq!(difference["sessionId"], json!(id));
        assert_eq!(difference["after"], json!("deny"));
        assert_eq!(difference["afterBy"], json!("user: make deploy"));
    }
    assert_eq!(answer["after"]["deny"], json!(2));
    assert_eq!(answer["before"]["deny"], json!(0));

    let page = daemon.cli(&["policy", "replay", "--rules", &rules]).quiet();
    assert!(
        page.contains("3 commands, 2 would be decided otherwise\n"),
        "{page}"
    );
    assert!(
        page.contains("echo <U+001B>[0m; make deploy (was: "),
        "{page}"
    );
    assert!(page.lines().nth(1).unwrap().contains("-> deny"), "{page}");
}

#[tokio::test]
async fn what_was_allowed_by_rules_that_are_gone_was_allowed() {
    let rule = "[[policy.rule]]\nprefix = [\"true\"]\ndecision = \"allow\"\n\
                [[policy.rule]]\nprefix = [\"printf\"]\ndecision = \"allow\"\n";
    let mut daemon = Daemon::start(&format!("[policy]\nbuiltin_allow = false\n{rule}"));
    played(&daemon, &["printf x", "true"]).await;
    let same = replayed(&daemon, &[]);
    assert_eq!(same["differences"], json!([]), "{same}");
    assert_eq!(same["before"]["allow"], json!(2), "{same}");
    // The rules are taken away; what they decided is still known.
    let config = daemon.home().join("config/config.toml");
    assert!(config.exists(), "{}", config.display());
    std::fs::write(&config, "[policy]\nbuiltin_allow = false\n").unwrap();
    daemon.crash_and_restart();
    let answer = replayed(&daemon, &[]);
    assert_eq!(answer["before"]["allow"], json!(2), "{answer}");
    assert_eq!(answer["after"]["ask"], json!(2), "{answer}");
    assert_eq!(
        answer["differences"][0]["beforeBy"],
        json!("user: printf"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_replay_begins_when_it_is_told_to_and_refuses_bad_rules() {
    let daemon = Daemon::start("");
    played(&daemon, &["git --version"]).await;
    assert_eq!(replayed(&daemon, &["--since", "1h"])["commands"], json!(1));
    let none = replayed(&daemon, &["--since", "2999-01-01T00:00:00Z"]);
    assert_eq!(none["commands"], json!(0));
    let bad = daemon.home().join("bad.toml");
    std::fs::write(&bad, "[[rule]]\nprefix = 3\n").unwrap();
    let ran = daemon.cli(&["policy", "replay", "--rules", bad.to_str().unwrap()]);
    assert!(ran.failed_with(1).contains("hint: "));
    let odd = daemon.cli(&["policy", "replay", "--since", "x"]);
    assert_eq!(odd.status, 2, "{odd:?}");
}
