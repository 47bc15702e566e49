//! Views: what people see of a session in a terminal of their own.
//!
//! A view has two ends. The reader gives what the terminal is to show; the
//! writer takes what is typed there. A *mirror* shows a pipe or line session and
//! only lets its command be cancelled; a *console* also takes commands; a
//! *terminal* is the PTY of a session.

mod console;
mod mirror;
mod terminal;

use crate::engine::{Caller, Engine};
use crate::errors::LookupError;
use bytes::Bytes;
use console::{ConsoleReader, ConsoleWriter};
use glass_model::{EventIndex, Mode, SessionId};
use glass_vt::console::Wish as ConsoleWish;
use mirror::{MirrorReader, MirrorWriter};
use terminal::{TerminalReader, TerminalWriter};

/// Which view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// The read-only mirror of a pipe or line session.
    Mirror,
    /// The typed view of a pipe or line session.
    Console,
    /// The terminal of a PTY session.
    Terminal,
}

/// Whether what is typed reaches the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It does.
    Interactive,
    /// It does not, and the view's size means nothing.
    ReadOnly,
}

/// What a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSpec {
    /// Which view; none is the one that suits the session.
    pub kind: Option<ViewKind>,
    /// Whether what is typed counts.
    pub access: Access,
    /// The size of the terminal that shows it; zero where that is not known.
    pub columns: u32,
    /// As `columns`.
    pub rows: u32,
    /// A mirror replays nothing before this event.
    pub from: EventIndex,
    /// How a console is to look.
    pub console: ConsoleWish,
}

/// What a view says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The view is there; before everything else.
    Opened {
        /// The shell's process; -1 for a mirror or a console.
        pid: i32,
        /// Where the session is.
        cwd: String,
    },
    /// Something about the session.
    Property {
        /// What.
        name: &'static str,
        /// How it is.
        value: String,
    },
    /// For the terminal.
    Bytes {
        /// What to write to it.
        bytes: Bytes,
        /// When what they show happened, in milliseconds since 1970; none where
        /// it is of the past or not known.
        at_ms: Option<i64>,
    },
    /// What was there before has been shown; what follows is live.
    Ready {
        /// The first live event of a mirror; a view that is opened from there
        /// goes on where this one does.
        next: Option<EventIndex>,
    },
    /// Something was typed that does not count.
    ReadOnlyInput,
    /// The session is over; after everything else.
    Exited {
        /// The code of its shell, where there is one and it is known.
        code: Option<i32>,
    },
}

impl Shown {
    /// Bytes of which it is not known when they happened.
    pub(crate) fn undated(bytes: Bytes) -> Shown {
        Shown::Bytes { bytes, at_ms: None }
    }
}

/// Why there is no view.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The session is not to be had.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// What is typed into a terminal cannot be judged, and the caller's commands
    /// must be.
    #[error("an agent whose commands are judged cannot type into session {0}")]
    Unjudged(SessionId),
    /// It has no such view.
    #[error("session {id} has no {} view: {why}", name(*.kind))]
    NoSuchView {
        /// The session.
        id: SessionId,
        /// What was asked for.
        kind: ViewKind,
        /// Why not.
        why: &'static str,
    },
}

fn name(kind: ViewKind) -> &'static str {
    match kind {
        ViewKind::Mirror => "mirror",
        ViewKind::Console => "console",
        ViewKind::Terminal => "terminal",
    }
}

/// The end of a view that shows.
pub struct ViewReader(Reader);

enum Reader {
    Mirror(MirrorReader),
    Console(ConsoleReader),
    Terminal(TerminalReader),
}

/// The end of a view that is typed into.
pub struct ViewWriter(Writer);

enum Writer {
    Mirror(MirrorWriter),
    Console(ConsoleWriter),
    Terminal(TerminalWriter),
}

impl ViewReader {
    /// The next thing to show; none when the view is over. Dropping the future
    /// loses nothing.
    pub async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        match &mut self.0 {
            Reader::Mirror(mirror) => mirror.next().await,
            Reader::Console(console) => console.next().await,
            Reader::Terminal(terminal) => terminal.next().await,
        }
    }
}

impl ViewWriter {
    /// Takes what was typed, in order.
    pub async fn input(&mut self, bytes: Bytes) {
        match &mut self.0 {
            Writer::Mirror(mirror) => mirror.input(&bytes),
            Writer::Console(console) => console.input(bytes).await,
            Writer::Terminal(terminal) => terminal.input(bytes).await,
        }
    }

    /// The terminal that shows the view has another size.
    pub async fn resize(&mut self, columns: u32, rows: u32) {
        match &mut self.0 {
            // Accepted, and changes nothing.
            Writer::Mirror(_) => {}
            Writer::Console(console) => console.resize(columns, rows).await,
            Writer::Terminal(terminal) => terminal.resize(columns, rows).await,
        }
    }
}

impl Engine {
    /// Opens a view of a session.
    pub async fn open_view(
        &self,
        caller: &Caller,
        id: &str,
        spec: ViewSpec,
    ) -> Result<(ViewReader, ViewWriter), AttachError> {
        let session = self.session(caller, id)?.session;
        if session.mode == Mode::Pty && spec.kind == Some(ViewKind::Console) {
            return Err(AttachError::NoSuchView {
                id: session.id,
                kind: ViewKind::Console,
                why: "it is a terminal of its own",
            });
        }
        if session.mode == Mode::Pty {
            let (reader, writer) = terminal::open(self, caller, &session, spec).await?;
            let reader = ViewReader(Reader::Terminal(reader));
            return Ok((reader, ViewWriter(Writer::Terminal(writer))));
        }
        if spec.kind == Some(ViewKind::Terminal) {
            return Err(AttachError::NoSuchView {
                id: session.id,
                kind: ViewKind::Terminal,
                why: "its commands run without a terminal",
            });
        }
        // Who may not type has a mirror.
        if spec.kind == Some(ViewKind::Console) && spec.access == Access::Interactive {
            let (reader, writer) = console::open(self, caller, &session, spec).await?;
            let reader = ViewReader(Reader::Console(reader));
            return Ok((reader, ViewWriter(Writer::Console(writer))));
        }
        let (reader, writer) = mirror::open(self, caller, &session, spec.from).await?;
        let reader = ViewReader(Reader::Mirror(reader));
        Ok((reader, ViewWriter(Writer::Mirror(writer))))
    }
}
