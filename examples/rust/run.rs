//! Runs a command through Shellglass and shows what it writes as it comes.
//!
//! usage: cargo run -p shellglass-tests --example run -- COMMAND
//!
//! Needs a daemon (`shellglass serve --detach`).
#![allow(clippy::print_stdout, missing_docs, reason = "a program of one page")]

use glass_proto::agent::v1::{ShellArgs, shell_stream::Event};
use glass_proto::shellglass::v1::shell_exec_client::ShellExecClient;
use glass_proto::shellglass::v1::{CreateSessionRequest, ExecuteRequest, SessionRef};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where the daemon of this user listens.
fn socket() -> Result<PathBuf, Box<dyn Error>> {
    let said = std::process::Command::new("shellglass")
        .args(["config", "path"])
        .output()?;
    let said = String::from_utf8(said.stdout)?;
    let runtime = said.lines().find_map(|line| line.strip_prefix("runtime "));
    Ok(Path::new(runtime.ok_or("no runtime directory")?).join("daemon.sock"))
}

/// Runs a command in a session of its own; gives its exit code.
pub async fn run(
    socket: &Path,
    command: &str,
    mut out: impl Write,
    mut err: impl Write,
) -> Result<u32, Box<dyn Error>> {
    let mut shells = ShellExecClient::connect(format!("unix:{}", socket.display())).await?;
    let session = shells
        .create_session(CreateSessionRequest::default())
        .await?;
    let session_id = session.into_inner().session_id;
    let args = ShellArgs {
        command: command.to_owned(),
        ..ShellArgs::default()
    };
    let request = ExecuteRequest {
        session_id: session_id.clone(),
        args: Some(args),
        ..ExecuteRequest::default()
    };
    let mut items = shells.execute(request).await?.into_inner();
    let mut code = 125;
    while let Some(item) = items.message().await? {
        match item.event {
            Some(Event::Stdout(part)) => {
                out.write_all(&part.raw.unwrap_or_else(|| part.data.into()))?;
            }
            Some(Event::Stderr(part)) => {
                err.write_all(&part.raw.unwrap_or_else(|| part.data.into()))?;
            }
            Some(Event::Exit(exit)) => code = exit.code,
            Some(Event::Start(_)) | None => {}
            Some(other) => writeln!(err, "{other:?}")?,
        }
    }
    shells.dispose_session(SessionRef { session_id }).await?;
    Ok(code)
}

#[tokio::main(flavor = "current_thread")]
#[allow(dead_code, reason = "a test calls `run` alone")]
async fn main() -> Result<(), Box<dyn Error>> {
    let command = std::env::args().nth(1).ok_or("usage: run COMMAND")?;
    let code = run(&socket()?, &command, std::io::stdout(), std::io::stderr()).await?;
    std::process::exit(i32::try_from(code)?)
}
