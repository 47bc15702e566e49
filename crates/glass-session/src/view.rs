//! Views: what people see of a session in a terminal of their own.
//!
//! A view has two ends. The reader gives what the terminal is to show; the
//! writer takes what is typed there. A *mirror* shows a pipe or line session and
//! only lets its command be cancelled; a *console* also takes commands; a
//! *terminal* is the PTY of a session.

mod console;
mod facts;
mod mirror;
mod terminal;

use crate::engine::{Caller, Engine, Presence};
use crate::errors::LookupError;
use bytes::Bytes;
use console::{ConsoleReader, ConsoleWriter};
use facts::Facts;
use glass_model::{EventIndex, Mode, SessionId};
use glass_vt::console::Wish as ConsoleWish;
use glass_vt::strip::{Strip, Stripped};
use mirror::{MirrorReader, MirrorWriter};
use std::sync::Arc;
use terminal::{TerminalReader, TerminalWriter};

/// The longest command that is announced, in bytes.
pub const ANNOUNCED_BYTES_MAX: usize = 32 * 1024;

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

/// What becomes of what programs want on the clipboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clipboard {
    /// It reaches a terminal that is typed into, and nobody who only watches or has
    /// a console: their terminal would put there what an agent chose.
    #[default]
    Guarded,
    /// It is in every view: the client asks the person.
    Offered,
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
    /// What becomes of what programs want on the clipboard.
    pub clipboard: Clipboard,
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
        /// What the view is called.
        name: String,
        /// Which icon it has: `eye` where it only shows, else `terminal`.
        icon: &'static str,
    },
    /// A property was asked for that this view does not have.
    Unsupported {
        /// Which.
        name: String,
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
    /// The view is there. Its name and icon are added when it is shown.
    pub(crate) fn opened(pid: i32, cwd: String) -> Shown {
        Shown::Opened {
            pid,
            cwd,
            name: String::new(),
            icon: "",
        }
    }

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
pub struct ViewReader {
    reader: Reader,
    facts: Arc<Facts>,
    guard: Option<Strip>,
    /// Counts for as long as the view is open.
    _presence: Presence,
}

enum Reader {
    Mirror(MirrorReader),
    Console(ConsoleReader),
    Terminal(TerminalReader),
}

/// The end of a view that is typed into.
pub struct ViewWriter {
    writer: Writer,
    facts: Arc<Facts>,
}

enum Writer {
    Mirror(MirrorWriter),
    Console(ConsoleWriter),
    Terminal(TerminalWriter),
}

impl ViewReader {
    /// The next thing to show; none when the view is over. Dropping the future
    /// loses nothing.
    pub async fn next(&mut self) -> Result<Option<Shown>, LookupError> {
        loop {
            let mut shown = match &mut self.reader {
                Reader::Mirror(mirror) => mirror.next().await,
                Reader::Console(console) => console.next().await,
                Reader::Terminal(terminal) => terminal.next().await,
            };
            match (&mut shown, &mut self.guard) {
                (Ok(Some(Shown::Opened { name, icon, .. })), _) => {
                    *name = self.facts.name();
                    *icon = self.facts.icon();
                }
                (Ok(Some(Shown::Bytes { bytes, .. })), Some(guard)) => {
                    *bytes = guarded(guard, bytes);
                    if bytes.is_empty() {
                        continue;
                    }
                }
                _ => {}
            }
            return shown;
        }
    }

    /// Whether input was refused and nobody has been told: for whoever lets go of this end
    /// and opens another in its place.
    pub fn owes_refusal(&mut self) -> bool {
        match &mut self.reader {
            Reader::Mirror(mirror) => mirror.owes_refusal(),
            Reader::Console(_) | Reader::Terminal(_) => false,
        }
    }
}

/// What is left of the next bytes.
fn guarded(guard: &mut Strip, bytes: &Bytes) -> Bytes {
    let mut kept = Vec::with_capacity(bytes.len());
    guard.push(bytes, |piece| kept.extend_from_slice(piece));
    kept.into()
}

impl ViewWriter {
    /// Takes what was typed, in order.
    pub async fn input(&mut self, bytes: Bytes) {
        match &mut self.writer {
            Writer::Mirror(mirror) => mirror.input(&bytes),
            Writer::Console(console) => console.input(bytes).await,
            Writer::Terminal(terminal) => terminal.input(bytes).await,
        }
    }

    /// The terminal that shows the view has another size.
    pub async fn resize(&mut self, columns: u32, rows: u32) {
        match &mut self.writer {
            // Accepted, and changes nothing.
            Writer::Mirror(_) => {}
            Writer::Console(console) => console.resize(columns, rows).await,
            Writer::Terminal(terminal) => terminal.resize(columns, rows).await,
        }
    }

    /// Takes input that is no text, as reports of a mouse. A mirror takes it and
    /// does nothing.
    pub async fn binary(&mut self, bytes: Bytes) {
        if !matches!(self.writer, Writer::Mirror(_)) {
            self.input(bytes).await;
        }
    }

    /// Shows a command in a mirror before the first one runs; later, and in other
    /// views, nothing happens.
    pub fn announce(&self, command: String) {
        if let Writer::Mirror(mirror) = &self.writer
            && command.len() <= ANNOUNCED_BYTES_MAX
        {
            mirror.announce(command);
        }
    }

    /// What a property is now.
    pub fn refresh(&self, name: &str) -> Shown {
        match self.facts.property(name) {
            Some((name, value)) => Shown::Property { name, value },
            None => Shown::Unsupported {
                name: name.to_owned(),
            },
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
        let clipboard = spec.clipboard;
        let view = |reader: Reader, writer: Writer, kind: ViewKind| {
            let facts = Arc::new(Facts::new(self, caller, &session, kind));
            let is_guarded = clipboard == Clipboard::Guarded && kind != ViewKind::Terminal;
            let reader = ViewReader {
                reader,
                facts: facts.clone(),
                guard: is_guarded.then(|| Strip::new(Stripped::ClipboardAndQueries)),
                _presence: self.arrive(caller, &session.id),
            };
            (reader, ViewWriter { writer, facts })
        };
        if session.mode == Mode::Pty {
            let only_shows = spec.access == Access::ReadOnly || spec.kind == Some(ViewKind::Mirror);
            let (reader, writer) = terminal::open(self, caller, &session, spec).await?;
            let kind = if only_shows {
                ViewKind::Mirror
            } else {
                ViewKind::Terminal
            };
            return Ok(view(
                Reader::Terminal(reader),
                Writer::Terminal(writer),
                kind,
            ));
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
            let writer = Writer::Console(writer);
            return Ok(view(Reader::Console(reader), writer, ViewKind::Console));
        }
        let (reader, writer) = mirror::open(self, caller, &session, spec.from).await?;
        let writer = Writer::Mirror(writer);
        Ok(view(Reader::Mirror(reader), writer, ViewKind::Mirror))
    }
}
