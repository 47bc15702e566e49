//! Hosts come and go, and sessions go where they are.

use super::server::Server;
use glass_proto::shellglass::v1::{Capabilities, CreateSessionRequest, Empty};
use shellglass_tests::calls::next;
use shellglass_tests::{TestSession, eventually};
use tonic::Streaming;

/// Waits until the hosts are these.
async fn until(watch: &mut Streaming<Capabilities>, hosts: &[&str]) -> Capabilities {
    loop {
        let now = next(watch).await.expect("capabilities are watched");
        if now.hosts == hosts {
            return now;
        }
    }
}

#[tokio::test]
async fn a_connected_host_is_preferred_and_a_session_stays_on_its_own() {
    let mut server = Server::start();
    let mut daemon = server.daemon("connect = true");
    let mut client = daemon.client().await;
    let watch = client.watch_capabilities(Empty {}).await;
    let mut watch = watch.unwrap().into_inner();
    let up = until(&mut watch, &["local", "box"]).await;
    assert_eq!(up.host_details[1].state, "up", "{up:?}");
    let any = TestSession::create(&daemon, CreateSessionRequest::default()).await;
    assert_eq!(any.shown().await.host, "box");
    assert_eq!(
        any.run("echo ${SSH_CONNECTION:+there}").await.stdout,
        "there\n"
    );
    // Who asks for something of this machine stays here.
    let here = CreateSessionRequest {
        working_directory: "/".to_owned(),
        ..CreateSessionRequest::default()
    };
    let here = TestSession::create(&daemon, here).await;
    assert_eq!(here.shown().await.host, "local");

    // A command that goes through the connection outlives the daemon, and so does
    // the connection.
    let (begun, go) = (server.file("begun"), server.file("go"));
    let command = format!(
        "touch {}; until [ -e {} ]; do sleep 0.05; done; exit 5",
        begun.display(),
        go.display()
    );
    let request = any.with_args(&command, |args| args.tool_call_id = "call".to_owned());
    let (_, _stream) = any.begin_request(request.clone()).await;
    eventually("it runs", || begun.exists()).await;
    daemon.crash_and_restart();
    let mut client = daemon.client().await;
    std::fs::write(&go, "").unwrap();
    let id = any.id.clone();
    let any = TestSession {
        client: client.clone(),
        id,
    };
    assert_eq!(any.try_run(request).await.unwrap().code, Some(5));

    let watch = client.watch_capabilities(Empty {}).await;
    let mut watch = watch.unwrap().into_inner();
    until(&mut watch, &["local", "box"]).await;
    server.stop();
    let down = until(&mut watch, &["local"]).await;
    assert_eq!(down.host_details[1].state, "down", "{down:?}");
    assert!(!down.host_details[1].problem.is_empty(), "{down:?}");
    let fresh = TestSession::create(&daemon, CreateSessionRequest::default()).await;
    assert_eq!(fresh.shown().await.host, "local");
    assert_eq!(any.shown().await.host, "box");
    assert!(any.run("true").await.spawn_error.is_some());
    server.run();
    until(&mut watch, &["local", "box"]).await;
    assert_eq!(any.run("echo again").await.stdout, "again\n");
}
