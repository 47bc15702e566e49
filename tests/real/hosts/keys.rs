//! Whose host it is, and who we are there.

use super::server::{Server, on_box, session};
use glass_proto::shellglass::v1::CreateSessionRequest;
use shellglass_tests::calls::rest;
use shellglass_tests::program::{ran, wait_until};
use shellglass_tests::{Daemon, PATIENCE, TestSession};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_host_that_is_not_known_or_not_itself_is_refused_with_a_hint() {
    let server = Server::start();
    let daemon = server.daemon("");
    let session = session(&daemon).await;
    let ran = server.file("ran");
    let command = format!("touch {}", ran.display());
    let refused = async |what: &str, hint: &str| {
        let ended = session.run(&command).await;
        let why = ended.spawn_error.unwrap_or_default();
        assert!(why.contains(what) && why.contains(hint), "{why}");
        assert!(!ran.exists(), "{what}");
    };
    server.know_nobody();
    refused("Host key verification failed", "\nhint: connect once").await;
    server.know_another_host();
    refused(
        "Host key verification failed",
        "\nhint: the host has another key",
    )
    .await;
    server.know_host("host");
    server.forget_user();
    refused(
        "Permission denied",
        "\nhint: commands are run without a person",
    )
    .await;
}

/// An `ssh-agent` that ends with this.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test]
async fn a_key_that_only_an_agent_has_opens_the_host_and_is_not_lent_to_it() {
    let server = Server::start();
    let socket = server.file("agent");
    let mut agent = Command::new("ssh-agent");
    agent.arg("-D").arg("-a").arg(&socket);
    let agent = agent.stdin(Stdio::null()).stdout(Stdio::null());
    let _agent = Agent(agent.spawn().unwrap());
    wait_until("the agent listens", || socket.exists());
    let ssh = std::fs::read_to_string(server.file("ssh_config")).unwrap();
    let asks = ssh.replace("IdentityAgent none", "IdentityAgent SSH_AUTH_SOCK");
    std::fs::write(server.file("ssh_config"), asks).unwrap();
    let variables = [("SSH_AUTH_SOCK", socket.to_str().unwrap())];
    let daemon = Daemon::start_with(&server.configuration(""), &variables, &[]);
    let session = session(&daemon).await;
    let add = |key: PathBuf| {
        let mut add = Command::new("ssh-add");
        let add = add.arg("-q").arg(key).env("SSH_AUTH_SOCK", &socket);
        let added = ran(add.stdin(Stdio::null()));
        assert_eq!(added.status, 0, "{added:?}");
    };
    let open = server.file("open");
    std::fs::copy(server.file("user"), &open).unwrap();
    // The file alone opens nothing where no person is asked.
    server.lock_key("open sesame");
    let refused = session.run("true").await.spawn_error;
    assert!(refused.is_some_and(|why| why.contains("Permission denied")));
    add(open);
    let there = session.run("echo \"via ${SSH_CONNECTION:+ssh} with ${SSH_AUTH_SOCK:-nothing}\"");
    assert_eq!(there.await.stdout, "via ssh with nothing\n");
}

#[tokio::test]
async fn branches_and_processes_are_looked_for_here_and_not_there() {
    let server = Server::start();
    let repository = server.file("repository");
    let mut git = Command::new("git");
    ran(git.args(["init", "-q", "-b", "trunk"]).arg(&repository)).quiet();
    let daemon = server.daemon("");
    let at = |request: CreateSessionRequest| CreateSessionRequest {
        working_directory: repository.to_str().unwrap().to_owned(),
        ..request
    };
    let there = TestSession::create(&daemon, at(on_box())).await;
    let here = TestSession::create(&daemon, at(CreateSessionRequest::default())).await;
    let waits = "until test -e go; do sleep 0.02; done";
    let (_, mut first) = there.begin(waits).await;
    let (_, mut second) = here.begin(waits).await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = here.shown().await;
        if seen.git_branch == "trunk" && !seen.processes.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "{seen:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let seen = there.shown().await;
    assert!(seen.running && seen.host == "box", "{seen:?}");
    assert_eq!((seen.git_branch.as_str(), seen.processes.len()), ("", 0));
    std::fs::write(repository.join("go"), "").unwrap();
    for stream in [&mut first, &mut second] {
        assert_eq!(rest(stream).await.exit().code, 0);
    }
}
