//! Who asked, what ran, how it ended; and whoever changes that afterwards is
//! found out.

use glass_proto::shellglass::v1::{
    CancelRequest, CreateSessionRequest, ReadAuditRequest, SessionMode, VerifyAuditRequest,
};
use serde_json::{Value, json};
use shellglass_tests::calls::{next, refused, token, with_token};
use shellglass_tests::{Daemon, PATIENCE, TestSession, program};
use std::time::{Duration, Instant};
use tonic::Code;

mod replay;

/// The audit as the command line prints it.
fn entries(daemon: &Daemon, arguments: &[&str]) -> Vec<Value> {
    let mut line = vec!["audit", "--json"];
    line.extend(arguments);
    let text = daemon.cli(&line).quiet();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn verified(daemon: &Daemon) -> Value {
    let text = daemon.cli(&["audit", "verify", "--json"]).quiet();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What somebody does who can write to the journal.
fn tamper(daemon: &Daemon, sql: &str) {
    let journal = daemon.home().join("data/journal.db");
    let conn = rusqlite::Connection::open(journal).unwrap();
    conn.execute_batch(sql).unwrap();
}

async fn session(daemon: &Daemon) -> TestSession {
    TestSession::with(daemon, "bash", SessionMode::Pipe).await
}

#[tokio::test]
async fn every_command_has_an_entry_when_it_runs_and_one_when_it_ends() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let first = session
        .run("cd /usr; exit_with() { return 3; }; exit_with")
        .await;
    let second = session.run("sh -c 'kill -KILL $$'").await;
    let slow = session.with_args("sleep 1000", |args| args.timeout = 50);
    session.try_run(slow).await.unwrap();
    let all = entries(&daemon, &[]);
    let told: Vec<(u64, &str)> = all
        .iter()
        .map(|entry| {
            let kind = if entry["ran"].is_null() {
                "ended"
            } else {
                "ran"
            };
            (entry["shellId"].as_u64().unwrap(), kind)
        })
        .collect();
    let ids = [first.shell_id, second.shell_id, second.shell_id + 1].map(u64::from);
    let expected: Vec<(u64, &str)> = ids
        .iter()
        .flat_map(|id| [(*id, "ran"), (*id, "ended")])
        .collect();
    assert_eq!(told, expected);
    for (entry, number) in all.iter().zip(1u64..) {
        assert_eq!(entry["number"], json!(number.to_string()));
        assert_eq!(entry["sessionId"], json!(session.id));
        assert_eq!(entry["askedBy"], json!("person"));
        assert_ne!(entry["unixMs"], json!("0"));
    }
    assert_eq!(
        all[0]["command"],
        json!("cd /usr; exit_with() { return 3; }; exit_with")
    );
    let home = daemon.home().to_str().unwrap();
    assert_eq!(all[0]["ran"], json!({"cwd": home, "sandbox": "none"}));
    assert_eq!(all[1]["ended"], json!({"exitCode": 3, "how": "exited"}));
    assert_eq!(all[2]["ran"]["cwd"], json!("/usr"));
    assert_eq!(
        all[3]["ended"],
        json!({"exitCode": 137, "how": "signal SIGKILL"})
    );
    assert_eq!(all[5]["ended"]["how"], json!("timed out"));
    let check = verified(&daemon);
    assert_eq!(
        (&check["holds"], &check["entries"]),
        (&json!(true), &json!("6"))
    );
    assert_eq!(check["headHash"], all[5]["hash"]);
}

#[tokio::test]
async fn an_entry_names_who_asked_and_not_whose_session_it_is() {
    let daemon = Daemon::start("");
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let request = CreateSessionRequest {
        task_id: "t-7".to_owned(),
        ..CreateSessionRequest::default()
    };
    let made = client.create_session(with_token(request, &agent)).await;
    let id = made.unwrap().into_inner().session_id;
    let session = TestSession { client, id };
    let request = with_token(session.request("true"), &agent);
    session.client.clone().run(request).await.unwrap();
    session.run("true").await;
    let asked: Vec<Value> = entries(&daemon, &[])
        .into_iter()
        .map(|entry| json!([entry["askedBy"], entry["taskId"]]))
        .collect();
    let (agents, persons) = (json!(["agent:t-7", "t-7"]), json!(["person", "t-7"]));
    assert_eq!(asked, [agents.clone(), agents, persons.clone(), persons]);
}

#[tokio::test]
async fn a_command_that_cannot_run_has_an_end_that_says_so() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let request = session.with_args("true", |args| {
        args.working_directory = "/nowhere/at/all".to_owned();
    });
    session.try_run(request).await.unwrap();
    let last = entries(&daemon, &["-n", "1"]).pop().unwrap();
    let how = last["ended"]["how"].as_str().unwrap();
    assert!(how.starts_with("did not run: "), "{last}");
    assert_eq!(last["ended"].get("exitCode"), None, "{last}");
}

#[tokio::test]
async fn a_command_that_never_had_its_turn_has_an_end_that_says_what_was_decided() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let (_, _running) = session.begin("sleep 1000").await;
    let request = session.with_args("echo never", |args| args.tool_call_id = "k".to_owned());
    let mut client = session.client.clone();
    let behind = tokio::spawn(async move { client.run(request).await });
    let deadline = Instant::now() + PATIENCE;
    let key = CancelRequest {
        tool_call_id: "k".to_owned(),
        ..CancelRequest::default()
    };
    // It is not known before it waits.
    while session.client.clone().cancel(key.clone()).await.is_err() {
        assert!(Instant::now() < deadline, "it never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(behind.await.unwrap());
    let all = entries(&daemon, &[]);
    let about: Vec<&Value> = all
        .iter()
        .filter(|entry| entry["command"] == "echo never")
        .collect();
    assert_eq!(about.len(), 1, "{all:?}");
    assert_eq!(about[0]["ended"]["how"], json!("cancelled"));
    assert_eq!(about[0]["decision"], json!("allow"));
    assert_eq!(about[0]["decidedBy"], json!("nothing is known against it"));
}

#[tokio::test]
async fn an_agent_reads_nothing_of_it() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    session.run("echo secret").await;
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let verify = with_token(VerifyAuditRequest::default(), &agent);
    refused(client.verify_audit(verify).await, Code::PermissionDenied);
    let read = with_token(ReadAuditRequest::default(), &agent);
    let mut stream = client.read_audit(read).await.unwrap().into_inner();
    refused(stream.message().await, Code::PermissionDenied);
    // Whatever runs inside a session is an agent, whoever began it.
    let (home, program) = (daemon.home().display(), program());
    let inside = format!("SHELLGLASS_HOME={home} {} audit", program.display());
    let told = session.run(&inside).await;
    assert_eq!(told.code, Some(126), "{told:?}");
    assert!(!told.stdout.contains("secret"), "{told:?}");

    let person = with_token(ReadAuditRequest::default(), &token(daemon.home(), "person"));
    let mut stream = client.read_audit(person).await.unwrap().into_inner();
    assert_eq!(next(&mut stream).await.unwrap().command, "echo secret");
}

#[tokio::test]
async fn tampering_is_found_and_the_entry_is_named() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    for _ in 0..3 {
        session.run("echo harmless").await;
    }
    let said = daemon.cli(&["audit", "verify"]).quiet();
    let head = said
        .lines()
        .last()
        .unwrap()
        .strip_prefix("head ")
        .unwrap()
        .to_owned();
    assert!(
        said.starts_with("6 entries (1 to 6), all as they were written\n"),
        "{said}"
    );
    session.run("true").await;
    daemon.cli(&["audit", "verify", "--noted", &head]).quiet();

    tamper(
        &daemon,
        "UPDATE audit SET command = 'echo other' WHERE number = 3",
    );
    let ran = daemon.cli(&["audit", "verify"]);
    let said = ran.failed_with(1);
    assert!(said.contains("broken at entry 3: it was changed"), "{said}");
    assert!(said.contains("2 before it hold"), "{said}");
    assert!(said.contains("hint: "), "{said}");
    let answer: Value =
        serde_json::from_str(&daemon.cli(&["audit", "verify", "--json"]).out()).unwrap();
    assert_eq!(
        (&answer["holds"], &answer["broken"]["number"]),
        (&json!(false), &json!("3"))
    );
    // It goes on being written and read.
    session.run("true").await;
    assert_eq!(entries(&daemon, &[]).len(), 10);
    tamper(
        &daemon,
        "UPDATE audit SET command = 'echo harmless' WHERE number = 3",
    );
    daemon.cli(&["audit", "verify", "--noted", &head]).quiet();
    tamper(&daemon, "DELETE FROM audit WHERE number = 10");
    let ran = daemon.cli(&["audit", "verify"]);
    assert!(
        ran.failed_with(1)
            .contains("broken at entry 10: it is missing")
    );
}

#[tokio::test]
async fn entries_are_chosen_by_session_time_and_number() {
    let daemon = Daemon::start("");
    let one = session(&daemon).await;
    let other = session(&daemon).await;
    one.run("echo 1").await;
    other.run("echo 2").await;
    one.run("echo 3").await;
    let commands = |arguments: &[&str]| -> Vec<String> {
        let found = entries(&daemon, arguments).into_iter();
        let ran = found.filter(|entry| !entry["ran"].is_null());
        ran.map(|entry| entry["command"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(commands(&[]), ["echo 1", "echo 2", "echo 3"]);
    assert_eq!(commands(&["--session", &one.id]), ["echo 1", "echo 3"]);
    assert_eq!(commands(&["-n", "2"]), ["echo 3"]);
    assert_eq!(commands(&["--session", &other.id, "-n", "100"]), ["echo 2"]);
    assert_eq!(commands(&["--since", "1h"]), ["echo 1", "echo 2", "echo 3"]);
    assert_eq!(commands(&["--since", "2999-01-01"]), [""; 0]);
    let ran = daemon.cli(&["audit", "--since", "tomorrow"]);
    assert!(ran.stderr.contains("or a date such as"), "{ran:?}");
    let none = daemon.cli(&["audit", "-n", "0"]);
    assert_eq!((ran.status, none.status), (2, 2));
}

#[tokio::test]
async fn nothing_in_a_command_moves_the_cursor_of_who_reads_of_it() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    session.run("echo \u{1b}[2J\u{202e} >/dev/null\ntrue").await;
    let text = daemon.cli(&["audit"]).quiet();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.contains(
            "echo <U+001B>[2J<U+202E> >/dev/null\\ntrue (allowed: nothing is known against it)\n"
        ),
        "{text}"
    );
    assert!(text.contains("ended 0 (exited)\n"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

#[tokio::test]
async fn a_daemon_that_dies_leaves_every_entry_once() {
    let mut daemon = Daemon::start("");
    let session = session(&daemon).await;
    for round in 0..5 {
        session.run(&format!("echo {round}")).await;
    }
    let release = daemon.home().join("release");
    let waiting = format!("until [ -e {} ]; do sleep 0.02; done", release.display());
    let (id, _stream) = session.begin(&waiting).await;
    daemon.crash_and_restart();
    let session = TestSession {
        client: daemon.client().await,
        id: session.id.clone(),
    };
    std::fs::write(&release, "").unwrap();
    session.until("it is over", |shown| !shown.running).await;
    let all = entries(&daemon, &[]);
    let of_it = |entry: &&Value| entry["shellId"] == json!(id);
    let [ran, ended] = all.iter().filter(of_it).collect::<Vec<_>>()[..] else {
        panic!("not two entries: {all:?}");
    };
    assert_eq!(ran["command"], json!(waiting));
    assert_eq!(ended["ended"], json!({"exitCode": 0, "how": "exited"}));
    assert_eq!(all.len(), 12, "{all:?}");
    assert_eq!(verified(&daemon)["entries"], json!("12"));
}

#[tokio::test]
async fn the_oldest_entries_go_when_there_are_too_many() {
    let daemon = Daemon::start("[limits]\naudit_rows_max = 4\n");
    let session = session(&daemon).await;
    for round in 0..5 {
        session.run(&format!("echo {round}")).await;
    }
    session
        .until("the limit was enforced", |_| {
            verified(&daemon)["entries"] == json!("4")
        })
        .await;
    let all = entries(&daemon, &[]);
    assert_eq!(all[0]["number"], json!("7"));
    assert_eq!(verified(&daemon)["first"], json!("7"));
}
