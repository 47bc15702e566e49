//! What a caller of `Execute` and `Run` gets.

use crate::status;
use glass_model::{
    Event, EventBody, Execution, Outcome, SandboxKind, SessionId, ShellId, Stream, signal_name,
};
use glass_proto::agent::v1 as agent;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::shell_stream::Event as Item;
use glass_proto::{exit_details, exit_stream, receipt, sandbox_to_wire, text_and_raw};
use glass_session::{
    Caller, Engine, Gathered, NoWalls, OutputEnd, OutputFile, Reader, Ticket, Told, Veil,
};
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tonic::Status;

/// Output above this is gathered off the reactor, in bytes.
const INLINE_BYTES_MAX: u64 = 256 * 1024;

/// What a stream needs besides the execution.
pub(crate) struct Streamed {
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    pub(crate) threshold: Option<u64>,
}

type Answers = Sender<Result<agent::ShellStream, Status>>;

/// Ends a stream with an error of the journal's.
pub(crate) async fn fail<T>(
    sender: &Sender<Result<T, Status>>,
    error: impl Into<glass_session::LookupError>,
) {
    // A client that is gone needs no answer.
    let _ = sender.send(Err(status::lookup(error.into()))).await;
}

impl Streamed {
    /// Sends an execution's events until its end, or until nobody listens; the
    /// command goes on in any case.
    pub(crate) async fn run(self, ticket: Ticket, sender: Answers) {
        let mut output_bytes = 0;
        let place = Place::of(&ticket);
        let mut reader = Reader::new(&self.engine, ticket.follower, Some(place.shell_id));
        loop {
            let told = match reader.next().await {
                Ok(Some(told)) => told,
                Ok(None) => return self.close(&sender).await,
                Err(error) => return fail(&sender, error).await,
            };
            let (item, last) = match told {
                Told::Late(late) => (Some(output(late.stream, late.bytes)), false),
                Told::Event(event, bytes) => {
                    if let EventBody::Output { bytes, .. } = &event.body {
                        output_bytes += bytes;
                    }
                    if let EventBody::Exit { outcome, command } = &event.body {
                        let file = reader
                            .projection()
                            .and_then(|projection| projection.recorded_file(place.shell_id));
                        let last = self.last_item(&place, command, outcome, output_bytes, file);
                        match last.await {
                            Ok(item) => (Some(item), true),
                            Err(error) => {
                                let _ = sender.send(Err(error)).await;
                                return;
                            }
                        }
                    } else {
                        (place.item(*event, bytes), false)
                    }
                }
            };
            let Some(item) = item else { continue };
            let message = agent::ShellStream { event: Some(item) };
            if sender.send(Ok(message)).await.is_err() || last {
                return;
            }
        }
    }

    /// The session ended without an end of this execution: nobody knows it.
    async fn close(&self, sender: &Answers) {
        let exit = exit_stream(&Outcome::default(), String::new(), None);
        let message = agent::ShellStream {
            event: Some(Item::Exit(exit)),
        };
        let _ = sender.send(Ok(message)).await;
    }

    /// How it ended; `output_bytes` is what the stream has carried.
    async fn last_item(
        &self,
        place: &Place,
        command: &str,
        outcome: &Outcome,
        output_bytes: u64,
        recorded: Option<OutputFile>,
    ) -> Result<Item, Status> {
        let id = place.shell_id;
        let execution = || {
            let found = self.engine.execution(&self.caller, id);
            found.map_err(status::lookup)
        };
        if let Some(why) = &outcome.rejected {
            return Ok(Item::Rejected(rejected(&execution()?, why)));
        }
        if let Some(error) = &outcome.spawn_error {
            let execution = execution()?;
            return Ok(Item::SpawnError(agent::ShellSpawnError {
                command: command.to_owned(),
                working_directory: wanted_directory(&execution),
                error: error.clone(),
            }));
        }
        let view = self
            .engine
            .session(&self.caller, place.session.as_str())
            .map_err(status::lookup)?;
        let file = match self.threshold {
            // What has been sent whole needs no file.
            Some(threshold) if output_bytes <= threshold.min(INLINE_BYTES_MAX) => None,
            Some(_) => match recorded {
                // It has all been looked through on its way.
                Some(file) => {
                    let threshold = self.engine.threshold(self.threshold);
                    (file.bytes > threshold).then_some(file)
                }
                None => {
                    let veil = self.engine.veil(id).map_err(status::lookup)?;
                    let gathered = gather(&self.engine, id, veil, None, self.threshold);
                    gathered.await?.file
                }
            },
            None => None,
        };
        Ok(Item::Exit(exit_stream(
            outcome,
            view.session.cwd,
            file.map(location),
        )))
    }
}

/// The answer to a command that was not allowed to run.
pub(crate) fn rejected(execution: &Execution, why: &str) -> agent::ShellRejected {
    agent::ShellRejected {
        command: execution.command.clone(),
        working_directory: wanted_directory(execution),
        reason: why.to_owned(),
        is_readonly: execution.sandbox.kind == SandboxKind::WorkspaceReadOnly,
    }
}

/// What of a ticket is needed while its events are sent.
struct Place {
    session: SessionId,
    shell_id: ShellId,
    sandbox: glass_model::SandboxPolicy,
}

impl Place {
    fn of(ticket: &Ticket) -> Place {
        Place {
            session: ticket.session.clone(),
            shell_id: ticket.shell_id,
            sandbox: ticket.sandbox.clone(),
        }
    }

    /// The message for an event, where it has one.
    fn item(&self, event: Event, bytes: Vec<u8>) -> Option<Item> {
        match event.body {
            EventBody::CommandStart { pid, .. } => Some(Item::Start(agent::ShellStreamStart {
                sandbox_policy: Some(sandbox_to_wire(&self.sandbox)),
                session_id: self.session.to_string(),
                shell_id: self.shell_id.0,
                pid,
            })),
            // All of it is held back, or lies within a secret.
            EventBody::Output { .. } if bytes.is_empty() => None,
            EventBody::Output { stream, .. } => Some(output(stream, bytes)),
            EventBody::ApprovalPending {
                approval_id,
                reason,
                ..
            } => Some(Item::ApprovalPending(agent::ShellApprovalPending {
                approval_id: approval_id.to_string(),
                reason,
            })),
            EventBody::Dropped { dropped, .. } => {
                let data = format!("\n[{} bytes dropped: {}]\n", dropped.bytes, dropped.reason);
                Some(Item::Stderr(agent::ShellStreamStderr { data, raw: None }))
            }
            _ => None,
        }
    }
}

fn output(stream: Stream, bytes: Vec<u8>) -> Item {
    let (data, raw) = text_and_raw(bytes);
    match stream {
        Stream::Stdout => Item::Stdout(agent::ShellStreamStdout { data, raw }),
        Stream::Stderr => Item::Stderr(agent::ShellStreamStderr { data, raw }),
    }
}

/// The directory that a command was to run in.
pub(crate) fn wanted_directory(execution: &Execution) -> String {
    if execution.requested_cwd.is_empty() {
        execution.cwd.clone()
    } else {
        execution.requested_cwd.clone()
    }
}

fn location(file: OutputFile) -> agent::OutputLocation {
    agent::OutputLocation {
        file_path: file.path.to_string_lossy().into_owned(),
        size_bytes: file.bytes,
        line_count: file.lines,
    }
}

async fn gather(
    engine: &Engine,
    id: ShellId,
    veil: Veil,
    end: Option<OutputEnd>,
    threshold: Option<u64>,
) -> Result<Gathered, Status> {
    if end.is_some_and(|end| end.position <= INLINE_BYTES_MAX) {
        let gathered = engine.gather(id, &veil, end, threshold);
        return gathered.map_err(status::lookup);
    }
    let engine = engine.clone();
    tokio::task::spawn_blocking(move || engine.gather(id, &veil, end, threshold))
        .await
        .map_err(|_| Status::internal("gathering the output failed"))?
        .map_err(status::lookup)
}

/// The answer to a command whose walls cannot be had.
pub(crate) fn no_sandbox(
    command: String,
    working_directory: String,
    refused: &NoWalls,
) -> agent::ShellPermissionDenied {
    agent::ShellPermissionDenied {
        command,
        working_directory,
        error: format!("{}\nhint: {}", refused.why, refused.hint),
        is_readonly: false,
    }
}

/// The same as a result.
pub(crate) fn denied(denied: agent::ShellPermissionDenied) -> agent::ShellResult {
    agent::ShellResult {
        result: Some(Kind::PermissionDenied(denied)),
        ..agent::ShellResult::default()
    }
}

/// Waits for an execution and gathers everything about it into one result.
pub(crate) async fn gathered(
    engine: &Engine,
    ticket: Ticket,
    threshold: Option<u64>,
) -> Result<agent::ShellResult, Status> {
    let (id, secrets) = (ticket.shell_id, ticket.secrets.clone());
    let finished = ticket.finished().await.map_err(status::lookup)?;
    let execution = finished.execution.map_err(|why| {
        let hint = "the command has run; free space, then read it with 'shellglass history'";
        status::with_hint(tonic::Code::ResourceExhausted, why, hint)
    })?;
    let veil = engine.veil_with(&secrets, &execution.env);
    let outcome = veil.outcome(&execution.outcome).into_owned();
    let output = gather(engine, id, veil, finished.output, threshold).await?;
    let sandbox_policy = Some(sandbox_to_wire(&execution.sandbox));
    let kind = result_kind(&execution, &outcome, output);
    Ok(agent::ShellResult {
        result: Some(kind),
        sandbox_policy,
        is_background: Some(false),
        terminals_folder: Some(engine.terminals_folder().to_string_lossy().into_owned()),
    })
}

fn result_kind(execution: &Execution, outcome: &Outcome, output: Gathered) -> Kind {
    let command = execution.command.clone();
    let working_directory = wanted_directory(execution);
    if let Some(why) = &outcome.rejected {
        return Kind::Rejected(rejected(execution, why));
    }
    if let Some(error) = outcome.spawn_error.clone() {
        return Kind::SpawnError(agent::ShellSpawnError {
            command,
            working_directory,
            error,
        });
    }
    let text = |bytes: Vec<u8>| text_and_raw(bytes).0;
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let output_location = output.file.map(location);
    if outcome.abort == Some(glass_model::AbortReason::Timeout) {
        return Kind::Timeout(agent::ShellTimeout {
            command,
            working_directory,
            timeout_ms: i32::try_from(execution.timeout_ms).unwrap_or(i32::MAX),
            stdout,
            stderr,
            output_location,
            receipt: receipt(outcome),
        });
    }
    let ran = Duration::from_millis(
        u64::try_from(execution.ended_ms.unwrap_or(execution.started_ms) - execution.started_ms)
            .unwrap_or(0),
    );
    let execution_time = i32::try_from(ran.as_millis()).unwrap_or(i32::MAX);
    let signal = outcome.details.signal.map(signal_name).unwrap_or_default();
    let exit_details = exit_details(outcome);
    let interleaved_output = Some(text(output.interleaved));
    let shell_id = Some(execution.shell_id.0);
    if outcome.code == Some(0) && outcome.abort.is_none() {
        return Kind::Success(agent::ShellSuccess {
            command,
            working_directory,
            exit_code: 0,
            signal,
            stdout,
            stderr,
            execution_time,
            output_location,
            shell_id,
            interleaved_output,
            exit_details,
            receipt: receipt(outcome),
        });
    }
    let aborted = outcome.abort.is_some();
    Kind::Failure(agent::ShellFailure {
        command,
        working_directory,
        exit_code: outcome.code.unwrap_or(0),
        signal,
        stdout,
        stderr,
        execution_time,
        output_location,
        interleaved_output,
        abort_reason: aborted.then(|| agent::ShellAbortReason::UserAbort.into()),
        aborted,
        exit_details,
        exit_code_unknown: outcome.code.is_none(),
        shell_id,
        receipt: receipt(outcome),
    })
}
