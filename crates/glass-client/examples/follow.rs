//! Runs a command in a session of its own and follows it.
//!
//! `cargo run -p glass-client --example follow -- SOCKET COMMAND`

use glass_client::{Ending, Piece, SessionOptions, Shellglass};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [socket, command] = words.as_slice() else {
        eprintln!("usage: follow SOCKET COMMAND");
        return Ok(ExitCode::from(2));
    };
    let mut daemon = Shellglass::open(Path::new(socket)).await?;
    let session = daemon.session(SessionOptions::default()).await?;
    let mut following = daemon.follow(session.order(command)).await?;
    let mut status = 1;
    while let Some(piece) = following.next().await? {
        match piece {
            Piece::Started { shell_id, .. } => eprintln!("execution {shell_id}"),
            Piece::Waits { reason, .. } => eprintln!("a person is asked: {reason}"),
            Piece::Stdout(bytes) => std::io::stdout().write_all(&bytes)?,
            Piece::Stderr(bytes) => std::io::stderr().write_all(&bytes)?,
            Piece::Ended(Ending::Exited(code)) => status = u8::try_from(code).unwrap_or(1),
            Piece::Ended(other) => eprintln!("it did not exit: {other:?}"),
        }
    }
    daemon.dispose(session).await?;
    Ok(ExitCode::from(status))
}
