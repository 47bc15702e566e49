//! A terminal for one command of a session on another host.

use super::super::terminals::one_command::{on_terminal, session_of, typed};
use super::super::terminals::viewer::{Viewer, open};
use super::connections::until;
use super::server::{Server, is_gone, session};
use glass_proto::shellglass::v1::{AttachOpen, CancelRequest, Empty, ExecuteRequest, View};
use shellglass_tests::calls::rest;
use shellglass_tests::eventually;

/// What the server's start files print before anything else does.
const NOISE: &str = "noise\r\nnoise\r\n\u{1e}";

#[tokio::test]
async fn a_command_elsewhere_has_a_terminal_and_an_exact_end() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    session.run("cd /usr; export CARRIED=along").await;
    let command = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : </dev/tty && stty size; \
        echo \"$CARRIED $GIVEN $TERM ${PAGER-none} $PWD\"; \
        cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '[c]overt-7193'; \
        cd /; exit 7";
    let mut request = on_terminal(&session, command);
    request
        .env
        .insert("GIVEN".to_owned(), "it's covert-7193".to_owned());
    let ran = session.try_run(request).await.unwrap();
    assert_eq!(ran.code, Some(7), "{ran:?}");
    let expected =
        format!("{NOISE}30 80\r\nalong it's covert-7193 xterm-256color none /usr\r\n0\r\n");
    assert_eq!(ran.stdout, expected);
    assert_eq!(ran.stderr, "");
    assert_eq!(session.shown().await.working_directory, "/usr");
    // What ssh also says of itself is known to be the command's, and nothing is left.
    for code in [0, 255] {
        let request = on_terminal(&session, &format!("echo on; exit {code}"));
        let ran = session.try_run(request).await.unwrap();
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(code), &*format!("{NOISE}on\r\n"))
        );
    }
    // Everything that it wrote is there before its end is.
    let request = on_terminal(&session, "seq 1 20000");
    let ran = session.try_run(request).await.unwrap();
    let lines: String = (1..=20_000).map(|n| format!("{n}\r\n")).collect();
    assert!(
        ran.stdout == format!("{NOISE}{lines}"),
        "{} bytes",
        ran.stdout.len()
    );
    let missing = ExecuteRequest {
        args: session
            .with_args("true", |args| {
                args.working_directory = "/no/such".to_owned()
            })
            .args,
        ..on_terminal(&session, "true")
    };
    let ran = session.try_run(missing).await.unwrap();
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.stdout.contains("no directory /no/such"), "{ran:?}");
}

#[tokio::test]
async fn keys_and_sizes_reach_a_terminal_elsewhere() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let command = "stty -echo; printf 'wo''rd? '; read -r x; stty echo; echo \"got $x\"; \
        trap 'echo caught; exit 9' INT; echo re''ady; \
        while :; do read -r y; echo \"y=$y $(stty size)\"; done";
    let (id, mut stream) = session.begin_request(on_terminal(&session, command)).await;
    let behind = session_of(&session, id).await;
    let console = AttachOpen {
        view: View::Console.into(),
        ..open(&behind)
    };
    let mut viewer = Viewer::open(&session.client, console).await;
    viewer.until("word? ").await;
    typed(&session, id, "hunter2\n").await;
    viewer.until("got hunter2").await;
    viewer.until("ready").await;
    viewer.resize(100, 40).await;
    // The other side is told of it, and nobody is told when it has been.
    for asked in 0.. {
        assert!(asked < 500, "it keeps its size");
        viewer.forget();
        viewer.type_in("line\r").await;
        viewer.forget_through("y=line ").await;
        viewer.until("\r\n").await;
        if viewer.text().starts_with("40 100\r\n") {
            break;
        }
    }
    viewer.type_in("\x03").await;
    let told = rest(&mut stream).await;
    assert_eq!(told.exit().code, 9, "{:?}", told.exit());
    let shown = String::from_utf8(told.stdout()).unwrap();
    assert!(shown.ends_with("caught\r\n"), "{shown:?}");
    assert!(!shown.contains("word? hunter2"), "it was not echoed");
}

#[tokio::test]
async fn a_terminal_elsewhere_that_is_lost_or_cancelled_ends_honestly() {
    let mut server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    for (at, is_cancel) in [(0, true), (1, false)] {
        let mark = format!("{}", 300_000 + 2 * (std::process::id() % 90_000) + at);
        let begun = server.file(&format!("begun-{mark}"));
        // Whoever is hung up on ends, but for those that do not care.
        let deaf = if is_cancel { "trap '' HUP TERM;" } else { "" };
        let command = format!(
            "{deaf} echo before; touch {}; sleep {mark}",
            begun.display()
        );
        let (id, mut stream) = session.begin_request(on_terminal(&session, &command)).await;
        let behind = session_of(&session, id).await;
        eventually("it runs", || begun.exists()).await;
        // It is on its way until it is here, and may be lost with the connection.
        for looked in 0.. {
            if behind.output_of(id).await.contains("before") {
                break;
            }
            assert!(looked < 3_000, "nothing is shown");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        if is_cancel {
            let request = CancelRequest {
                shell_id: Some(id),
                ..CancelRequest::default()
            };
            session.client.clone().cancel(request).await.unwrap();
        } else {
            server.cut();
        }
        let told = rest(&mut stream).await;
        assert_eq!(told.exit().aborted, is_cancel, "{:?}", told.exit());
        assert!(told.exit().code_unknown || is_cancel, "{:?}", told.exit());
        assert_eq!(told.stdout()[..NOISE.len()], *NOISE.as_bytes());
        if !is_cancel {
            let lost = behind.remarks("lost").await;
            assert!(lost.iter().any(|why| why.contains("'box'")), "{lost:?}");
        }
        if is_cancel {
            // Its end waited for that, and found it so.
            assert!(is_gone(&format!("sleep {mark}")), "it is left");
            assert_eq!(behind.remarks("stuck").await, Vec::<String>::new());
        }
        let gone = || is_gone(&format!("sleep {mark}"));
        eventually("nothing is left on the other host", gone).await;
    }
    // One that nobody may enter runs nothing there, and says why.
    server.stop();
    server.run();
    server.know_nobody();
    let ran = session.try_run(on_terminal(&session, "echo never")).await;
    let ran = ran.unwrap();
    let why = ran.spawn_error.clone().unwrap_or_default();
    assert!(why.contains("hint: "), "{ran:?}");
}

#[tokio::test]
async fn a_terminal_elsewhere_that_is_refused_is_not_begun_and_leaves_nothing() {
    let server = Server::start();
    // What is carried there comes through, and what would run it does not.
    server.refuse_every_second();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let mark = format!("never-{}", std::process::id());
    let ran = session.try_run(on_terminal(&session, &format!("echo {mark}")));
    let ran = ran.await.unwrap();
    let why = ran.spawn_error.clone().unwrap_or_default();
    assert!(why.contains("it did not run on 'box'"), "{ran:?}");
    assert!(why.contains("Connection refused"), "{ran:?}");
    assert!(is_gone(&mark), "the command is left on the host");
}

#[tokio::test]
async fn a_terminal_elsewhere_goes_through_a_connection_that_is_up() {
    let server = Server::start();
    let daemon = server.daemon("connect = true");
    let mut client = daemon.client().await;
    let watch = client.watch_capabilities(Empty {}).await;
    until(&mut watch.unwrap().into_inner(), &["local", "box"]).await;
    // Nobody else would be let in.
    server.forget_user();
    let session = session(&daemon).await;
    let request = on_terminal(&session, "[ -t 0 ] && stty size; exit 255");
    let ran = session.try_run(request).await.unwrap();
    assert_eq!(ran.code, Some(255), "{ran:?}");
    assert!(ran.stdout.ends_with("30 80\r\n"), "{ran:?}");
}

#[tokio::test]
async fn a_terminal_elsewhere_that_outlived_the_daemon_can_be_cancelled() {
    let server = Server::start();
    let mut daemon = server.daemon("");
    let session = session(&daemon).await;
    let (begun, mark) = (server.file("begun"), 500_000 + std::process::id() % 90_000);
    let deaf = format!("trap '' HUP TERM; touch {}; sleep {mark}", begun.display());
    let (id, _stream) = session.begin_request(on_terminal(&session, &deaf)).await;
    let mut behind = session_of(&session, id).await;
    eventually("it runs", || begun.exists()).await;
    daemon.crash_and_restart();
    behind.client = daemon.client().await;
    let request = CancelRequest {
        shell_id: Some(id),
        ..CancelRequest::default()
    };
    behind.client.clone().cancel(request).await.unwrap();
    assert!(is_gone(&format!("sleep {mark}")), "it is left");
    assert_eq!(behind.remarks("stuck").await, Vec::<String>::new());
}
