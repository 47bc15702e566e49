//! What an agent may do on other hosts: what the configuration says, and no more.

use super::server::{Server, on_box};
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::shellglass::v1::{ApprovalScope, CreateSessionRequest, SessionMode};
use shellglass_tests::TestSession;
use shellglass_tests::calls::{refused, success, token, with_token};
use tonic::Code;

#[tokio::test]
async fn an_agents_command_elsewhere_waits_for_a_person() {
    let server = Server::start();
    // Nothing is asked about commands here.
    let daemon = server.daemon("[policy]\nagent = \"off\"");
    let agent = token(daemon.home(), "agent");
    let client = daemon.client().await;
    let session = TestSession::create_as(&client, on_box(), &agent).await;
    let request = with_token(session.request("echo hi"), &agent);
    let mut asking = client.clone();
    let (result, asked) = tokio::join!(
        asking.run(request),
        session.answer(true, ApprovalScope::Once)
    );
    assert!(
        asked.reason.contains("'box', where no walls are in force"),
        "{asked:?}"
    );
    assert!(
        asked.prefixes.is_empty(),
        "it is not remembered for always: {asked:?}"
    );
    let policy = asked.sandbox_policy.unwrap_or_default();
    assert_eq!(policy.r#type(), Type::InsecureNone);
    assert_eq!(success(result.unwrap().into_inner()).stdout, "hi\n");
    // A terminal, where nothing could be asked, is refused.
    let terminal = CreateSessionRequest {
        mode: SessionMode::Pty.into(),
        ..on_box()
    };
    let made = client
        .clone()
        .create_session(with_token(terminal, &agent))
        .await;
    refused(made, Code::PermissionDenied);
}

#[tokio::test]
async fn an_agent_reaches_no_host_that_is_not_listed_for_it() {
    let server = Server::start();
    let daemon = server.daemon("agents = \"deny\"");
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    for host in [
        "box",
        &server.address(),
        "ssh://127.0.0.1",
        "ssh://root@10.0.0.1:22",
    ] {
        let request = CreateSessionRequest {
            host: host.to_owned(),
            ..CreateSessionRequest::default()
        };
        let made = client.create_session(with_token(request, &agent)).await;
        let why = refused(made, Code::PermissionDenied);
        assert!(why.starts_with("agents may not use the host "), "{why}");
    }
}

#[tokio::test]
async fn a_host_that_is_allowed_to_agents_has_the_rules_of_this_one() {
    let server = Server::start();
    let daemon = server.daemon("agents = \"allow\"\n[policy]\n");
    let agent = token(daemon.home(), "agent");
    let client = daemon.client().await;
    let session = TestSession::create_as(&client, on_box(), &agent).await;
    let request = with_token(session.request("echo free"), &agent);
    let result = client.clone().run(request).await.unwrap().into_inner();
    assert_eq!(success(result).stdout, "free\n");
    let mut asking = client.clone();
    let doubtful = with_token(session.request("touch /tmp/sg-never"), &agent);
    let (result, _) = tokio::join!(
        asking.run(doubtful),
        session.answer(false, ApprovalScope::Once)
    );
    let result = result.unwrap().into_inner();
    shellglass_tests::calls::rejected(result);
}
