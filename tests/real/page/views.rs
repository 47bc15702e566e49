//! What a view is sent as any terminal is, and what closing the last one means.

use super::glass::{Glass, Socket};
use rustix::process::Signal;
use serde_json::{Value, json};
use shellglass_tests::program::signal;
use shellglass_tests::{PATIENCE, eventually};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A mirror that shows a command before the first one runs.
async fn announcing(glass: &Glass, session: &str, command: &str) -> (Socket, String) {
    let mut socket = glass.open("/ws/terminal").await;
    let init = json!({ "type": "init", "sessionId": session, "command": command });
    socket.tell(&init).await;
    let (_, shown) = socket.until("ready").await;
    (socket, String::from_utf8(shown).unwrap())
}

async fn refreshed(socket: &mut Socket, name: &str) -> Value {
    socket
        .tell(&json!({ "type": "refresh", "name": name }))
        .await;
    socket.message("property").await["value"].clone()
}

fn is_there(glass: &Glass, session: &str) -> bool {
    let listed = glass.done("person", "ListSessions", &json!({}));
    let sessions = listed["sessions"].as_array().cloned().unwrap_or_default();
    sessions.iter().any(|one| one["sessionId"] == session)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mirror_accepts_what_terminals_are_sent_and_says_what_it_cannot_refresh() {
    let glass = Glass::start("");
    let session = glass.session("person");
    let home = glass.daemon.home().to_string_lossy().into_owned();
    let (mut mirror, told, _) = glass.mirror(&session).await;
    assert_eq!(
        (&told[0]["name"], &told[0]["icon"]),
        (&json!("bash"), &json!("eye"))
    );
    for message in [
        json!({ "type": "clear" }),
        json!({ "type": "unicode", "version": "11" }),
        json!({ "type": "set", "name": "title", "value": "x" }),
        json!({ "type": "binary", "data": "\u{1b}[M\u{ff}" }),
        json!({ "type": "ack", "bytes": 7 }),
        json!({ "type": "resize", "cols": 10, "rows": 10 }),
        json!({ "type": "refresh", "name": "shellType" }),
    ] {
        mirror.tell(&message).await;
    }
    // The first answer is to the last of them: the others did nothing.
    let (told, shown) = mirror.until("unsupported").await;
    assert_eq!((told.len(), shown.len()), (1, 0), "{told:?}");
    assert_eq!(told[0]["name"], "shellType");
    let message = told[0]["message"].as_str().unwrap();
    assert!(message.contains("not supported"), "{message}");

    glass.run(&session, "cd /; echo 'a\u{202e}b'");
    mirror.shown_until("\x1b]633;B\x07").await;
    assert_eq!(refreshed(&mut mirror, "initialCwd").await, json!(home));
    assert_eq!(refreshed(&mut mirror, "cwd").await, json!("/"));
    assert_eq!(refreshed(&mut mirror, "icon").await, json!("eye"));
    // It is called after what it ran last, and nothing hides in that.
    let name = refreshed(&mut mirror, "name").await;
    assert_eq!(name, json!("cd /; echo 'a\\u{202e}b'"));
    // What is wrong is said, and the view goes on.
    mirror.tell(&json!({ "type": "refresh" })).await;
    mirror.message("error").await;
    assert_eq!(refreshed(&mut mirror, "icon").await, json!("eye"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mirror_is_named_after_what_runs() {
    let glass = Glass::start("");
    let session = glass.session("person");
    let (mut mirror, _, _) = glass.mirror(&session).await;
    glass.run(&session, "echo one");
    let told = mirror.message("property").await;
    assert_eq!(
        told,
        json!({ "type": "property", "name": "name", "value": "echo one" })
    );
    let (_, told, _) = glass.mirror(&session).await;
    assert_eq!(told[0]["name"], "echo one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_to_show_can_be_set_before_the_first_one_runs() {
    let glass = Glass::start("");
    let prompt = "\x1b]633;A\x07$ \x1b]633;B\x07";
    let line = |text: &str| format!("\x1b]633;E;{text}\x07{text}");
    let ran = |output: &str| format!("\r\n\x1b]633;C\x07{output}\r\n\x1b]633;D;0\x07{prompt}");

    // What was set and then runs is shown once, as any command is.
    let session = glass.session("person");
    let (mut mirror, opened) = announcing(&glass, &session, "echo a").await;
    assert!(opened.ends_with(prompt), "{opened:?}");
    assert_eq!(mirror.shown_until("echo a").await, line("echo a"));
    mirror
        .tell(&json!({ "type": "command", "command": "echo z" }))
        .await;
    glass.run(&session, "echo a");
    assert_eq!(mirror.shown_until(prompt).await, ran("a"));
    // The next one is shown as it comes.
    glass.run(&session, "echo b");
    assert_eq!(mirror.shown_until(prompt).await, line("echo b") + &ran("b"));

    // Where another one runs, it has a prompt of its own.
    let session = glass.session("person");
    let (mut mirror, _) = announcing(&glass, &session, "echo a").await;
    mirror.shown_until("echo a").await;
    glass.run(&session, "echo c");
    let other = format!("\r\n{prompt}{}{}", line("echo c"), ran("c"));
    assert_eq!(mirror.shown_until(&ran("c")).await, other);

    // Where something ran before, nothing is set.
    let (mut mirror, opened) = announcing(&glass, &session, "echo a").await;
    assert!(opened.ends_with(&ran("c")), "{opened:?}");
    glass.run(&session, "echo d");
    assert_eq!(mirror.shown_until(prompt).await, line("echo d") + &ran("d"));
}

const ENDS_AT_ONCE: &str = "[views]\ndispose_on_close = true\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_the_last_view_ends_the_session_where_that_is_wanted() {
    let glass = Arc::new(Glass::start(ENDS_AT_ONCE));
    let session = glass.session("person");
    let (first, _, _) = glass.mirror(&session).await;
    let (mut second, _, _) = glass.mirror(&session).await;
    let running = tokio::task::spawn_blocking({
        let (glass, session) = (glass.clone(), session.clone());
        move || glass.run(&session, "sleep 1000")
    });
    second.shown_until("\x1b]633;C\x07").await;
    // Somebody still looks.
    drop(first);
    assert_eq!(refreshed(&mut second, "name").await, json!("sleep 1000"));
    assert!(is_there(&glass, &session));
    drop(second);
    let ended = running.await.unwrap();
    assert_eq!(ended["failure"]["aborted"], json!(true), "{ended}");
    eventually("the session ends with its last view", || {
        !is_there(&glass, &session)
    })
    .await;
    // Ending it once more is harmless.
    glass.done("person", "DisposeSession", &json!({ "sessionId": session }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_that_is_opened_in_time_keeps_its_session() {
    const DELAY: Duration = Duration::from_secs(3);
    let delay = format!("dispose_delay_seconds = {}\n", DELAY.as_secs());
    let glass = Glass::start(&format!("{ENDS_AT_ONCE}{delay}"));
    // A machine may be too busy to be in time.
    let deadline = Instant::now() + PATIENCE;
    let (kept, _view) = loop {
        assert!(Instant::now() < deadline, "no view is opened in time");
        let session = glass.session("person");
        let (view, _, _) = glass.mirror(&session).await;
        let closed = Instant::now();
        drop(view);
        let (again, _, _) = glass.mirror(&session).await;
        if closed.elapsed() < DELAY {
            break (session, again);
        }
    };
    let left = glass.session("person");
    drop(glass.mirror(&left).await);
    eventually("the session ends some time after its last view", || {
        !is_there(&glass, &left)
    })
    .await;
    // It was closed before the other one, and would have ended before it.
    assert!(is_there(&glass, &kept));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_the_end_of_the_daemon_nor_a_setting_that_is_off_ends_a_session() {
    let mut glass = Glass::start(ENDS_AT_ONCE);
    let session = glass.session("person");
    let (view, _, _) = glass.mirror(&session).await;
    signal(glass.daemon.pid(), Signal::TERM);
    eventually("the daemon ends", || glass.daemon.has_ended()).await;
    drop(view);
    glass.restart();
    assert!(is_there(&glass, &session));

    let glass = Glass::start("");
    let session = glass.session("person");
    drop(glass.mirror(&session).await);
    glass.run(&session, "true");
    assert!(is_there(&glass, &session));
}
