//! `run --background`, `stdin` and `wait`, as a person types them.

use shellglass_tests::Daemon;
use shellglass_tests::program::{Ran, ran};

fn line(daemon: &Daemon, words: &[&str]) -> Ran {
    let mut command = daemon.command();
    command.current_dir(daemon.home()).args(words);
    ran(&mut command)
}

fn spawn(daemon: &Daemon, words: &[&str]) -> String {
    let ran = line(daemon, &[&["run", "--background"], words].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let id = ran.out().trim().to_owned();
    assert!(id.parse::<u32>().is_ok(), "{ran:?}");
    assert!(
        ran.stderr.contains(&format!("shellglass output {id}")),
        "{ran:?}"
    );
    id
}

#[test]
fn a_command_is_left_running_written_to_and_waited_for() {
    let daemon = Daemon::start("");
    let id = spawn(
        &daemon,
        &["--env", "WHO=me", "echo $WHO ${PWD##*/}; cat; exit 4"],
    );
    let home = daemon
        .home()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let listed = line(&daemon, &["session", "list"]).quiet();
    assert!(listed.contains(&format!("(background {id})")), "{listed}");
    assert_eq!(line(&daemon, &["stdin", &id, "one\n"]).quiet(), "");
    assert_eq!(line(&daemon, &["stdin", &id, "two", "--enter"]).quiet(), "");
    let found = line(
        &daemon,
        &["wait", &id, "--pattern", "t.o", "--timeout", "30"],
    );
    assert_eq!(found.quiet(), "pattern two\n");
    let late = line(&daemon, &["wait", &id, "--exit", "--timeout", "0.1"]);
    assert_eq!((late.status, late.out().as_str()), (124, "timeout\n"));
    assert_eq!(line(&daemon, &["stdin", &id, "--end"]).quiet(), "");
    assert_eq!(line(&daemon, &["wait", &id]).quiet(), "exit 4\n");
    let gone = line(&daemon, &["wait", &id, "--port", "1", "--json"]);
    assert_eq!(gone.status, 1, "{gone:?}");
    let answer: serde_json::Value = serde_json::from_slice(&gone.stdout).unwrap();
    assert_eq!(
        (answer["reason"].as_str(), answer["exitCode"].as_i64()),
        (Some("exit"), Some(4))
    );
    let output = line(&daemon, &["output", &id]).quiet();
    assert_eq!(output, format!("me {home}\none\ntwo\n"));
}

#[test]
fn a_command_without_input_is_at_its_end() {
    let daemon = Daemon::start("");
    let id = spawn(&daemon, &["--no-stdin", "cat; echo end"]);
    assert_eq!(
        line(&daemon, &["wait", &id, "--timeout", "30"]).quiet(),
        "exit 0\n"
    );
    assert_eq!(line(&daemon, &["output", &id]).quiet(), "end\n");
}

#[test]
fn json_has_the_number_and_says_that_it_runs_on() {
    let daemon = Daemon::start("");
    let ran = line(
        &daemon,
        &["run", "--background", "--json", "exec sleep 1000"],
    );
    let result: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(result["isBackground"], true);
    let id = result["success"]["shellId"].as_u64().unwrap().to_string();
    let cancelled = line(&daemon, &["cancel", &id]);
    assert_eq!(cancelled.status, 0, "{cancelled:?}");
}

#[test]
fn what_makes_no_sense_is_told_with_a_hint() {
    let daemon = Daemon::start("");
    line(&daemon, &["stdin", "4000000", "x"]).failed_with(1);
    line(&daemon, &["stdin", "1"]).failed_with(2);
    line(&daemon, &["wait", "4000000"]).failed_with(1);
    let id = spawn(&daemon, &["exec sleep 1000"]);
    let said = line(&daemon, &["wait", &id, "--pattern", "("]);
    assert!(said.failed_with(1).contains("the pattern cannot be used"));
    let nowhere = line(
        &daemon,
        &["run", "--background", "--cwd", "/not/there", "true"],
    );
    assert_eq!(nowhere.status, 125, "{nowhere:?}");
    assert_eq!(line(&daemon, &["run", "--no-stdin", "true"]).status, 2);
}
