//! `glass-client`, against the real daemon.

use glass_client::{Ending, OpenError, Order, Piece, SessionOptions, Shellglass, WIRE_VERSION};
use shellglass_tests::Daemon;
use std::time::Duration;

#[tokio::test]
async fn the_library_runs_and_follows_commands() {
    let daemon = Daemon::start("");
    let mut client = Shellglass::open(&daemon.socket()).await.expect("a daemon");
    assert!(client.version().understands(WIRE_VERSION));
    let options = SessionOptions {
        directory: daemon.home().display().to_string(),
        ..SessionOptions::default()
    };
    let session = client.session(options).await.expect("a session");
    let ended = client.run(session.order("x=5; (exit 3)")).await.unwrap();
    assert_eq!(ended.ending, Ending::Exited(3));
    let mut following = client
        .follow(session.order("printf '%s\\377' $x; printf err >&2"))
        .await
        .expect("accepted");
    let (mut out, mut err, mut end) = (Vec::new(), Vec::new(), None);
    while let Some(piece) = following.next().await.expect("it goes on") {
        match piece {
            Piece::Stdout(bytes) => out.extend(bytes),
            Piece::Stderr(bytes) => err.extend(bytes),
            Piece::Ended(ending) => end = Some(ending),
            Piece::Started { session_id, .. } => assert_eq!(session_id, session.id),
            Piece::Waits { reason, .. } => panic!("{reason}"),
        }
    }
    assert_eq!((out, err), (b"5\xff".to_vec(), b"err".to_vec()));
    assert_eq!(end, Some(Ending::Exited(0)));
    let late = Order {
        timeout: Some(Duration::from_millis(50)),
        ..session.order("sleep 600")
    };
    assert_eq!(client.run(late).await.unwrap().ending, Ending::TimedOut);
    let id = session.id.clone();
    client.dispose(session.clone()).await.expect("it ends");
    let error = client.run(session.order("true")).await.expect_err("gone");
    assert!(
        error.message.contains(&id) && error.hint.is_some(),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_library_presents_a_token_over_tcp() {
    let address = format!("127.0.0.1:{}", shellglass_tests::program::free_port());
    let config = format!("[daemon]\nlisten = \"{address}\"\n");
    let daemon = Daemon::start(&config);
    let url = format!("http://{address}");
    let token = std::fs::read_to_string(daemon.home().join("data/person.token")).unwrap();
    let mut client = Shellglass::open_tcp(&url, token.trim())
        .await
        .expect("known");
    assert!(client.run("true").await.unwrap().is_success());
    let refused = Shellglass::open_tcp(&url, &"0".repeat(64)).await;
    assert!(
        matches!(refused, Err(OpenError::Capabilities(_))),
        "{refused:?}"
    );
}
