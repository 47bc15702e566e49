//! What a command can do to the keeper: nothing.

use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, TestSession};

#[tokio::test]
async fn a_command_cannot_take_the_daemons_place_at_the_keeper() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let socket = daemon.home().join("run/keeper.sock");
    // The keeper hangs up at once, without a word; also on a process that has
    // left its session and its parents behind.
    let connect = format!(
        "import os, socket\n\
         if os.fork(): os.wait(); raise SystemExit\n\
         os.setsid()\n\
         s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n\
         s.settimeout(10)\n\
         s.connect('{}')\n\
         print('hung up' if s.recv(65536) == b'' else 'served', flush=True)",
        socket.display()
    );
    let result = session.run(&format!("python3 -c \"{connect}\"")).await;
    assert_eq!(result.stdout, "hung up\n", "{result:?}");
    // The daemon still has its keeper: a new shell can be started.
    let other = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    assert_eq!(other.run("echo here").await.stdout, "here\n");
}
