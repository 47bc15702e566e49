//! Secrets that come in pieces, while somebody looks.

use super::projections::{KNOWN, TOKEN, TOKEN_SHOWN, in_events, read, session, subscribed};
use glass_proto::agent::v1::shell_stream::Event as Item;
use glass_proto::shellglass::v1 as wire;
use shellglass_tests::calls::{next, rest};
use shellglass_tests::{Daemon, TestSession};

/// Prints a text in two writes, with a pause between them in which it is read.
fn in_two(text: &str, at: usize) -> String {
    let (one, two) = text.split_at(at);
    format!("printf '%s' '{one}'; sleep 0.15; printf '%s\\n' '{two}'")
}

#[tokio::test]
async fn a_secret_that_comes_in_two_pieces_is_shown_in_none() {
    let daemon = Daemon::start_with("", &[("MY_TOKEN", KNOWN)], &[]);
    let session = session(&daemon).await;
    let cases = [
        (format!("a {TOKEN}"), TOKEN, format!("a {TOKEN_SHOWN}\n")),
        (
            format!("a {KNOWN}"),
            KNOWN,
            "a [REDACTED:MY_TOKEN]\n".to_owned(),
        ),
    ];
    for (text, secret, expected) in cases {
        // From the fourth byte on: fewer may leave when the stream pauses.
        for at in [
            text.len() - secret.len() + 7,
            text.len() - 9,
            text.len() - 1,
        ] {
            let (id, mut stream) = session.begin(&in_two(&text, at)).await;
            let mut polled = String::new();
            let mut offset = 0;
            loop {
                let page = read(&session, id, offset, 0).await;
                polled += &page.output;
                offset = page.next_offset;
                if !page.running {
                    polled += &read(&session, id, offset, 0).await.output;
                    break;
                }
            }
            let told = rest(&mut stream).await;
            assert_eq!(String::from_utf8_lossy(&told.stdout()), expected, "at {at}");
            assert_eq!(polled, expected, "at {at}");
            let events = subscribed(&session, id).await;
            assert_eq!(in_events(&events, id).0, expected, "at {at}");
            assert_eq!(in_events(&session.history().await.events, id).0, expected);
            let summary = session.run(&in_two(&text, at)).await;
            assert_eq!(summary.stdout, expected, "at {at}");
        }
    }
}

#[tokio::test]
async fn prompts_are_shown_at_once_and_ends_that_could_go_on_are_shown_at_the_end() {
    let daemon = Daemon::start_with("", &[("MY_TOKEN", KNOWN)], &[]);
    let session = session(&daemon).await;
    // The last letter may begin the known value; the pause lets it go.
    let (id, mut stream) = session.begin("mkfifo go; printf 'press k'; cat go").await;
    let mut seen = String::new();
    while seen != "press k" {
        let item = next(&mut stream).await.and_then(|message| message.event);
        match item {
            Some(Item::Stdout(piece)) => seen += &piece.data,
            other => panic!("after {seen:?} came {other:?}"),
        }
        assert!("press k".starts_with(&seen), "{seen}");
    }
    let begun = std::time::Instant::now();
    assert_eq!(poll_prompt(&session, id).await, "press k");
    assert!(begun.elapsed() < LONG_WAIT, "the letter waits for more");
    session.cancel(Some(id)).await;
    for text in ["token=abc", "see https://me", "kiwi-Ban", "ghp_aB3"] {
        let line = format!("printf '%s' '{text}'");
        let (id, mut stream) = session.begin(&line).await;
        let told = rest(&mut stream).await;
        assert_eq!(String::from_utf8_lossy(&told.stdout()), text);
        assert_eq!(in_events(&subscribed(&session, id).await, id).0, text);
        assert_eq!(in_events(&session.history().await.events, id).0, text);
        assert_eq!(read(&session, id, 0, 0).await.output, text);
        assert_eq!(session.run(&line).await.stdout, text);
    }
}

/// How long a reader is ready to wait for something new.
const LONG_WAIT: std::time::Duration = std::time::Duration::from_secs(20);

/// Reads until there is as much as the prompt has.
async fn poll_prompt(session: &TestSession, id: u32) -> String {
    let mut polled = String::new();
    while polled.len() < "press k".len() {
        let request = wire::ReadOutputRequest {
            shell_id: id,
            offset: Some(polled.len() as u64),
            wait_ms: u32::try_from(LONG_WAIT.as_millis()).unwrap(),
            ..wire::ReadOutputRequest::default()
        };
        let page = session.client.clone().read_output(request).await;
        let page = page.unwrap().into_inner();
        assert!(!page.output.is_empty(), "nothing more after {polled:?}");
        polled += &page.output;
    }
    polled
}

#[tokio::test]
async fn whoever_reads_events_in_small_pages_misses_nothing() {
    let daemon = Daemon::start_with("", &[("MY_TOKEN", KNOWN)], &[]);
    let session = session(&daemon).await;
    let text = format!("a {TOKEN} b {KNOWN} token=abc");
    let line = text.as_bytes().chunks(9).map(|piece| {
        format!(
            "printf '%s' '{}'; sleep 0.01",
            String::from_utf8_lossy(piece)
        )
    });
    let line: Vec<String> = line.collect();
    let id = session.run(&line.join("; ")).await.shell_id;
    let expected = format!("a {TOKEN_SHOWN} b [REDACTED:MY_TOKEN] token=abc");
    let whole = session.history().await.events;
    assert_eq!(in_events(&whole, id).0, expected);
    let mut events = Vec::new();
    let mut from_index = 0;
    loop {
        let request = wire::HistoryRequest {
            session_id: session.id.clone(),
            from_index,
            max_events: 1,
            ..wire::HistoryRequest::default()
        };
        let page = session.client.clone().get_session_history(request).await;
        let page = page.unwrap().into_inner();
        events.extend(page.events);
        match page.next_index {
            Some(next) => from_index = next,
            None => break,
        }
    }
    assert_eq!(in_events(&events, id).0, expected);
    // A subscriber that begins anywhere sees the rest, and no part of a secret.
    let last = whole.last().expect("events").index;
    for from in 0..=last {
        let mut stream = session.subscribe(from).await;
        let mut events = Vec::new();
        while events.last().is_none_or(|event: &wire::SessionEvent| {
            !matches!(event.event, Some(wire::session_event::Event::Exit(_)))
        }) {
            events.push(next(&mut stream).await.expect("the end comes"));
        }
        let shown = in_events(&events, id).0;
        assert!(expected.ends_with(&shown), "from {from}: {shown}");
    }
}
