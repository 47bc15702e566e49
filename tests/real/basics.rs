//! A command runs, and its session remembers.

use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, TestSession};

#[tokio::test]
async fn a_command_gives_both_streams_and_its_code() {
    let daemon = Daemon::start("");
    for (shell, mode) in [
        ("bash", SessionMode::Pipe),
        ("zsh", SessionMode::Pipe),
        ("fish", SessionMode::Pipe),
        ("dash", SessionMode::Pipe),
        ("bash", SessionMode::Line),
        ("zsh", SessionMode::Line),
        ("fish", SessionMode::Line),
        ("dash", SessionMode::Line),
    ] {
        let session = TestSession::with(&daemon, shell, mode).await;
        let result = session.run("echo out; echo err >&2; sh -c 'exit 3'").await;
        assert_eq!(
            (result.stdout.as_str(), result.stderr.as_str()),
            ("out\n", "err\n"),
            "{shell}"
        );
        assert_eq!(result.code, Some(3), "{shell} {mode:?}");
        session.run("cd /usr; true").await;
        assert_eq!(
            session.run("pwd").await.stdout,
            "/usr\n",
            "{shell} {mode:?}"
        );
    }
}
