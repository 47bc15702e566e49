//! Hosts come and go, and sessions go where they are.

use super::server::Server;
use glass_proto::shellglass::v1::{Capabilities, CreateSessionRequest, Empty, SessionMode};
use rustix::process::{Pid, Signal, kill_process};
use shellglass_tests::calls::{next, refused};
use shellglass_tests::{Daemon, TestSession, eventually, processes};
use std::net::TcpListener;
use tonic::{Code, Streaming};

/// Waits until the hosts are these.
pub(super) async fn until(watch: &mut Streaming<Capabilities>, hosts: &[&str]) -> Capabilities {
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
    // So does who asks for something that is not to be had there, and whoever names it
    // is told so.
    let only_here = CreateSessionRequest {
        mode: SessionMode::Pty.into(),
        env: [("GIVEN".to_owned(), "1".to_owned())].into(),
        ..CreateSessionRequest::default()
    };
    let terminal = TestSession::create(&daemon, only_here.clone()).await;
    assert_eq!(terminal.shown().await.host, "local");
    let named = CreateSessionRequest {
        host: "box".to_owned(),
        ..only_here
    };
    refused(client.create_session(named).await, Code::InvalidArgument);

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

/// Whether an `ssh` of ours is on its way to this port, or there.
fn is_connecting(port: u16) -> bool {
    let to = format!(" -p {port} ");
    let mut all = processes().into_iter();
    all.any(|(_, line)| line.contains("ControlMaster=yes") && line.contains(&to))
}

#[tokio::test]
async fn a_connection_that_comes_up_does_not_outlive_a_daemon_that_is_stopped() {
    // A host that takes the connection and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let config = format!(
        "[[hosts.host]]\nname = \"mute\"\naddress = \"ssh://ann@127.0.0.1:{port}\"\n\
         connect = true\n"
    );
    let mut daemon = Daemon::start(&config);
    eventually("it is tried", || is_connecting(port)).await;
    let pid = Pid::from_raw(i32::try_from(daemon.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    eventually("the daemon ends", || daemon.has_ended()).await;
    assert!(!is_connecting(port), "a connection is left");
    drop(silent);
}

#[tokio::test]
async fn a_connection_is_nobodys_after_a_change_of_the_list() {
    let server = Server::start();
    let mut daemon = server.daemon("connect = true");
    let mut client = daemon.client().await;
    let watch = client.watch_capabilities(Empty {}).await;
    until(&mut watch.unwrap().into_inner(), &["local", "box"]).await;
    // Another host takes its place, where nobody listens.
    let file = daemon.home().join("config/config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let first = "[[hosts.host]]\nname = \"other\"\naddress = \"ssh://127.0.0.1:1\"\n\
                 connect = true\n[[hosts.host]]";
    std::fs::write(&file, config.replacen("[[hosts.host]]", first, 1)).unwrap();
    daemon.crash_and_restart();
    let mut client = daemon.client().await;
    let watch = client.watch_capabilities(Empty {}).await;
    let now = until(&mut watch.unwrap().into_inner(), &["local", "box"]).await;
    assert_eq!(now.host_details[1].name, "other", "{now:?}");
    assert_eq!(now.host_details[1].state, "down", "{now:?}");
    let request = |host: &str| CreateSessionRequest {
        host: host.to_owned(),
        ..CreateSessionRequest::default()
    };
    let other = TestSession::create(&daemon, request("other")).await;
    assert!(other.run("touch ran").await.spawn_error.is_some());
    let same = TestSession::create(&daemon, request("box")).await;
    assert_eq!(same.run("echo there").await.stdout, "there\n");
}
