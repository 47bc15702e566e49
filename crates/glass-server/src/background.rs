//! What a caller of `SpawnBackground` and `WriteStdin` gets, and one of `Run` in
//! the background.

use crate::{answer, status};
use glass_model::{EventBody, Execution, Outcome, ShellId};
use glass_proto::agent::v1 as agent;
use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::write_shell_stdin_result::Result as Written;
use glass_proto::sandbox_to_wire;
use glass_session::{Caller, Engine, LookupError, StdinError, Ticket};
use tonic::Status;

/// How a background command began.
enum Begun {
    /// It runs, or has run.
    Yes,
    /// It was not allowed to: why.
    Rejected(String),
    /// It could not: why.
    Not(String),
}

/// Waits until a command has begun, or is known never to. A person may be asked
/// before; then it takes as long as that does.
async fn begun(
    engine: &Engine,
    caller: &Caller,
    ticket: Ticket,
) -> Result<(Execution, Begun), Status> {
    let id = ticket.shell_id;
    let mut follower = ticket.follower;
    let begun = loop {
        let events = follower.next().await;
        let Some(events) = events.map_err(|error| status::lookup(error.into()))? else {
            break Begun::Not("its session ended before it began".to_owned());
        };
        let own = events.iter().filter(|event| event.shell_id == Some(id));
        let told = own.into_iter().find_map(|event| match &event.body {
            EventBody::CommandStart { .. } => Some(Begun::Yes),
            EventBody::Exit { outcome, .. } => Some(never_began(outcome)),
            _ => None,
        });
        match told {
            // Why it could not begin may quote what is secret.
            Some(Begun::Not(why)) => {
                let veil = engine.veil(id).map_err(status::lookup)?;
                let why = veil.redact(why.into_bytes());
                break Begun::Not(String::from_utf8_lossy(&why).into_owned());
            }
            Some(told) => break told,
            None => {}
        }
    };
    let execution = engine.execution(caller, id).map_err(status::lookup)?;
    Ok((execution, begun))
}

fn never_began(outcome: &Outcome) -> Begun {
    match (&outcome.rejected, &outcome.spawn_error) {
        (Some(why), _) => Begun::Rejected(why.clone()),
        (None, Some(why)) => Begun::Not(why.clone()),
        (None, None) => Begun::Not("it was cancelled before it began".to_owned()),
    }
}

/// The answer of `SpawnBackground`.
pub(crate) async fn spawned(
    engine: &Engine,
    caller: &Caller,
    ticket: Ticket,
) -> Result<agent::BackgroundShellSpawnResult, Status> {
    let (execution, begun) = begun(engine, caller, ticket).await?;
    let result = match begun {
        Begun::Yes => Spawned::Success(agent::BackgroundShellSpawnSuccess {
            shell_id: execution.shell_id.0,
            working_directory: answer::wanted_directory(&execution),
            command: execution.command,
        }),
        Begun::Rejected(why) => Spawned::Rejected(answer::rejected(&execution, &why)),
        Begun::Not(why) => Spawned::Error(agent::BackgroundShellSpawnError {
            working_directory: answer::wanted_directory(&execution),
            command: execution.command,
            error: why,
        }),
    };
    Ok(agent::BackgroundShellSpawnResult {
        result: Some(result),
    })
}

/// The answer to a background command whose walls cannot be had.
pub(crate) fn denied(denied: agent::ShellPermissionDenied) -> agent::BackgroundShellSpawnResult {
    agent::BackgroundShellSpawnResult {
        result: Some(Spawned::PermissionDenied(denied)),
    }
}

/// The answer of `Run` in the background: a success says that it has begun.
pub(crate) async fn result(
    engine: &Engine,
    caller: &Caller,
    ticket: Ticket,
) -> Result<agent::ShellResult, Status> {
    let (execution, begun) = begun(engine, caller, ticket).await?;
    let sandbox_policy = Some(sandbox_to_wire(&execution.sandbox));
    let kind = match begun {
        Begun::Yes => Kind::Success(agent::ShellSuccess {
            shell_id: Some(execution.shell_id.0),
            working_directory: answer::wanted_directory(&execution),
            command: execution.command,
            ..agent::ShellSuccess::default()
        }),
        Begun::Rejected(why) => Kind::Rejected(answer::rejected(&execution, &why)),
        Begun::Not(why) => Kind::SpawnError(agent::ShellSpawnError {
            working_directory: answer::wanted_directory(&execution),
            command: execution.command,
            error: why,
        }),
    };
    Ok(agent::ShellResult {
        result: Some(kind),
        sandbox_policy,
        is_background: Some(true),
        terminals_folder: Some(engine.terminals_folder().to_string_lossy().into_owned()),
    })
}

/// The answer of `WriteStdin`. What the command does not take is told in the
/// result; whom the caller may not see is an error of the call.
pub(crate) async fn write(
    engine: &Engine,
    caller: &Caller,
    args: agent::WriteShellStdinArgs,
) -> Result<agent::WriteShellStdinResult, Status> {
    let id = ShellId(args.shell_id);
    let result = match engine.write_stdin(caller, id, &args.chars).await {
        Ok(before) => Written::Success(agent::WriteShellStdinSuccess {
            shell_id: id.0,
            // The contract has 32 bits for it, and a page is far shorter.
            terminal_file_length_before_input_written: u32::try_from(before.page_bytes)
                .unwrap_or(u32::MAX),
            output_offset_before_input_written: before.output_bytes,
        }),
        Err(StdinError::Lookup(error)) if !matches!(error, LookupError::UnknownExecution(_)) => {
            return Err(status::lookup(error));
        }
        Err(error) => Written::Error(agent::WriteShellStdinError {
            error: format!("{}\nhint: {}", status::describe(&error), error.hint()),
        }),
    };
    Ok(agent::WriteShellStdinResult {
        result: Some(result),
    })
}
