//! A session as an asciicast (version 2): what a terminal shows of it, when, and
//! where its commands begin.
//!
//! It is read as everything is read: in order, by cursor, without secrets. It
//! ends where the history ended when it was asked for.

mod cast;

use cast::Cast;
use glass_model::{Event, EventBody, EventIndex, Mode, ShellId};
use glass_session::{Caller, Engine, LookupError, Reader, Told};
use glass_vt::mirror::{Mirror, MirrorEvent};
use glass_vt::strip::{Strip, Stripped};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Bytes that are handed over in one go.
const CHUNK_BYTES: usize = 64 * 1024;

/// Pieces that wait for a slow reader.
const CHUNKS_MAX: usize = 1;

/// How long a reader may take no piece: somebody may read it in a pager.
const READ_DEADLINE: Duration = Duration::from_secs(600);

/// What comes of a recording, until nothing does: then that was all.
pub(crate) type Chunks = mpsc::Receiver<Result<Vec<u8>, LookupError>>;

type Sender = mpsc::Sender<Result<Vec<u8>, LookupError>>;

/// Opens the recording of a session.
pub(crate) fn open(engine: &Engine, caller: &Caller, id: &str) -> Result<Chunks, LookupError> {
    let session = engine.session(caller, id)?.session;
    let (first, end) = engine.bounds(&session.id)?;
    let follower = engine.follow(caller, id, first)?;
    let mut cast = Cast::new(session.cols, session.rows, session.created_ms);
    let title = match session.name.as_str() {
        "" => session.id.to_string(),
        name => name.to_owned(),
    };
    cast.header(&title);
    let stage = match session.mode {
        Mode::Pty => Stage::Terminal {
            strip: Strip::new(Stripped::EffectsAndQueries),
            own: None,
        },
        Mode::Line | Mode::Pipe => {
            let mut opening = Vec::new();
            let mirror = Mirror::open(&session.cwd, &mut opening);
            Stage::Mirror(Box::new(Mirrored {
                mirror,
                strip: Strip::new(Stripped::EffectsAndQueries),
            }))
        }
    };
    let recording = Recording {
        reader: Reader::new(engine, follower, None),
        end,
        stage,
        cast,
        at_ms: session.created_ms,
    };
    // There is always room for the error, so that no end is taken for the end.
    let (sender, chunks) = mpsc::channel(CHUNKS_MAX + 1);
    let room = sender.clone().try_reserve_owned();
    let room = room.map_err(|_| LookupError::Stopping)?;
    tokio::spawn(async move {
        if let Err(error) = recording.run(sender).await {
            room.send(Err(error));
        }
    });
    Ok(chunks)
}

/// What the terminal is made of.
enum Stage {
    /// The commands of a session, as its mirror shows them.
    Mirror(Box<Mirrored>),
    /// A terminal's own bytes: those of its first execution.
    Terminal { strip: Strip, own: Option<ShellId> },
}

/// A mirror, without what would have an effect beyond the screen.
struct Mirrored {
    mirror: Mirror,
    strip: Strip,
}

struct Recording {
    reader: Reader,
    end: EventIndex,
    stage: Stage,
    cast: Cast,
    /// When the last event happened.
    at_ms: i64,
}

impl Recording {
    /// Hands over piece by piece, until that was all or nobody reads.
    async fn run(mut self, sender: Sender) -> Result<(), LookupError> {
        loop {
            let is_over = self.reader.is_past(self.end);
            if self.cast.bytes() >= CHUNK_BYTES || is_over {
                let chunk = self.cast.take();
                if !chunk.is_empty() {
                    match timeout(READ_DEADLINE, sender.send(Ok(chunk))).await {
                        Ok(Ok(())) => {}
                        Ok(Err(_gone)) => return Ok(()),
                        Err(_) => return Err(LookupError::Stopping),
                    }
                }
            }
            if is_over {
                return Ok(());
            }
            match self.reader.next().await? {
                Some(told) => self.show(told),
                // The session is over, and so is its recording.
                None => self.end = EventIndex(0),
            }
        }
    }

    fn show(&mut self, told: Told) {
        match told {
            Told::Event(event, bytes) => {
                self.at_ms = event.at_ms;
                self.show_event(&event, &bytes);
            }
            Told::Late(late) => self.show_output(late.shell_id, &late.bytes),
        }
    }

    fn show_event(&mut self, event: &Event, bytes: &[u8]) {
        match (&event.body, event.shell_id) {
            (EventBody::CommandStart { command, .. }, Some(id)) => {
                self.cast.mark(self.at_ms, command);
                match &mut self.stage {
                    Stage::Mirror(_) => self.mirror(MirrorEvent::CommandStart { command }),
                    Stage::Terminal { own, .. } => {
                        own.get_or_insert(id);
                    }
                }
            }
            (EventBody::Output { .. }, Some(id)) => self.show_output(id, bytes),
            (EventBody::Dropped { dropped, .. }, Some(id)) => {
                let lost = format!("[{} bytes dropped: {}]\n", dropped.bytes, dropped.reason);
                self.show_output(id, lost.as_bytes());
            }
            (EventBody::Exit { outcome, .. }, _) => {
                let code = outcome.code;
                self.mirror(MirrorEvent::Exit { code });
            }
            _ => {}
        }
    }

    fn show_output(&mut self, id: ShellId, bytes: &[u8]) {
        match &mut self.stage {
            Stage::Mirror(_) => self.mirror(MirrorEvent::Output { bytes }),
            Stage::Terminal { strip, own } if own.is_none_or(|own| own == id) => {
                let mut kept = Vec::with_capacity(bytes.len());
                strip.push(bytes, |piece| kept.extend_from_slice(piece));
                self.cast.output(self.at_ms, &kept);
            }
            Stage::Terminal { .. } => {}
        }
    }

    fn mirror(&mut self, event: MirrorEvent<'_>) {
        if let Stage::Mirror(stage) = &mut self.stage {
            let Mirrored { mirror, strip } = &mut **stage;
            let (mut out, mut kept) = (Vec::new(), Vec::new());
            mirror.show(event, &mut out);
            strip.push(&out, |piece| kept.extend_from_slice(piece));
            self.cast.output(self.at_ms, &kept);
        }
    }
}
