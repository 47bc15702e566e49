//! A session in a terminal that only shows, byte by byte.

use super::glass::Glass;
use serde_json::json;
use std::time::Instant;
use tokio_tungstenite::tungstenite::Message;

const PROMPT: &str = "\x1b]633;A\x07$ \x1b]633;B\x07";

fn opening(cwd: &str) -> String {
    format!("\x1b]633;P;Cwd={cwd}\x07\x1b]633;P;HasRichCommandDetection=True\x07")
}

/// A command as a mirror shows it.
fn command(text: &str, output: &str, code: i32) -> String {
    let escaped = text.replace('\\', "\\\\").replace(';', "\\x3b");
    format!("\x1b]633;E;{escaped}\x07{text}\r\n\x1b]633;C\x07{output}\x1b]633;D;{code}\x07{PROMPT}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mirror_opens_in_order_and_shows_history_and_life_alike() {
    let glass = Glass::start("");
    let session = glass.session("person");
    let home = glass.daemon.home().to_string_lossy().into_owned();
    let (_, told, shown) = glass.mirror(&session).await;
    assert_eq!(told[0]["type"], "opened");
    assert_eq!(
        (&told[0]["pid"], &told[0]["cwd"]),
        (&json!(-1), &json!(home))
    );
    assert_eq!(told[0]["sessionId"], json!(session));
    assert_eq!(
        told[1],
        json!({ "type": "property", "name": "initialCwd", "value": home })
    );
    assert_eq!(told[2]["type"], "ready");
    let empty = format!("{}{PROMPT}", opening(&home));
    assert_eq!(String::from_utf8(shown).unwrap(), empty);

    let (mut live, _, _) = glass.mirror(&session).await;
    let first = r"printf 'a\nb\r\n'; false";
    glass.run(&session, first);
    glass.run(&session, "echo c >&2");
    let expected = command(first, "a\r\nb\r\n", 1) + &command("echo c >&2", "c\r\n", 0);
    assert_eq!(
        live.shown_until(&expected[expected.len() - 60..]).await,
        expected
    );

    let (_, _, replayed) = glass.mirror(&session).await;
    let replay = format!("{}{PROMPT}{expected}", opening(&home));
    assert_eq!(String::from_utf8(replayed).unwrap(), replay);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_directory_is_told() {
    let glass = Glass::start("");
    let session = glass.session("person");
    let (mut mirror, _, _) = glass.mirror(&session).await;
    glass.run(&session, "cd /");
    let mut told = mirror.message("property").await;
    if told["name"] == "name" {
        told = mirror.message("property").await;
    }
    assert_eq!(
        told,
        json!({ "type": "property", "name": "cwd", "value": "/" })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_is_refused_and_ctrl_c_cancels_what_runs() {
    let glass = Glass::start("");
    let session = glass.session("person");
    let (mut mirror, _, _) = glass.mirror(&session).await;
    for input in [&b"x"[..], b"rm -rf x\r", b"\x03", b"\x03\x03", b"\xff\xfe"] {
        mirror.send(Message::binary(input.to_vec())).await;
        mirror.message("readonly").await;
    }
    let (mut other, _, _) = glass.mirror(&session).await;
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| glass.run(&session, "echo begun; exec sleep 1000"));
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            runtime.block_on(async {
                mirror.shown_until("begun\r\n").await;
                mirror.send(Message::binary(b"y".to_vec())).await;
                mirror.message("readonly").await;
                mirror.send(Message::binary(b"\x03".to_vec())).await;
            });
        });
        run.join().unwrap()
    });
    assert_eq!(run["failure"]["aborted"], json!(true));
    for view in [&mut mirror, &mut other] {
        view.shown_until(PROMPT).await;
    }
    shellglass_tests::eventually("nothing runs", || {
        let shown = glass.done("person", "GetSession", &json!({ "sessionId": session }));
        shown["busy"] == json!(false)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_is_bounded_and_says_what_is_missing() {
    let glass = Glass::start("");
    let request = json!({ "shell": "bash", "startup": "none", "scrollback": 100 });
    let made = glass.done("person", "CreateSession", &request);
    let session = made["sessionId"].as_str().unwrap();
    glass.run(session, "seq -f 'line %06g' 1 10000");
    glass.run(session, "echo end");
    let (_, _, shown) = glass.mirror(session).await;
    let shown = String::from_utf8(shown).unwrap();
    // 120,004 bytes were written, and 100 lines of 200 bytes are kept.
    let notice = "[Terminal output truncated: ~98KB dropped from beginning]\r\n";
    assert!(shown.contains(notice), "{}", &shown[..300]);
    assert!(!shown.contains("line 000001\r\n"));
    assert!(shown.contains("line 010000\r\n") && shown.contains("line 009000\r\n"));
    assert!(shown.ends_with(&command("echo end", "end\r\n", 0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_goes_on_after_an_index_and_ends_with_its_session() {
    let glass = Glass::start("");
    let session = glass.session("person");
    glass.run(&session, "echo first");
    let (_, told, _) = glass.mirror(&session).await;
    let next = told.last().unwrap()["nextIndex"].clone();
    glass.run(&session, "echo second");
    let mut later = glass.open("/ws/terminal").await;
    let init = json!({ "type": "init", "sessionId": session, "fromIndex": next });
    later.tell(&init).await;
    let (_, shown) = later.until("ready").await;
    let shown = String::from_utf8(shown).unwrap();
    assert!(
        shown.contains("second") && !shown.contains("first"),
        "{shown:?}"
    );
    glass.done("person", "DisposeSession", &json!({ "sessionId": session }));
    later.message("exit").await;
    assert!(later.is_closed().await);
    glass.done("person", "DisposeSession", &json!({ "sessionId": session }));
    let (mut over, _, shown) = glass.mirror(&session).await;
    assert!(String::from_utf8(shown).unwrap().contains("first\r\n"));
    over.message("exit").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_shown_is_an_error_that_says_why() {
    let glass = Glass::start("");
    let session = glass.session("person");
    for (init, expected) in [
        (
            json!({ "type": "init", "sessionId": "s-nosuchsession" }),
            "no session",
        ),
        (
            json!({ "type": "init", "sessionId": session, "view": "terminal" }),
            "no terminal view",
        ),
        (json!({ "type": "hello" }), "init"),
    ] {
        let mut socket = glass.open("/ws/terminal").await;
        socket.tell(&init).await;
        let error = socket.message("error").await;
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(expected), "{init}: {message}");
        assert!(socket.is_closed().await);
    }
    let mut socket = glass.open("/ws/terminal").await;
    socket.send(Message::binary(b"x".to_vec())).await;
    socket.message("error").await;
    let agent = format!(
        "Bearer {}",
        shellglass_tests::calls::token(glass.daemon.home(), "agent")
    );
    let opened = glass
        .socket("/ws/terminal", &[("authorization", &agent)])
        .await;
    let mut foreign = opened.expect("an agent may ask");
    foreign
        .tell(&json!({ "type": "init", "sessionId": session }))
        .await;
    let error = foreign.message("error").await;
    assert!(
        error["message"].as_str().unwrap().contains("session"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_that_does_not_read_slows_nobody() {
    let glass = Glass::start("");
    let session = glass.session("person");
    let (mut asleep, _, _) = glass.mirror(&session).await;
    let (mut awake, _, _) = glass.mirror(&session).await;
    let flood = "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo over";
    let begun = Instant::now();
    let run = glass.run(&session, flood);
    assert_eq!(run["success"]["exitCode"], json!(0));
    let mut bytes = 0;
    let mut tail = Vec::new();
    while !tail.ends_with(PROMPT.as_bytes()) {
        let piece = match awake.next().await {
            Some(Message::Binary(piece)) => piece,
            Some(Message::Text(_)) => continue,
            other => panic!("{other:?} after {bytes}"),
        };
        bytes += piece.len();
        tail.extend_from_slice(&piece);
        tail.drain(..tail.len().saturating_sub(100));
    }
    assert!(bytes > 50_000_000, "{bytes}");
    let fast = begun.elapsed();
    // Whoever reads late still reads everything, once.
    let mut late = 0;
    while late < bytes {
        match asleep.next().await {
            Some(Message::Binary(piece)) => late += piece.len(),
            Some(Message::Text(_)) => {}
            other => panic!("{other:?} after {late} of {bytes}, {fast:?}"),
        }
    }
    assert_eq!(late, bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_terminal_takes_what_is_typed_and_a_read_only_one_does_not() {
    let glass = Glass::start("");
    let mut typing = glass.open("/ws/terminal").await;
    typing
        .tell(&json!({ "type": "init", "cols": 100, "rows": 20 }))
        .await;
    let (told, _) = typing.until("ready").await;
    assert_eq!(told[0]["type"], "opened");
    assert!(told[0]["pid"].as_i64().unwrap() > 0, "{told:?}");
    let session = told[0]["sessionId"].as_str().unwrap().to_owned();
    let mut watching = glass.open("/ws/terminal").await;
    let init = json!({ "type": "init", "sessionId": session, "readOnly": true });
    watching.tell(&init).await;
    watching.until("ready").await;
    watching.send(Message::binary(b"x".to_vec())).await;
    watching.message("readonly").await;
    let line = b"stty size; echo is-$((6 * 7))\r".to_vec();
    typing.send(Message::binary(line)).await;
    for view in [&mut typing, &mut watching] {
        let mut shown = String::new();
        while !shown.contains("is-42") {
            let Some(message) = view.next().await else {
                panic!("closed after {shown:?}");
            };
            if let Message::Binary(bytes) = message {
                shown.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        assert!(shown.contains("20 100"), "{shown:?}");
    }
    glass.done("person", "DisposeSession", &json!({ "sessionId": session }));
    typing.message("exit").await;
}
