//! `attach`: a session in this terminal, until Ctrl+] is typed or it is over.

mod modes;
pub(super) mod screen;
mod status;
pub(super) mod terminal;

use crate::cli::Attach;
use crate::client::{Client, Context, connect};
use crate::error::Failure;
use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{
    AttachInput, AttachOpen, AttachOutput, Resize, SessionMode, SessionRef, View,
};
use screen::Screen;
use std::process::ExitCode;
use std::time::Duration;
use terminal::{Heard, Terminal};
use tokio::sync::{mpsc, watch};
use tonic::{Code, Status, Streaming};

/// Ctrl+], which leaves.
const LEAVE: u8 = 0x1d;

/// What tells how large a session's terminal is.
const SIZE: &str = "size";

/// What a console says when `exit` was entered or Ctrl+D pressed.
const LEFT: &str = "left";

/// Messages that may wait for the daemon to take them.
const OUTGOING_MAX: usize = 64;

/// How often a daemon that went away is looked for.
const RECONNECTS_MAX: u32 = 25;

/// Between two of those looks.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// How a connection ended.
pub(super) enum End {
    /// Ctrl+] was typed.
    Left,
    /// The session is over.
    Over,
    /// A signal told us to go.
    Told(u8),
    /// Nobody reads our standard output any more.
    Unseen,
    /// The daemon went away; the session has not.
    Lost(Status),
}

/// Shows a session until it is left or over.
pub(super) async fn attach(arguments: &Attach) -> Result<ExitCode, Failure> {
    let context = Context::load()?;
    let opened = Opening::new(&context, arguments).await?;
    let mut terminal = Terminal::take_over()?;
    let end = opened.show(&context, &mut terminal, arguments).await?;
    drop(terminal);
    let said = match end {
        End::Told(signal) => return Ok(ExitCode::from(128 + signal)),
        End::Left => "left; the session goes on",
        End::Over => "the session is over",
        End::Unseen | End::Lost(_) => return Ok(ExitCode::SUCCESS),
    };
    eprintln!("shellglass: {said}");
    Ok(ExitCode::SUCCESS)
}

/// Shows a session in a terminal that is ours already.
pub(super) async fn within(
    context: &Context,
    terminal: &mut Terminal,
    arguments: &Attach,
) -> Result<End, Failure> {
    let opened = Opening::new(context, arguments).await?;
    opened.show(context, terminal, arguments).await
}

/// A view that was opened and is not shown yet: whoever may not open it is told
/// so before their terminal changes.
struct Opening {
    view: View,
    opened: Opened,
}

impl Opening {
    async fn new(context: &Context, arguments: &Attach) -> Result<Opening, Failure> {
        let mut client = connect(context).await?;
        let session = SessionRef {
            session_id: arguments.id.clone(),
        };
        let session = client.get_session(session).await?.into_inner();
        let view = match (session.mode(), arguments.write) {
            (SessionMode::Pty, _) => View::Terminal,
            (_, true) => View::Console,
            (_, false) => View::Mirror,
        };
        let opened = open(&mut client, arguments, view, size(arguments)).await?;
        Ok(Opening { view, opened })
    }

    async fn show(
        self,
        context: &Context,
        terminal: &mut Terminal,
        arguments: &Attach,
    ) -> Result<End, Failure> {
        let Opening { view, mut opened } = self;
        let mut screen = Screen::new()?;
        let mut line = status::listen(context.socket()?, &arguments.id);
        put_status(&mut screen, arguments).await;
        let mut tries = 0;
        let end = loop {
            let (sender, stream) = opened;
            let mut following = Following {
                arguments,
                terminal,
                screen: &mut screen,
                line: &mut line,
            };
            let end = following.follow(&sender, stream, &mut tries).await?;
            let End::Lost(status) = end else { break end };
            opened = reopen(context, arguments, view, status, &mut tries).await?;
            screen.clear().await;
        };
        screen.restore().await;
        Ok(end)
    }
}

type Opened = (mpsc::Sender<AttachInput>, Streaming<AttachOutput>);

async fn open(
    client: &mut Client,
    arguments: &Attach,
    view: View,
    size: Option<(u32, u32)>,
) -> Result<Opened, Status> {
    let (cols, rows) = size.unwrap_or((0, 0));
    let (sender, receiver) = mpsc::channel(OUTGOING_MAX);
    let open = AttachOpen {
        session_id: arguments.id.clone(),
        cols,
        rows,
        read_only: !arguments.write,
        view: view.into(),
        // The terminal outside would obey without a question.
        clipboard: false,
    };
    // The channel is new and has room.
    let _ = sender.try_send(message(Input::Open(open)));
    let outgoing = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let stream = client.attach(outgoing).await?.into_inner();
    Ok((sender, stream))
}

/// Finds the daemon again, which begins anew with what the session shows now.
async fn reopen(
    context: &Context,
    arguments: &Attach,
    view: View,
    lost: Status,
    tries: &mut u32,
) -> Result<Opened, Failure> {
    loop {
        if *tries == RECONNECTS_MAX {
            let hint = format!(
                "`shellglass attach {}` tries again",
                arguments.id.escape_debug()
            );
            return Err(Failure::from(lost).hint(hint));
        }
        *tries += 1;
        tokio::time::sleep(RECONNECT_PAUSE).await;
        let Ok(mut client) = connect(context).await else {
            continue;
        };
        match open(&mut client, arguments, view, size(arguments)).await {
            Ok(opened) => return Ok(opened),
            Err(status) if is_lost(&status) => {}
            Err(status) => return Err(status.into()),
        }
    }
}

fn message(input: Input) -> AttachInput {
    AttachInput { input: Some(input) }
}

/// Whether a connection went away, and not what it was for.
fn is_lost(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal
    )
}

/// The size that the session is told: that of the terminal, without the row that
/// is ours.
fn size(arguments: &Attach) -> Option<(u32, u32)> {
    let size = terminal::size();
    let ours = u32::from(has_status(arguments, size));
    size.map(|(columns, rows)| (columns, rows - ours))
}

fn has_status(arguments: &Attach, size: Option<(u32, u32)>) -> bool {
    !arguments.no_status && status::has_room(size)
}

/// Puts up the status line, where it is wanted and there is room.
async fn put_status(screen: &mut Screen, arguments: &Attach) {
    let size = terminal::size();
    if let Some((columns, rows)) = size.filter(|_| has_status(arguments, size)) {
        screen.put_status(columns, rows).await;
    } else if screen.has_status() {
        screen.take_status().await;
    }
}

/// One connection that is shown.
struct Following<'a> {
    arguments: &'a Attach,
    terminal: &'a mut Terminal,
    screen: &'a mut Screen,
    line: &'a mut watch::Receiver<status::Said>,
}

impl Following<'_> {
    /// Shows what comes and sends what is typed.
    async fn follow(
        &mut self,
        sender: &mpsc::Sender<AttachInput>,
        mut stream: Streaming<AttachOutput>,
        tries: &mut u32,
    ) -> Result<End, Failure> {
        loop {
            let turn = tokio::select! {
                biased;
                heard = self.terminal.next() => Turn::Heard(heard),
                Ok(()) = self.line.changed(), if self.screen.has_status() => Turn::Line,
                told = next(self.screen, &mut stream) => Turn::Told(told),
            };
            let end = match turn {
                Turn::Heard(heard) => self.hear(heard, sender).await,
                Turn::Line => {
                    let said = self.line.borrow_and_update().clone();
                    self.screen.say(said).await;
                    None
                }
                Turn::Told(None) => Some(End::Unseen),
                Turn::Told(Some(told)) => {
                    let output = match told {
                        Ok(Some(told)) => told.output,
                        // Its end would have been told.
                        Ok(None) => {
                            return Ok(End::Lost(Status::unavailable("the daemon stopped")));
                        }
                        Err(status) if is_lost(&status) => return Ok(End::Lost(status)),
                        Err(status) => return Err(status.into()),
                    };
                    *tries = 0;
                    self.show(output).await
                }
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// Shows what was told; says when that is the end.
    async fn show(&mut self, output: Option<Output>) -> Option<End> {
        match output? {
            Output::Data(bytes) => self.screen.show(bytes.into()).await,
            Output::ReadOnlyInput(_) => self.screen.show(b"\x07".to_vec()).await,
            Output::Exited(_) => return Some(End::Over),
            Output::Property(property) if property.name == SIZE => {
                self.screen.fit(&property.value).await;
            }
            // The console was left from within.
            Output::Property(property) if property.name == LEFT => return Some(End::Left),
            _ => {}
        }
        None
    }

    /// Does what the person does; says when that is the end.
    async fn hear(&mut self, heard: Heard, sender: &mpsc::Sender<AttachInput>) -> Option<End> {
        match heard {
            Heard::Typed(bytes) => {
                let leaves = bytes.iter().position(|byte| *byte == LEAVE);
                let typed = &bytes[..leaves.unwrap_or(bytes.len())];
                if !typed.is_empty() {
                    // A daemon that is gone is noticed by the stream.
                    let data = Input::Data(typed.to_vec().into());
                    let _ = sender.send(message(data)).await;
                }
                leaves.map(|_| End::Left)
            }
            Heard::Resized => {
                put_status(self.screen, self.arguments).await;
                if let Some((cols, rows)) = size(self.arguments) {
                    let resize = Input::Resize(Resize { cols, rows });
                    let _ = sender.send(message(resize)).await;
                }
                None
            }
            Heard::Told(signal) => Some(End::Told(signal)),
        }
    }
}

/// What there is to do.
enum Turn {
    Heard(Heard),
    /// The status line says something else.
    Line,
    /// A message; none when nobody reads what is shown.
    Told(Option<Result<Option<AttachOutput>, Status>>),
}

/// The next message, once there is room to show it; none when nobody reads.
async fn next(
    screen: &mut Screen,
    stream: &mut Streaming<AttachOutput>,
) -> Option<Result<Option<AttachOutput>, Status>> {
    drop(screen.room().await?);
    Some(stream.message().await)
}
