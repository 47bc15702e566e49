//! `attach`: a session in this terminal, until Ctrl+] is typed or it is over.

mod modes;
pub(super) mod screen;
mod status;
pub(super) mod terminal;
mod unsent;

use crate::cli::Attach;
use crate::client::{Client, Context, connect};
use crate::error::Failure;
use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{
    AttachInput, AttachOpen, AttachOutput, Resize, SessionMode, SessionRef, View,
};
use screen::{Restored, Screen, Taking};
use std::process::ExitCode;
use std::time::Duration;
use terminal::{Heard, Terminal};
use tokio::sync::mpsc;
use tonic::{Code, Status, Streaming};
use unsent::Unsent;

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

/// Time for the daemon to take what was typed before the key that leaves.
const LEAVE_WAIT: Duration = Duration::from_secs(1);

/// A property that no view has. The daemon says so when it has taken what was sent
/// before.
const TAKEN: &str = "taken";

/// How a connection ended.
pub(super) enum End {
    /// Ctrl+] was typed.
    Left,
    /// The same, and the daemon has not taken so many bytes of what was typed before.
    LeftUntaken(usize),
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
        End::Left => "left; the session goes on".to_owned(),
        End::LeftUntaken(bytes) => format!(
            "left; the session goes on, and has not taken the last {bytes} bytes that you typed"
        ),
        End::Over => "the session is over".to_owned(),
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
        let mut following = Following {
            arguments,
            terminal,
            screen: Screen::new()?,
            line: status::Line::new(context.socket()?, &arguments.id),
            unsent: Unsent::default(),
            has_typed: false,
        };
        following.put_status();
        let mut tries = 0;
        let end = loop {
            let (sender, mut stream) = opened;
            let end = following.follow(&sender, &mut stream, &mut tries).await?;
            let status = match end {
                End::Lost(status) => status,
                End::Left => break following.hand_over(&sender, &mut stream).await,
                end => break end,
            };
            opened = tokio::select! {
                biased;
                end = following.told_to_go() => break end,
                opened = reopen(context, arguments, view, status, &mut tries) => opened?,
            };
            following.screen.clear();
        };
        let restored = following.screen.restore().await;
        Ok(match end {
            // Whatever else we said would wait for that terminal, too.
            End::Left | End::LeftUntaken(_) | End::Over if restored == Restored::Unseen => {
                End::Unseen
            }
            end => end,
        })
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

/// Whether this is the daemon's word that it has taken what was sent.
fn is_taken(told: &AttachOutput) -> bool {
    matches!(&told.output, Some(Output::Unsupported(property)) if property.name == TAKEN)
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

/// A session that is shown.
struct Following<'a> {
    arguments: &'a Attach,
    terminal: &'a mut Terminal,
    screen: Screen,
    line: status::Line,
    unsent: Unsent,
    /// Whether anything was typed that the daemon has not said to have taken.
    has_typed: bool,
}

impl Following<'_> {
    /// Shows what comes on a connection and sends what is typed. Nothing here is
    /// waited for alone: a terminal that takes nothing, or a daemon that does not,
    /// keeps nobody from leaving.
    async fn follow(
        &mut self,
        sender: &mpsc::Sender<AttachInput>,
        stream: &mut Streaming<AttachOutput>,
        tries: &mut u32,
    ) -> Result<End, Failure> {
        loop {
            let turn = tokio::select! {
                biased;
                heard = self.terminal.next(self.unsent.keys()) => Turn::Heard(heard),
                Ok(room) = sender.reserve(), if !self.unsent.is_empty() => {
                    self.unsent.send(room);
                    continue;
                }
                said = self.line.next() => Turn::Line(said),
                told = next(&mut self.screen, stream) => Turn::Told(told),
            };
            let end = match turn {
                Turn::Heard(heard) => self.hear(heard),
                Turn::Line(said) => {
                    self.screen.say(said);
                    None
                }
                Turn::Told(Told::Nobody) => Some(End::Unseen),
                Turn::Told(Told::Message(told)) => {
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
                    self.show(output)
                }
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// Shows what was told, for which there is room; says when that is the end.
    fn show(&mut self, output: Option<Output>) -> Option<End> {
        let bytes = match output? {
            Output::Data(bytes) => bytes.into(),
            Output::ReadOnlyInput(_) => b"\x07".to_vec(),
            Output::Exited(_) => return Some(End::Over),
            Output::Property(property) if property.name == SIZE => {
                self.screen.fit(&property.value);
                return None;
            }
            // The console was left from within.
            Output::Property(property) if property.name == LEFT => return Some(End::Left),
            _ => return None,
        };
        match self.screen.try_room() {
            Taking::Now(room) => room.show(bytes),
            Taking::Later => unreachable!("a message is only taken where there is room for it"),
            Taking::Never => return Some(End::Unseen),
        }
        None
    }

    /// Does what the person does; says when that is the end.
    fn hear(&mut self, heard: Heard) -> Option<End> {
        match heard {
            Heard::Typed(bytes) => {
                let leaves = bytes.iter().position(|byte| *byte == LEAVE);
                let typed = &bytes[..leaves.unwrap_or(bytes.len())];
                if !typed.is_empty() {
                    self.has_typed = true;
                    self.unsent.push_keys(typed);
                }
                leaves.map(|_| End::Left)
            }
            Heard::Resized => {
                self.put_status();
                if let Some((cols, rows)) = size(self.arguments) {
                    self.unsent.resize = Some(Resize { cols, rows });
                }
                None
            }
            Heard::Told(signal) => Some(End::Told(signal)),
        }
    }

    /// Waits for the person to leave while there is no daemon. What they type is for
    /// the next one.
    async fn told_to_go(&mut self) -> End {
        loop {
            let heard = self.terminal.next(self.unsent.keys()).await;
            match self.hear(heard) {
                Some(End::Left) => return self.left(),
                Some(end) => return end,
                None => {}
            }
        }
    }

    /// Has the daemon take what was typed before the key that leaves, and waits for
    /// its word, though not for long: who leaves at once takes along what is under way.
    async fn hand_over(
        &mut self,
        sender: &mpsc::Sender<AttachInput>,
        stream: &mut Streaming<AttachOutput>,
    ) -> End {
        let mut is_asked = !self.has_typed;
        let taking = async {
            while !is_asked || self.has_typed {
                tokio::select! {
                    Ok(room) = sender.reserve(), if !is_asked => {
                        if self.unsent.is_empty() {
                            room.send(message(Input::RefreshProperty(TAKEN.to_owned())));
                            is_asked = true;
                        } else {
                            self.unsent.send(room);
                        }
                    }
                    // Nothing is shown any more.
                    told = stream.message() => match told {
                        Ok(Some(told)) => self.has_typed &= !is_taken(&told),
                        Ok(None) | Err(_) => return,
                    },
                }
            }
        };
        // One that takes longer keeps nobody.
        let _ = tokio::time::timeout(LEAVE_WAIT, taking).await;
        self.left()
    }

    fn left(&self) -> End {
        match self.unsent.bytes() {
            0 => End::Left,
            bytes => End::LeftUntaken(bytes),
        }
    }

    /// Puts up the status line, where it is wanted and there is room.
    fn put_status(&mut self) {
        let size = terminal::size();
        if let Some((columns, rows)) = size.filter(|_| has_status(self.arguments, size)) {
            self.line.listen();
            self.screen.put_status(columns, rows);
        } else if self.screen.has_status() {
            self.screen.take_status();
        }
    }
}

/// What there is to do.
enum Turn {
    Heard(Heard),
    /// The status line says something else.
    Line(status::Said),
    Told(Told),
}

/// What comes on a connection.
enum Told {
    /// A message, for which there is room on the terminal.
    Message(Result<Option<AttachOutput>, Status>),
    /// Nobody reads what is shown.
    Nobody,
}

/// The next message, once there is room to show it.
async fn next(screen: &mut Screen, stream: &mut Streaming<AttachOutput>) -> Told {
    loop {
        match screen.room().await {
            Some(room) => drop(room),
            None => return Told::Nobody,
        }
        tokio::select! {
            biased;
            () = screen.settle() => {}
            told = stream.message() => return Told::Message(told),
        }
    }
}
