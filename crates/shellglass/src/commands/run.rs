//! `run`: one command, from here to its exit status.
//!
//! The command's standard input is empty: it is not forwarded, since a result
//! must not depend on who reads a terminal first.

mod keyboard;
mod progress;
pub(super) mod resume;
mod signals;
mod stream;
mod verdict;

use crate::cli::Run;
use crate::client::{Client, Context, connect};
use crate::config::{ModeName, StartupName};
use crate::environment;
use crate::error::{Failure, Kind};
use crate::stdout;
use glass_proto::agent::v1::shell_result::Result as Ending;
use glass_proto::agent::v1::{ShellArgs, ShellResult};
use glass_proto::json;
use glass_proto::shellglass::v1::{CreateSessionRequest, ExecuteRequest, SessionMode};
use resume::{RECONNECTS_MAX, cancel_request, is_lost};
pub(super) use signals::Signals;
use std::path::Path;
use std::process::ExitCode;
use tonic::{Response, Status};

/// Runs a command and gives its exit status.
pub(super) async fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let context = Context::load()?;
    let request = request(&context, arguments)?;
    let mut signals = Signals::listen()?;
    let client = connect(&context).await?;
    if arguments.json || arguments.background {
        let result = gathered(&context, client, request, &mut signals).await?;
        if arguments.json {
            stdout::print_json(&json::shell_result(&result))?;
        } else {
            background(&result)?;
        }
        Ok(ExitCode::from(verdict::of_result(&result)))
    } else {
        stream::follow(&context, client, request, &mut signals).await
    }
}

/// Says which number a command in the background has, or why it has none.
fn background(result: &ShellResult) -> Result<(), Failure> {
    let why = match &result.result {
        Some(Ending::Success(success)) => {
            let id = success.shell_id.unwrap_or_default();
            stdout::print(&format!("{id}\n"))?;
            eprintln!("hint: `shellglass output {id}`, `wait {id}`, `cancel {id}`");
            return Ok(());
        }
        Some(Ending::Rejected(refused)) => &refused.reason,
        Some(Ending::PermissionDenied(denied)) => &denied.error,
        Some(Ending::SpawnError(error)) => &error.error,
        _ => "it could not be started",
    };
    Err(Failure::new(kind_of(result), why))
}

fn kind_of(result: &ShellResult) -> Kind {
    match &result.result {
        Some(Ending::Rejected(_) | Ending::PermissionDenied(_)) => Kind::Refused,
        _ => Kind::Broken,
    }
}

/// The whole result at once.
async fn gathered(
    context: &Context,
    mut client: Client,
    request: ExecuteRequest,
    signals: &mut Signals,
) -> Result<ShellResult, Failure> {
    let mut reconnects = 0;
    let mut stops = 0;
    loop {
        match attempt(&client, &request, signals, &mut stops).await? {
            Ok(result) => return Ok(result),
            Err(status) if is_lost(&status) && reconnects < RECONNECTS_MAX => {
                reconnects += 1;
                // The same key asks for the same execution.
                client = connect(context).await?;
            }
            Err(status) => return Err(status.into()),
        }
    }
}

/// One call. The first signal asks for a cancel, the second leaves.
async fn attempt(
    client: &Client,
    request: &ExecuteRequest,
    signals: &mut Signals,
    stops: &mut u32,
) -> Result<Result<ShellResult, Status>, Failure> {
    let mut caller = client.clone();
    let answer = caller.run(request.clone());
    tokio::pin!(answer);
    loop {
        tokio::select! {
            result = &mut answer => return Ok(result.map(Response::into_inner)),
            () = signals.next() => *stops += 1,
        }
        if *stops > 1 {
            let left = Failure::new(Kind::Cancelled, "left before the command ended");
            return Err(left.hint("the command may go on; `shellglass session list` shows"));
        }
        let (mut other, cancel) = (client.clone(), cancel_request(request));
        tokio::spawn(async move { other.cancel(cancel).await });
    }
}

fn request(context: &Context, arguments: &Run) -> Result<ExecuteRequest, Failure> {
    let limits = &context.loaded.settings.limits;
    let bytes = arguments.command.len() as u64;
    if bytes > limits.command_bytes_max {
        let most = limits.command_bytes_max;
        let message = format!("the command has {bytes} bytes and may have {most}");
        return Err(Failure::new(Kind::Usage, message)
            .hint("put it into a script, or raise limits.command_bytes_max"));
    }
    let session_id = arguments.session.clone().unwrap_or_default();
    let is_ephemeral = session_id.is_empty();
    let working_directory = match (&arguments.cwd, is_ephemeral) {
        (None, false) => String::new(),
        (cwd, _) if is_elsewhere(arguments.host.as_deref()) => there(cwd.as_deref())?,
        (cwd, _) => directory(cwd.as_deref())?,
    };
    let args = ShellArgs {
        command: arguments.command.clone(),
        working_directory: working_directory.clone(),
        timeout: arguments.timeout.map(milliseconds).unwrap_or_default(),
        tool_call_id: resume::fresh_key()?,
        requested_sandbox_policy: arguments.sandbox.policy(),
        file_output_threshold_bytes: Some(limits.file_output_threshold_bytes),
        skip_approval: arguments.yes,
        is_background: arguments.background,
        ..ShellArgs::default()
    };
    let ephemeral = is_ephemeral.then(|| ephemeral(context, arguments, working_directory));
    Ok(ExecuteRequest {
        session_id,
        args: Some(args),
        env: if is_ephemeral {
            Default::default()
        } else {
            arguments.env.iter().cloned().collect()
        },
        ephemeral,
        tty: arguments.tty,
        enable_write_shell_stdin_tool: arguments.background
            && !arguments.no_stdin
            && !is_elsewhere(arguments.host.as_deref()),
        ..ExecuteRequest::default()
    })
}

/// A session for this command alone: the caller's directory and environment.
fn ephemeral(
    context: &Context,
    arguments: &Run,
    working_directory: String,
) -> CreateSessionRequest {
    let defaults = &context.loaded.settings.session;
    if let Some(host) = arguments
        .host
        .as_ref()
        .filter(|host| is_elsewhere(Some(host)))
    {
        // Nothing of this machine is of use there.
        return CreateSessionRequest {
            working_directory,
            env: arguments.env.iter().cloned().collect(),
            shell: arguments.shell.clone().unwrap_or_default(),
            mode: mode(arguments.mode.unwrap_or(ModeName::Auto)).into(),
            host: host.clone(),
            ..CreateSessionRequest::default()
        };
    }
    let env = environment::of_caller(defaults, arguments.env.iter().cloned());
    let size = super::attach::terminal::size().unwrap_or_default();
    CreateSessionRequest {
        working_directory,
        env,
        shell: arguments
            .shell
            .clone()
            .unwrap_or_else(|| defaults.shell.clone()),
        mode: mode(arguments.mode.unwrap_or(defaults.mode)).into(),
        // The caller's environment is what start files have made of it already.
        startup: StartupName::None.as_str().to_owned(),
        cols: size.0,
        rows: size.1,
        ..CreateSessionRequest::default()
    }
}

/// Whether a host is another machine.
pub(super) fn is_elsewhere(host: Option<&str>) -> bool {
    host.is_some_and(|host| host != glass_model::LOCAL_HOST)
}

/// A directory of another machine, as it is given.
pub(super) fn there(given: Option<&Path>) -> Result<String, Failure> {
    let path = given.unwrap_or(Path::new("")).as_os_str();
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Failure::new(Kind::Usage, "the directory has a name that is not UTF-8"))
}

/// Whole milliseconds, at least one: 0 would be no limit.
fn milliseconds(seconds: f64) -> i32 {
    // The command line has checked the range; a cast saturates.
    ((seconds * 1000.0).ceil() as i32).max(1)
}

/// The contract's word for a mode.
pub(super) fn mode(name: ModeName) -> SessionMode {
    match name {
        ModeName::Auto => SessionMode::Auto,
        ModeName::Line => SessionMode::Line,
        ModeName::Pipe => SessionMode::Pipe,
    }
}

/// An absolute directory, the current one where none is given. Whether it is
/// there is the daemon's to say.
pub(super) fn directory(given: Option<&Path>) -> Result<String, Failure> {
    let failed = |what: &str| {
        Failure::new(Kind::Failed, format!("the working directory {what}"))
            .hint("give one with --cwd")
    };
    let here = || std::env::current_dir().map_err(|error| failed(&format!("is unknown: {error}")));
    let path = match given {
        None => logical(here()?),
        Some(path) if path.is_absolute() => path.to_path_buf(),
        Some(path) => here()?.join(path),
    };
    path.into_os_string()
        .into_string()
        .map_err(|_| failed("has a name that is not UTF-8"))
}

/// The current directory by the name that the caller's shell has for it, where
/// `$PWD` is a true one.
fn logical(physical: std::path::PathBuf) -> std::path::PathBuf {
    let Some(named) = std::env::var_os("PWD").map(std::path::PathBuf::from) else {
        return physical;
    };
    let is_same = || Some(same_file::key(&named)? == same_file::key(&physical)?);
    if named.is_absolute() && is_same() == Some(true) {
        named
    } else {
        physical
    }
}

mod same_file {
    use std::os::unix::fs::MetadataExt as _;

    /// What two names of one directory have in common.
    pub(super) fn key(path: &std::path::Path) -> Option<(u64, u64)> {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    }
}

#[cfg(test)]
mod tests {
    use super::{directory, milliseconds};
    use std::path::Path;

    #[test]
    fn a_short_timeout_is_not_none() {
        assert_eq!(milliseconds(0.0001), 1);
        assert_eq!(milliseconds(2.5), 2500);
        assert_eq!(milliseconds(1e12), i32::MAX);
    }

    #[test]
    fn directories_become_absolute() {
        assert_eq!(directory(Some(Path::new("/a/b"))).as_deref(), Ok("/a/b"));
        assert!(
            directory(Some(Path::new("x")))
                .expect("a directory")
                .ends_with("/x")
        );
    }
}
