//! Follows an execution: output as it arrives, then its end.

use super::keyboard::Keyboard;
use super::progress::Progress;
use super::resume::{Printed, RECONNECTS_MAX, cancel_request, is_lost};
use super::signals::Signals;
use super::verdict;
use crate::client::{Client, Context, connect};
use crate::error::{Failure, Kind};
use crate::stdout::{self, Reader};
use glass_proto::agent::v1::shell_stream::Event;
use glass_proto::agent::v1::{ShellApprovalPending, ShellStream};
use glass_proto::shellglass::v1::{CancelRequest, ExecuteRequest};
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;
use tonic::{Code, Status, Streaming};

/// Between two attempts to find a daemon.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// Columns of the reason why a command waits.
const REASON_COLUMNS: usize = 72;

/// How often a silent command is looked at.
const TICK: Duration = Duration::from_secs(1);

/// Longest wait for a cancel when nobody reads what comes of it.
const CANCEL_WAIT: Duration = Duration::from_secs(10);

/// What a shell says of a program whose reader has gone: 128 + SIGPIPE.
const READER_GONE_STATUS: u8 = 141;

/// Runs the request to its end.
pub(super) async fn follow(
    context: &Context,
    client: Client,
    request: ExecuteRequest,
    signals: &mut Signals,
) -> Result<ExitCode, Failure> {
    let mut follower = Follower::new(client, cancel_request(&request));
    follower.keyboard = Keyboard::of(&request);
    if request.tty {
        // The screen is the command's.
        follower.progress.disable();
    }
    let mut reconnects = 0;
    loop {
        match follower.attempt(&request, signals).await {
            Ok(status) => return Ok(ExitCode::from(status)),
            Err(Lost::Forever(failure)) => return Err(failure),
            Err(Lost::Connection(status)) if reconnects == RECONNECTS_MAX => {
                return Err(Failure::from(status).hint(follower.where_to_look()));
            }
            Err(Lost::Connection(_)) => {
                reconnects += 1;
                follower.reconnected(reconnect(context).await?);
            }
        }
    }
}

/// Finds the daemon again. Another caller may be starting one in this moment,
/// and ours is then one too many: so a failure counts only when it stays.
async fn reconnect(context: &Context) -> Result<Client, Failure> {
    let mut tries = 0;
    loop {
        match connect(context).await {
            Err(_) if tries < RECONNECTS_MAX => {
                tries += 1;
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
            found => return found,
        }
    }
}

/// Why an attempt ended without an end.
enum Lost {
    /// The daemon went away; the execution has not.
    Connection(Status),
    /// Nothing can be done.
    Forever(Failure),
}

impl From<Failure> for Lost {
    fn from(failure: Failure) -> Lost {
        Lost::Forever(failure)
    }
}

impl From<Status> for Lost {
    fn from(status: Status) -> Lost {
        if is_lost(&status) {
            Lost::Connection(status)
        } else {
            Lost::Forever(status.into())
        }
    }
}

/// What comes after an event.
enum Next {
    /// Another one.
    Event,
    /// The end, with this exit status.
    Status(u8),
    /// Nobody reads our standard output any more.
    ReaderGone,
}

struct Follower {
    client: Client,
    progress: Progress,
    out: Printed,
    err: Printed,
    /// What cancels the execution.
    cancel: CancelRequest,
    shell_id: Option<u32>,
    stops: u32,
    keyboard: Keyboard,
}

impl Follower {
    fn new(client: Client, cancel: CancelRequest) -> Follower {
        Follower {
            client,
            progress: Progress::new(),
            out: Printed::default(),
            err: Printed::default(),
            cancel,
            shell_id: None,
            stops: 0,
            keyboard: Keyboard::default(),
        }
    }

    fn reconnected(&mut self, client: Client) {
        self.client = client;
        self.out.rewind();
        self.err.rewind();
    }

    fn where_to_look(&self) -> String {
        match self.shell_id {
            Some(id) => format!("the command may go on; `shellglass output {id}` has its output"),
            None => "the command may not have begun; `shellglass session list` shows".to_owned(),
        }
    }

    /// One connection: from the beginning of the stream to its end.
    async fn attempt(
        &mut self,
        request: &ExecuteRequest,
        signals: &mut Signals,
    ) -> Result<u8, Lost> {
        let mut stream = self.open(request, signals).await?;
        let mut tick = tokio::time::interval(TICK);
        loop {
            let event = tokio::select! {
                biased;
                () = signals.next() => {
                    self.stop()?;
                    continue;
                }
                event = stream.message() => event?,
                keys = self.keyboard.next() => {
                    self.keyboard.send(&self.client, self.shell_id, keys).await;
                    continue;
                }
                _ = tick.tick(), if self.progress.is_enabled() => {
                    self.progress.tick();
                    continue;
                }
            };
            let Some(ShellStream { event }) = event else {
                return Err(Lost::Connection(Status::unavailable(
                    "the stream ended too early",
                )));
            };
            match event.map_or(Ok(Next::Event), |event| self.take(event))? {
                Next::Event => {}
                Next::Status(status) => return Ok(status),
                Next::ReaderGone => {
                    self.cancel_and_wait().await;
                    return Ok(READER_GONE_STATUS);
                }
            }
        }
    }

    /// A call that is not accepted yet has no stream, and Ctrl+C must work there
    /// too.
    async fn open(
        &mut self,
        request: &ExecuteRequest,
        signals: &mut Signals,
    ) -> Result<Streaming<ShellStream>, Lost> {
        let mut client = self.client.clone();
        let opening = client.execute(request.clone());
        tokio::pin!(opening);
        loop {
            tokio::select! {
                biased;
                () = signals.next() => self.stop()?,
                answer = &mut opening => return Ok(answer?.into_inner()),
            }
        }
    }

    /// The first time asks for a cancel, the second leaves.
    fn stop(&mut self) -> Result<(), Failure> {
        self.stops += 1;
        if self.stops > 1 {
            self.progress.hide();
            return Err(
                Failure::new(Kind::Cancelled, "left before the command ended")
                    .hint(self.where_to_look()),
            );
        }
        self.cancel();
        Ok(())
    }

    /// Cancels the execution, whether it runs or waits. One that the daemon
    /// does not know yet is cancelled when it begins.
    fn cancel(&self) {
        let mut client = self.client.clone();
        let request = self.cancel.clone();
        tokio::spawn(async move {
            match client.cancel(request).await {
                Err(status) if status.code() != Code::NotFound && !is_lost(&status) => {
                    eprintln!("{}", Failure::from(status));
                }
                _ => {}
            }
        });
    }

    /// Ends a command whose reader has gone, as SIGPIPE would.
    async fn cancel_and_wait(&mut self) {
        let cancelled = self.client.cancel(self.cancel.clone());
        let _ = tokio::time::timeout(CANCEL_WAIT, cancelled).await;
    }

    /// Takes one event.
    fn take(&mut self, event: Event) -> Result<Next, Failure> {
        match event {
            Event::Start(start) => {
                self.shell_id = Some(start.shell_id);
                self.keyboard.take_over()?;
                if self.stops > 0 {
                    self.cancel();
                }
                return Ok(Next::Event);
            }
            Event::Stdout(output) => {
                let bytes = output.raw.as_deref().unwrap_or(output.data.as_bytes());
                return self.print_out(bytes);
            }
            Event::Stderr(output) => {
                let bytes = output.raw.as_deref().unwrap_or(output.data.as_bytes());
                let fresh = self.err.fresh(bytes);
                self.progress.before_output(fresh);
                // Nobody can be told that standard error does not work.
                let _ = std::io::stderr().write_all(fresh);
                return Ok(Next::Event);
            }
            Event::ApprovalPending(pending) => {
                self.progress.hide();
                waits(&pending);
                return Ok(Next::Event);
            }
            _ => self.progress.hide(),
        }
        match event {
            Event::Exit(exit) => {
                if exit
                    .exit_details
                    .as_ref()
                    .is_some_and(|details| details.wants_terminal)
                {
                    eprintln!("hint: it wants a terminal; `shellglass run --tty` gives it one");
                }
                verdict::of_exit(&exit).map(Next::Status)
            }
            Event::Rejected(refused) => Err(Failure::new(Kind::Refused, refused.reason)),
            Event::PermissionDenied(denied) => Err(Failure::new(Kind::Refused, denied.error)),
            Event::SpawnError(error) => Err(not_run(&error.error)),
            Event::Start(_) | Event::Stdout(_) | Event::Stderr(_) | Event::ApprovalPending(_) => {
                Ok(Next::Event)
            }
        }
    }

    fn print_out(&mut self, bytes: &[u8]) -> Result<Next, Failure> {
        let fresh = self.out.fresh(bytes);
        self.progress.before_output(fresh);
        match stdout::write(fresh)? {
            Reader::There => Ok(Next::Event),
            Reader::Gone => Ok(Next::ReaderGone),
        }
    }
}

/// Why nothing was run, with the hint that came with it, if one did.
fn not_run(error: &str) -> Failure {
    let usual = "nothing was run; is the directory there, and is the shell?";
    let (error, hint) = error.split_once("\nhint: ").unwrap_or((error, usual));
    Failure::new(Kind::Broken, error).hint(hint)
}

/// Says that the command waits, and how to answer.
fn waits(pending: &ShellApprovalPending) {
    let id = &pending.approval_id;
    eprintln!("shellglass: waits for approval {id}");
    for line in glass_policy::text::shown(&pending.reason, REASON_COLUMNS) {
        eprintln!("  : {line}");
    }
    eprintln!("hint: `shellglass approvals approve {id}`, or `approvals deny {id}`, elsewhere");
}
