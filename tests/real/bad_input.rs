//! Bad input: a clear error with a hint, the right status, and nothing lost.

mod calls;
mod machine;
mod shells;

use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, TestSession};

/// The daemon is well: nothing panicked, and it still runs commands.
async fn check_well(daemon: &Daemon) {
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
    let session = TestSession::with(daemon, "bash", SessionMode::Pipe).await;
    assert_eq!(session.run("echo well").await.stdout, "well\n");
}
