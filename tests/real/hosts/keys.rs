//! Whose host it is, and who we are there.

use super::server::{Server, session};

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
