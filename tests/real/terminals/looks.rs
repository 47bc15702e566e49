//! What is seen of a terminal from outside: its processes, its branch, and why a
//! command is quiet.

use super::desk::Desk;
use glass_proto::shellglass::v1::Session;
use glass_proto::shellglass::v1::session_event::Event;
use shellglass_tests::Daemon;

#[tokio::test]
async fn what_runs_is_listed_and_leaves_the_list() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    desk.keys("sleep 1234 | cat\r").await;
    let is_listed = |shown: &Session, wanted: &str| {
        let mut processes = shown.processes.iter();
        processes.any(|process| process.command == wanted && process.source == "direct")
    };
    let both = |shown: &Session| is_listed(shown, "sleep 1234") && is_listed(shown, "cat");
    desk.session.until("both are listed", both).await;
    desk.is_in_front("sleep 1234").await;
    desk.keys("\x03").await;
    desk.ended("sleep").await;
    desk.session
        .until("none is", |shown| shown.processes.is_empty())
        .await;
}

#[tokio::test]
async fn the_branch_is_that_of_the_directory() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    let made = "git init -q -b trunk repository && cd repository\r";
    assert_eq!(desk.typed(made).await.exit_code, Some(0));
    desk.session
        .until("it is on trunk", |shown| shown.git_branch == "trunk")
        .await;
    desk.typed("git checkout -q -b side/way\r").await;
    desk.session
        .until("it is aside", |shown| shown.git_branch == "side/way")
        .await;
    desk.typed("cd /\r").await;
    desk.session
        .until("it is on none", |shown| shown.git_branch.is_empty())
        .await;
}

#[tokio::test]
async fn a_quiet_command_says_what_it_waits_for() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    for (command, reason, keys) in [
        ("cat", "terminal", "\x04"),
        ("stty -echo; cat; stty echo", "password", "\x04"),
        ("sh -c 'while :; do :; done'", "cpu", "\x03"),
    ] {
        desk.keys(&format!("{command}\r")).await;
        let waits =
            |shown: &Session| shown.active_command == command && shown.quiet_reason == reason;
        desk.session.until(reason, waits).await;
        desk.keys(keys).await;
        desk.ended(command).await;
        desk.session
            .until("it is not quiet", |shown| shown.quiet_reason.is_empty())
            .await;
    }
    let told = desk.events().await.into_iter();
    let quiet = told.filter_map(|event| match event.event {
        Some(Event::Status(status)) if status.status == "quiet" => Some(status.detail),
        _ => None,
    });
    let quiet: Vec<String> = quiet.collect();
    assert!(
        quiet.iter().any(|detail| detail.starts_with("password")),
        "{quiet:?}"
    );
}
