//! Output: exact bytes, streams apart and together, and files for what is long.

use glass_proto::agent::v1::shell_stream::Event as Item;
use glass_proto::agent::v1::{OutputLocation, ShellSuccess};
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::calls::{next, rest, success, told};
use shellglass_tests::{Daemon, TestSession};

async fn bounded(session: &TestSession, command: &str, threshold: u64) -> ShellSuccess {
    let request = session.with_args(command, |args| {
        args.file_output_threshold_bytes = Some(threshold);
    });
    success(session.result(request).await)
}

/// A cut text is head, a line that counts, and tail of the whole.
fn check_cut(cut: &str, whole: &[u8], threshold: usize) {
    let (head, rest) = cut.split_once("\n[").expect("a line says what is missing");
    let (missing, tail) = rest.split_once(" bytes cut]\n").expect("it counts");
    let missing: usize = missing.parse().unwrap();
    assert!(whole.starts_with(head.as_bytes()), "{head:?}");
    assert!(whole.ends_with(tail.as_bytes()), "{tail:?}");
    assert_eq!(head.len() + missing + tail.len(), whole.len());
    assert!(head.len() + tail.len() <= threshold);
    assert!(head.len() >= threshold / 2 - 3 && tail.len() >= threshold / 2 - 3);
}

fn check_file(location: &OutputLocation, whole: &[u8]) {
    let found = std::fs::read(&location.file_path).unwrap();
    assert!(found == whole, "the file holds {} bytes", found.len());
    assert_eq!(location.size_bytes, whole.len() as u64);
    let text = String::from_utf8_lossy(whole);
    assert_eq!(location.line_count, text.lines().count() as u64);
}

#[tokio::test]
async fn long_output_is_cut_in_the_middle_and_whole_in_a_file() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let whole: String = (1..=60_000).map(|n| format!("{n}\n")).collect();
        let result = bounded(&session, "seq 60000", 4_000).await;
        check_cut(&result.stdout, whole.as_bytes(), 4_000);
        assert_eq!(result.stderr, "");
        check_cut(
            result.interleaved_output.as_deref().unwrap(),
            whole.as_bytes(),
            4_000,
        );
        check_file(&result.output_location.unwrap(), whole.as_bytes());
    }
}

#[tokio::test]
async fn a_file_has_both_streams_and_its_last_line_without_an_end() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    // The pause lets the order of the two streams be seen.
    let command = "seq 5000; seq 3000 >&2; sleep 0.2; printf 'no newline'";
    let result = bounded(&session, command, 1_000).await;
    let out: String = (1..=5000).map(|n| format!("{n}\n")).collect::<String>() + "no newline";
    let err: String = (1..=3000).map(|n| format!("{n}\n")).collect();
    // Where both are long, each has half of the room.
    check_cut(&result.stdout, out.as_bytes(), 500);
    check_cut(&result.stderr, err.as_bytes(), 500);
    let location = result.output_location.unwrap();
    let found = std::fs::read(&location.file_path).unwrap();
    assert_eq!(found.len(), out.len() + err.len());
    assert_eq!(location.size_bytes, found.len() as u64);
    assert_eq!(location.line_count, 8001);
    assert!(found.starts_with(b"1\n2\n") && found.ends_with(b"no newline"));
}

#[tokio::test]
async fn a_small_stream_is_whole_beside_a_long_one() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let result = bounded(&session, "seq 50000; echo little >&2", 2_000).await;
    assert_eq!(result.stderr, "little\n");
    assert!(result.stdout.contains(" bytes cut]\n"));
}

#[tokio::test]
async fn output_at_the_threshold_is_not_cut() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "head -c 1000 /dev/zero | tr '\\0' x";
    let result = bounded(&session, command, 1_000).await;
    assert_eq!(result.stdout, "x".repeat(1000));
    assert_eq!(result.output_location, None);
    let result = bounded(&session, command, 999).await;
    assert_eq!(result.output_location.unwrap().size_bytes, 1000);
    let result = bounded(&session, "echo all", 0).await;
    assert_eq!(result.output_location.unwrap().size_bytes, 4);
}

#[tokio::test]
async fn the_default_threshold_is_a_setting() {
    let daemon = Daemon::start("[limits]\nfile_output_threshold_bytes = 100\n");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let result = success(session.result(session.request("seq 1000")).await);
    let whole: String = (1..=1000).map(|n| format!("{n}\n")).collect();
    check_cut(&result.stdout, whole.as_bytes(), 100);
    check_file(&result.output_location.unwrap(), whole.as_bytes());
}

#[tokio::test]
async fn a_cut_never_splits_a_character() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let whole = "a€😀é".repeat(2000);
    for threshold in 101..109 {
        let command = "for i in {1..2000}; do printf 'a€😀é'; done";
        let result = bounded(&session, command, threshold).await;
        assert!(!result.stdout.contains('\u{fffd}'), "{}", result.stdout);
        let (head, rest) = result.stdout.split_once("\n[").unwrap();
        let (missing, tail) = rest.split_once(" bytes cut]\n").unwrap();
        assert!(whole.starts_with(head) && whole.ends_with(tail));
        let missing: usize = missing.parse().unwrap();
        assert_eq!(head.len() + missing + tail.len(), whole.len());
    }
}

#[tokio::test]
async fn a_stream_has_everything_and_its_exit_names_the_file() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let request = session.with_args("seq 100000", |args| {
        args.file_output_threshold_bytes = Some(1_000);
    });
    let told = told(&session.client, request).await.unwrap();
    let whole: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(told.stdout() == whole.as_bytes());
    check_file(
        told.exit().output_location.as_ref().unwrap(),
        whole.as_bytes(),
    );
    assert_eq!(
        session.told("echo short").await.exit().output_location,
        None
    );
}

#[tokio::test]
async fn bytes_that_are_no_text_arrive_exactly() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        let every = "for i in {0..255}; do printf \"\\\\x$(printf %x $i)\"; done";
        let told = session.told(every).await;
        let expected: Vec<u8> = (0..=255).collect();
        assert_eq!(told.stdout(), expected, "{mode:?}");
        assert!(told.stdout_pieces().iter().any(|(_, raw)| *raw));
        let told = session.told("printf 'ab\\xff' >&2").await;
        assert_eq!(told.stderr(), b"ab\xff");
        let told = session
            .told("head -c 300000 /dev/urandom | tee bytes")
            .await;
        let bytes = std::fs::read(daemon.home().join("bytes")).unwrap();
        assert!(told.stdout() == bytes, "{mode:?}");
    }
}

#[tokio::test]
async fn a_character_in_two_writes_is_one_character() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        // Every byte of its own, long after the last: no read has a whole one.
        let slowly = "for b in e2 82 ac f0 9f 98 80 c3 a9; do printf \"\\\\x$b\"; sleep 0.03; done";
        let told = session.told(slowly).await;
        let pieces = told.stdout_pieces();
        let text: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(text, "€😀é", "{mode:?}");
        assert!(pieces.iter().all(|(_, raw)| !raw), "{pieces:?}");
        assert!(pieces.len() > 1, "it arrived slowly: {pieces:?}");
    }
}

#[tokio::test]
async fn half_a_character_at_the_end_is_kept_as_bytes() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let told = session.told("printf 'x\\xe2\\x82'").await;
    assert_eq!(told.stdout(), b"x\xe2\x82");
    let last = told.stdout_pieces().pop().unwrap();
    assert!(last.1 && last.0.ends_with('\u{fffd}'), "{last:?}");
    assert_eq!(session.run("echo next").await.stdout, "next\n");
}

#[tokio::test]
async fn interleaved_output_has_the_order_in_which_it_was_written() {
    let daemon = Daemon::start("");
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let session = TestSession::with(&daemon, "bash", mode).await;
        // Each write waits until the one before it was seen.
        let command = "wait_for() { until test -e step-$1; do sleep 0.005; done; rm step-$1; }
            for i in 1 2 3 4 5; do echo out$i; wait_for o$i; echo err$i >&2; wait_for e$i; done";
        let key = format!("call-{mode:?}");
        let request = session.with_args(command, |args| args.tool_call_id = key);
        let (_, mut stream) = session.begin_request(request.clone()).await;
        for number in 1..=5 {
            for (letter, word) in [("o", "out"), ("e", "err")] {
                let item = next(&mut stream).await.and_then(|message| message.event);
                let data = match item {
                    Some(Item::Stdout(output)) if letter == "o" => output.data,
                    Some(Item::Stderr(output)) if letter == "e" => output.data,
                    other => panic!("not in order: {other:?}"),
                };
                assert_eq!(data, format!("{word}{number}\n"));
                let step = daemon.home().join(format!("step-{letter}{number}"));
                std::fs::write(step, "").unwrap();
            }
        }
        assert_eq!(rest(&mut stream).await.exit().code, 0);
        let result = success(session.result(request).await);
        let order: String = (1..=5).map(|n| format!("out{n}\nerr{n}\n")).collect();
        assert_eq!(result.interleaved_output, Some(order), "{mode:?}");
        assert_eq!(result.stdout, "out1\nout2\nout3\nout4\nout5\n");
        assert_eq!(result.stderr, "err1\nerr2\nerr3\nerr4\nerr5\n");
    }
}

#[tokio::test]
async fn output_arrives_before_the_command_ends() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let command = "echo early; until test -e go; do sleep 0.01; done; echo late";
    let (_, mut stream) = session.begin(command).await;
    match next(&mut stream).await.and_then(|message| message.event) {
        Some(Item::Stdout(output)) => assert_eq!(output.data, "early\n"),
        other => panic!("not the early output: {other:?}"),
    }
    std::fs::write(daemon.home().join("go"), "").unwrap();
    assert_eq!(rest(&mut stream).await.stdout(), b"late\n");
}
