//! `ReadOutput`: from an offset, or on from the last read, with patience.

use glass_proto::shellglass::v1::{ReadOutputRequest, ReadOutputResponse, SessionMode};
use shellglass_tests::calls::{refused, rest};
use shellglass_tests::{Client, Daemon, PATIENCE, TestSession};
use std::time::Instant;
use tonic::Code;

async fn read(client: &Client, request: ReadOutputRequest) -> ReadOutputResponse {
    let answer = client.clone().read_output(request).await;
    answer.expect("output can be read").into_inner()
}

fn at(shell_id: u32, offset: u64, max_bytes: u64) -> ReadOutputRequest {
    ReadOutputRequest {
        shell_id,
        offset: Some(offset),
        max_bytes,
        wait_ms: 0,
    }
}

fn on(shell_id: u32, wait_ms: u32) -> ReadOutputRequest {
    ReadOutputRequest {
        shell_id,
        offset: None,
        max_bytes: 0,
        wait_ms,
    }
}

#[tokio::test]
async fn any_stretch_of_an_ended_command_can_be_read() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let id = session
        .run("printf 0123456789; sh -c 'exit 5'")
        .await
        .shell_id;
    let client = &session.client;
    let whole = read(client, at(id, 0, 0)).await;
    assert_eq!(
        (whole.output.as_str(), whole.next_offset),
        ("0123456789", 10)
    );
    assert_eq!((whole.running, whole.exit_code), (false, Some(5)));
    assert!(!whole.is_hot && whole.dropped_bytes == 0, "{whole:?}");
    let middle = read(client, at(id, 3, 4)).await;
    assert_eq!((middle.output.as_str(), middle.next_offset), ("3456", 7));
    let end = read(client, at(id, 10, 0)).await;
    assert_eq!((end.output.as_str(), end.next_offset), ("", 10));
    // An offset that is not there yet is not an error, and says how much there is.
    let beyond = read(client, at(id, 99, 0)).await;
    assert_eq!((beyond.output.as_str(), beyond.end_offset), ("", Some(10)));
    assert_eq!((end.end_offset, middle.end_offset), (Some(10), None));
    let unknown = client.clone().read_output(at(9_999, 0, 0)).await;
    refused(unknown, Code::NotFound);
}

#[tokio::test]
async fn reading_on_gives_each_byte_once() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "echo one; until test -e go; do sleep 0.01; done; echo two; sh -c 'exit 4'";
    let (id, mut stream) = session.begin(command).await;
    let client = &session.client;
    let first = read(client, on(id, 30_000)).await;
    assert_eq!(first.output, "one\n");
    assert!(first.running && first.is_hot, "{first:?}");
    assert_eq!(first.exit_code, None);
    let nothing = read(client, on(id, 50)).await;
    assert_eq!((nothing.output.as_str(), nothing.running), ("", true));
    std::fs::write(daemon.home().join("go"), "").unwrap();
    let second = read(client, on(id, 30_000)).await;
    assert_eq!(second.output, "two\n");
    rest(&mut stream).await.exit();
    let last = read(client, on(id, 30_000)).await;
    assert_eq!((last.output.as_str(), last.running), ("", false));
    assert_eq!(last.exit_code, Some(4));
    // A given offset does not move the reader that gives none.
    assert_eq!(read(client, at(id, 0, 0)).await.output, "one\ntwo\n");
    assert_eq!(read(client, on(id, 0)).await.output, "");
}

#[tokio::test]
async fn a_long_poll_answers_at_the_end_of_the_command() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let (id, mut stream) = session.begin("until test -e go; do sleep 0.01; done").await;
    let client = session.client.clone();
    let began = Instant::now();
    let waiting = tokio::spawn(async move { read(&client, on(id, 60_000)).await });
    std::fs::write(daemon.home().join("go"), "").unwrap();
    let answer = waiting.await.unwrap();
    assert_eq!((answer.running, answer.exit_code), (false, Some(0)));
    assert!(began.elapsed() < PATIENCE);
    rest(&mut stream).await.exit();
}

#[tokio::test]
async fn pages_join_to_the_whole_and_split_no_character() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "for i in {1..500}; do printf 'a€😀é'; done";
    let id = session.run(command).await.shell_id;
    for max in [1, 2, 3, 4, 5, 7, 1000, 4096] {
        let mut text = String::new();
        let mut offset = 0;
        loop {
            let page = read(&session.client, at(id, offset, max)).await;
            assert!(page.output.len() as u64 <= max.max(4));
            if page.next_offset == offset {
                break;
            }
            offset = page.next_offset;
            text.push_str(&page.output);
        }
        assert!(text == "a€😀é".repeat(500), "pages of {max} bytes");
    }
}

#[tokio::test]
async fn a_large_output_is_read_in_pages_that_fit_a_message() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let id = session.run("seq 1500000").await.shell_id;
    let whole: String = (1..=1_500_000).map(|n| format!("{n}\n")).collect();
    let (mut text, mut offset) = (String::new(), 0);
    while offset < whole.len() as u64 {
        let page = read(&session.client, at(id, offset, 0)).await;
        assert!(page.next_offset > offset && page.output.len() <= 4 << 20);
        offset = page.next_offset;
        text.push_str(&page.output);
    }
    assert!(text == whole);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_read_exactly() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let id = session.run("printf 'a\\xffb\\xe2\\x82'").await.shell_id;
    let page = read(&session.client, at(id, 0, 0)).await;
    assert_eq!(page.raw.as_deref(), Some(&b"a\xffb\xe2\x82"[..]));
    assert_eq!(
        (page.output.as_str(), page.next_offset),
        ("a\u{fffd}b\u{fffd}", 5)
    );
    let id = session.run("echo text").await.shell_id;
    assert_eq!(read(&session.client, at(id, 0, 0)).await.raw, None);
}

#[tokio::test]
async fn both_streams_are_read_in_their_order() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let result = session.run("echo out; echo err >&2").await;
    let page = read(&session.client, at(result.shell_id, 0, 0)).await;
    let mut lines: Vec<&str> = page.output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "out"]);
}
