//! One call that returns at the first of several conditions.

use super::{Behind, exit, free_port};
use glass_proto::shellglass::v1::{ReadOutputRequest, WaitRequest, WaitResponse};
use std::time::{Duration, Instant};

fn waited(reason: &str, matched: &str) -> WaitResponse {
    WaitResponse {
        reason: reason.to_owned(),
        matched: matched.to_owned(),
        exit_code: None,
    }
}

#[tokio::test]
async fn the_end_is_told_with_its_code() {
    let behind = Behind::start("").await;
    let id = behind.spawn("read -r code; exit $code").await;
    let waiting = behind.wait(exit(id));
    let writing = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        behind.wrote(id, "7\n").await;
    };
    let (answer, ()) = tokio::join!(waiting, writing);
    assert_eq!(
        (answer.reason.as_str(), answer.exit_code),
        ("exit", Some(7))
    );
    // It is over for whoever comes later, and for whoever wants something else.
    for request in [
        WaitRequest {
            shell_id: id,
            ..WaitRequest::default()
        },
        WaitRequest {
            exit: false,
            pattern: "never".to_owned(),
            ..exit(id)
        },
        WaitRequest {
            exit: false,
            port: 9,
            ..exit(id)
        },
        WaitRequest {
            exit: false,
            file: "never".to_owned(),
            ..exit(id)
        },
        WaitRequest {
            exit: false,
            quiet_ms: 60_000,
            ..exit(id)
        },
    ] {
        let answer = behind.wait(request).await;
        assert_eq!(
            (answer.reason.as_str(), answer.exit_code),
            ("exit", Some(7))
        );
    }
}

#[tokio::test]
async fn a_pattern_is_found_in_what_nobody_has_read() {
    let behind = Behind::start("").await;
    let command = "echo ready 1; while read -r line; do echo \"ready $line\"; done";
    let id = behind.spawn(command).await;
    let ready = || WaitRequest {
        pattern: r"^ready \d+$".to_owned(),
        ..exit(id)
    };
    // Written before or after the call: it is found.
    assert_eq!(behind.wait(ready()).await, waited("pattern", "ready 1"));
    let read = ReadOutputRequest {
        shell_id: id,
        ..ReadOutputRequest::default()
    };
    let page = behind
        .client()
        .read_output(read)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(page.output, "ready 1\n");
    let short = WaitRequest {
        timeout_ms: 300,
        ..ready()
    };
    assert_eq!(behind.wait(short).await, waited("timeout", ""));
    let waiting = behind.wait(ready());
    let writing = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        behind.wrote(id, "2\n").await;
    };
    let (answer, ()) = tokio::join!(waiting, writing);
    assert_eq!(answer, waited("pattern", "ready 2"));
    let from_start = WaitRequest {
        offset: Some(0),
        ..ready()
    };
    assert_eq!(behind.wait(from_start).await, waited("pattern", "ready 1"));
    // What comes just before the end is found before the end is told.
    behind.wrote(id, "3\n\u{4}").await;
    behind.ended(id).await;
    let last = WaitRequest {
        pattern: "ready 3".to_owned(),
        exit: true,
        ..exit(id)
    };
    let answer = behind.wait(last).await;
    assert_eq!(
        (answer.reason.as_str(), answer.exit_code),
        ("pattern", Some(0))
    );
}

#[tokio::test]
async fn a_pattern_is_found_in_a_flood_and_over_its_cuts() {
    let behind = Behind::start("").await;
    let command = "seq 1 300000; printf half; sleep 0.2; printf 'way\\n'; exec sleep 1000";
    let id = behind.spawn(command).await;
    let request = WaitRequest {
        pattern: r"^300000\nhalfway$".to_owned(),
        ..exit(id)
    };
    assert_eq!(
        behind.wait(request).await,
        waited("pattern", "300000\nhalfway")
    );
    assert!(behind.cancel(id).await);
}

#[tokio::test]
async fn secrets_are_neither_matched_nor_told() {
    let behind = Behind::start("").await;
    let secret = "hunter2-hunter2-hunter2";
    let mut request = behind.request("echo \"the word is $MY_PASSWORD .\"; exec sleep 1000");
    request
        .env
        .insert("MY_PASSWORD".to_owned(), secret.to_owned());
    let answer = behind.answer(request).await;
    let glass_proto::agent::v1::background_shell_spawn_result::Result::Success(it) = answer else {
        panic!("not started: {answer:?}");
    };
    let line = WaitRequest {
        pattern: "the word is .*".to_owned(),
        ..exit(it.shell_id)
    };
    let answer = behind.wait(line).await;
    assert_eq!(answer.reason, "pattern");
    assert!(!answer.matched.contains("hunter2"), "{answer:?}");
    let guess = WaitRequest {
        pattern: "hunter".to_owned(),
        timeout_ms: 700,
        ..exit(it.shell_id)
    };
    assert_eq!(behind.wait(guess).await.reason, "timeout");
    assert!(behind.cancel(it.shell_id).await);
}

#[tokio::test]
async fn a_server_is_waited_for_by_its_port() {
    let behind = Behind::start("").await;
    let port = free_port();
    let command = format!("sleep 0.2; exec python3 -m http.server {port} --bind 127.0.0.1");
    let id = behind.spawn(&command).await;
    let request = WaitRequest {
        port: u32::from(port),
        ..exit(id)
    };
    assert_eq!(
        behind.wait(request).await,
        waited("port", &port.to_string())
    );
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    // It is this command's, and nobody else's.
    let other = behind.spawn("sleep 1000").await;
    let request = WaitRequest {
        port: u32::from(port),
        timeout_ms: 300,
        ..exit(other)
    };
    assert_eq!(behind.wait(request).await, waited("timeout", ""));
    assert!(behind.cancel(id).await && behind.cancel(other).await);
}

#[tokio::test]
async fn a_file_is_waited_for_where_the_command_began() {
    let behind = Behind::start("").await;
    let id = behind
        .spawn("read -r name; touch \"$name\"; exec sleep 1000")
        .await;
    let request = WaitRequest {
        file: "made".to_owned(),
        ..exit(id)
    };
    let waiting = behind.wait(request);
    let writing = async {
        tokio::time::sleep(Duration::from_millis(120)).await;
        behind.wrote(id, "made\n").await;
    };
    let (answer, ()) = tokio::join!(waiting, writing);
    let made = behind.dir().join("made");
    assert_eq!(answer, waited("file", &made.to_string_lossy()));
    let absolute = WaitRequest {
        file: made.to_string_lossy().into_owned(),
        ..exit(id)
    };
    assert_eq!(behind.wait(absolute).await.reason, "file");
    assert!(behind.cancel(id).await);
}

#[tokio::test]
async fn quiet_counts_from_the_last_output() {
    let behind = Behind::start("").await;
    let id = behind
        .spawn("for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; exec sleep 1000")
        .await;
    let began = Instant::now();
    let request = WaitRequest {
        quiet_ms: 400,
        ..exit(id)
    };
    assert_eq!(behind.wait(request).await, waited("quiet", ""));
    assert_eq!(behind.output(id).await, "1\n2\n3\n4\n5\n");
    assert!(began.elapsed() >= Duration::from_millis(400));
    assert!(behind.cancel(id).await);
}

#[tokio::test]
async fn what_a_command_of_a_session_left_behind_can_be_waited_for() {
    let behind = Behind::start("").await;
    let port = free_port();
    let command = format!(
        "(sleep 0.3; exec python3 -m http.server {port} --bind 127.0.0.1) >/dev/null 2>&1 &"
    );
    let ran = behind.session.run(&command).await;
    let request = WaitRequest {
        shell_id: ran.shell_id,
        port: u32::from(port),
        timeout_ms: 30_000,
        ..WaitRequest::default()
    };
    let answer = behind.wait(request).await;
    assert_eq!(
        (answer.reason.as_str(), answer.exit_code),
        ("port", Some(0))
    );
    behind.session.run("kill %1").await;
}

#[tokio::test]
async fn many_may_wait_at_once() {
    let behind = Behind::start("").await;
    let id = behind
        .spawn("read -r line; echo \"all $line\"; exec sleep 1000")
        .await;
    let request = WaitRequest {
        pattern: "all of them".to_owned(),
        ..exit(id)
    };
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let (mut client, request) = (behind.client(), request.clone());
        waiting.push(tokio::spawn(async move { client.wait(request).await }));
    }
    behind.wrote(id, "of them\n").await;
    for answer in waiting {
        let answer = answer.await.unwrap().expect("it is accepted").into_inner();
        assert_eq!(answer, waited("pattern", "all of them"));
    }
    assert!(behind.cancel(id).await);
}
