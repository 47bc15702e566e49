//! `watch`: all sessions in this terminal, as they change.

mod board;
mod keys;
mod page;
mod plain;
pub(super) mod words;

use super::attach::screen::{Screen, Taking};
use super::attach::terminal::{self, Heard, Keys, Terminal};
use super::{attach, now_ms};
use crate::cli::{Attach, Watch};
use crate::client::{Client, Context, connect, dial};
use crate::error::{Failure, Kind};
use crate::stdout;
use board::{Act, Board};
use glass_proto::shellglass::v1::{
    ApprovalScope, CancelRequest, Overview, ResolveApprovalRequest, WatchSessionsRequest,
};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal as Canvas, TerminalOptions, Viewport};
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

/// The figures and the times move this often.
const TICK: Duration = Duration::from_secs(1);

/// Between two looks for a daemon that went away.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Answers of the daemon that may be under way.
const UNDER_WAY_MAX: usize = 8;

/// The alternate screen, without a cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";

/// Shows the sessions until it is quit.
pub(super) async fn watch(arguments: &Watch) -> Result<ExitCode, Failure> {
    let context = Context::load()?;
    let mut client = connect(&context).await?;
    let mut stream = follow(&mut client).await?;
    if arguments.once || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        let first = stream.message().await?.unwrap_or_default();
        stdout::print(&plain::plain(&first))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut terminal = Terminal::take_over()?;
    let (sender, answers) = mpsc::channel(UNDER_WAY_MAX);
    let mut watcher = Watcher {
        context,
        client: Some(client),
        stream: Some(stream),
        board: Board::default(),
        canvas: Paper::new()?,
        sender,
        answers,
    };
    watcher.run(&mut terminal).await
}

async fn follow(client: &mut Client) -> Result<Streaming<Overview>, Status> {
    let all = WatchSessionsRequest::default();
    Ok(client.watch_sessions(all).await?.into_inner())
}

struct Watcher {
    context: Context,
    client: Option<Client>,
    /// None while there is no daemon.
    stream: Option<Streaming<Overview>>,
    board: Board,
    canvas: Paper,
    sender: mpsc::Sender<String>,
    /// What came of cancels and answers.
    answers: mpsc::Receiver<String>,
}

/// What goes on.
enum News {
    Heard(Heard),
    Told(Result<Option<Overview>, Status>),
    Answered(String),
    Found(Box<(Client, Streaming<Overview>)>),
    Tick,
}

impl Watcher {
    async fn run(&mut self, terminal: &mut Terminal) -> Result<ExitCode, Failure> {
        let mut screen = Screen::new()?;
        enter(&mut screen);
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let status = loop {
            match screen.try_room() {
                Taking::Now(room) => room.show(self.canvas.draw(&mut self.board)?),
                // The next tick looks again.
                Taking::Later => {}
                Taking::Never => break 0,
            }
            match self.next(terminal, &mut ticks).await {
                News::Heard(Heard::Told(signal)) => break 128 + signal,
                News::Heard(Heard::Resized) => self.canvas = Paper::new()?,
                News::Heard(Heard::Typed(bytes)) => match self.typed(&bytes) {
                    None => {}
                    Some(Act::Open { session, write }) => {
                        screen.restore().await;
                        self.open(terminal, session, write).await;
                        screen = Screen::new()?;
                        self.canvas = Paper::new()?;
                        enter(&mut screen);
                    }
                    Some(_) => break 0,
                },
                News::Told(Ok(Some(overview))) => self.board.take(overview, Instant::now()),
                News::Told(Ok(None) | Err(_)) => {
                    self.stream = None;
                    self.board.lose();
                }
                News::Found(found) => {
                    let (client, stream) = *found;
                    self.client = Some(client);
                    self.stream = Some(stream);
                }
                News::Answered(said) => self.board.said = said,
                News::Tick => self.board.sample(Instant::now()),
            }
        };
        screen.restore().await;
        Ok(ExitCode::from(status))
    }

    async fn next(&mut self, terminal: &mut Terminal, ticks: &mut tokio::time::Interval) -> News {
        let context = &self.context;
        let told = async {
            match &mut self.stream {
                Some(stream) => News::Told(stream.message().await),
                None => find(context).await,
            }
        };
        tokio::select! {
            biased;
            heard = terminal.next(Keys::Wanted) => News::Heard(heard),
            Some(answer) = self.answers.recv() => News::Answered(answer),
            told = told => told,
            _ = ticks.tick() => News::Tick,
        }
    }

    /// Does what keys say; what is left is to quit, or to open a session.
    fn typed(&mut self, bytes: &[u8]) -> Option<Act> {
        for key in keys::keys(bytes) {
            match self.board.press(key) {
                None => {}
                Some(Act::Cancel { session }) => self.ask(async move |mut client: Client| {
                    let request = CancelRequest {
                        session_id: session,
                        ..CancelRequest::default()
                    };
                    client.cancel(request).await.map(|_| "cancelled".to_owned())
                }),
                Some(Act::Answer { approval, approve }) => {
                    self.ask(async move |mut client: Client| {
                        let said = if approve { "approved" } else { "refused" };
                        let said = format!("{approval} {said}");
                        let request = ResolveApprovalRequest {
                            approval_id: approval,
                            approve,
                            reason: String::new(),
                            scope: ApprovalScope::Once.into(),
                        };
                        client.resolve_approval(request).await.map(|_| said)
                    });
                }
                Some(act) => return Some(act),
            }
        }
        None
    }

    /// Asks the daemon for something, aside.
    fn ask<F, Asking>(&mut self, asking: F)
    where
        F: FnOnce(Client) -> Asking + Send + 'static,
        Asking: Future<Output = Result<String, Status>> + Send + 'static,
    {
        let room = self.sender.clone().try_reserve_owned();
        let (Some(client), Ok(room)) = (self.client.clone(), room) else {
            self.board.said = "too much is under way".to_owned();
            return;
        };
        self.board.said = "…".to_owned();
        tokio::spawn(async move {
            let said = asking(client).await.unwrap_or_else(|status| {
                let why = glass_policy::text::visible(status.message());
                format!("that was not possible: {why}")
            });
            room.send(said);
        });
    }

    /// Shows one session until it is left.
    async fn open(&mut self, terminal: &mut Terminal, session: String, write: bool) {
        let arguments = Attach {
            id: session,
            write,
            no_status: false,
        };
        let shown = attach::within(&self.context, terminal, &arguments).await;
        self.board.said = match shown {
            Ok(_) => String::new(),
            Err(failure) => glass_policy::text::visible(&failure.to_string()),
        };
    }
}

/// Looks for a daemon, without starting one.
async fn find(context: &Context) -> News {
    loop {
        tokio::time::sleep(RECONNECT_PAUSE).await;
        let Ok(socket) = context.socket() else {
            continue;
        };
        let Ok(mut client) = dial(&socket).await else {
            continue;
        };
        if let Ok(stream) = follow(&mut client).await {
            return News::Found(Box::new((client, stream)));
        }
    }
}

/// Takes a terminal that nothing was shown on before.
fn enter(screen: &mut Screen) {
    if let Taking::Now(room) = screen.try_room() {
        room.show(ENTER.to_vec());
    }
}

/// What the page is drawn on: bytes that only the difference to the last page
/// needs.
struct Paper {
    canvas: Canvas<CrosstermBackend<Ink>>,
    ink: Ink,
}

#[derive(Clone, Default)]
struct Ink(Arc<Mutex<Vec<u8>>>);

impl Ink {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Ink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    /// A new one for the size that the terminal has now.
    fn new() -> Result<Paper, Failure> {
        let (columns, rows) = terminal::size().unwrap_or((80, 24));
        let side = |cells: u32| u16::try_from(cells).unwrap_or(u16::MAX);
        let ink = Ink::default();
        // What is there is of another size.
        let mut first = ink.clone();
        first.write_all(b"\x1b[H\x1b[2J").map_err(broken)?;
        let options = TerminalOptions {
            viewport: Viewport::Fixed(Rect::new(0, 0, side(columns), side(rows))),
        };
        let backend = CrosstermBackend::new(ink.clone());
        let canvas = Canvas::with_options(backend, options).map_err(broken)?;
        Ok(Paper { canvas, ink })
    }

    fn draw(&mut self, board: &mut Board) -> Result<Vec<u8>, Failure> {
        let drawn = self
            .canvas
            .draw(|frame| page::draw(frame, board, now_ms()))
            .map(|_| ());
        drawn.map_err(broken)?;
        Ok(self.ink.take())
    }
}

fn broken(error: io::Error) -> Failure {
    Failure::new(Kind::Broken, format!("the page cannot be drawn: {error}"))
}
