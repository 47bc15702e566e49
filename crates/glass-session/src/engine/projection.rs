//! A session's events on their way to one reader, without secrets.
//!
//! What a reader has been shown does not depend on how the output was cut into
//! events: each stream of each execution has a redactor, and what that holds
//! back comes with a later event, or before the execution's end. A reader that
//! begins in the middle gets what one that was there all along gets from then
//! on.

use super::excerpt::LOOK_BYTES;
use super::{Engine, OutputFile};
use crate::errors::LookupError;
use crate::redaction::Veil;
use glass_model::{Event, EventBody, SessionId, ShellId, Stream};
use glass_redact::Redactor;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Streams that are followed at a time; the oldest execution's are forgotten
/// first, and looked up when they go on.
const LENSES_MAX: usize = 64;

/// Shows events to one reader.
pub struct Projection {
    engine: Engine,
    session: SessionId,
    lenses: BTreeMap<(ShellId, Stream), Lens>,
    /// Executions of which everything was shown from the beginning.
    begun: BTreeSet<ShellId>,
}

/// One stream of one execution.
struct Lens {
    veil: Veil,
    redactor: Option<Redactor>,
    /// Where the stream goes on.
    at: u64,
    /// Whether nothing of it was missing from its first byte on.
    is_whole: bool,
    lines: u64,
    last: u8,
}

/// Bytes that were held back, and whose they are.
pub struct Late {
    /// The execution.
    pub shell_id: ShellId,
    /// Which of its two outputs.
    pub stream: Stream,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Engine {
    /// What one reader of a session's events is shown.
    pub fn projection(&self, session: &SessionId) -> Projection {
        Projection {
            engine: self.clone(),
            session: session.clone(),
            lenses: BTreeMap::new(),
            begun: BTreeSet::new(),
        }
    }
}

impl Projection {
    /// An event as it may be shown, with what its stream shows by now.
    pub fn show<'a>(&mut self, event: &'a Event) -> Result<(Cow<'a, Event>, Vec<u8>), LookupError> {
        let body = match &event.body {
            // It may quote what a start file printed.
            EventBody::Status { status, detail } => Some(EventBody::Status {
                status: status.clone(),
                detail: self.engine.session_veil(&self.session)?.text(detail),
            }),
            EventBody::Exit { command, outcome } => {
                let veil = match (event.shell_id, &outcome.receipt) {
                    // What it left behind may have been started with its own variables.
                    (Some(id), Some(receipt)) if !receipt.left.is_empty() => {
                        self.engine.veil(id)?
                    }
                    _ => self.engine.session_veil(&self.session)?,
                };
                match veil.outcome(outcome) {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(outcome) => Some(EventBody::Exit {
                        command: command.clone(),
                        outcome,
                    }),
                }
            }
            _ => None,
        };
        if let Some(body) = body {
            let event = Event {
                body,
                ..event.clone()
            };
            return Ok((Cow::Owned(event), Vec::new()));
        }
        let (event, bytes) = self.engine.with_bytes(event)?;
        let shown = match (event.shell_id, &event.body) {
            (Some(id), EventBody::Output { stream, offset, .. }) => {
                let lens = self.lens(id, *stream, *offset)?;
                lens.show(bytes)
            }
            (Some(id), EventBody::CommandStart { .. }) => {
                self.begun.insert(id);
                bytes
            }
            _ => bytes,
        };
        Ok((event, shown))
    }

    /// What is left of an execution's streams, which is shown before its end.
    pub fn rest(&mut self, id: ShellId) -> Result<Vec<Late>, LookupError> {
        if !self.begun.remove(&id) {
            // What came before this reader did may be held back still.
            let recorded = self.engine.0.context.store.recorded(id)?;
            let ends = [
                (Stream::Stdout, recorded.stdout),
                (Stream::Stderr, recorded.stderr),
            ];
            for (stream, end) in ends {
                if end > 0 && !self.lenses.contains_key(&(id, stream)) {
                    self.lens(id, stream, end)?;
                }
            }
        }
        Ok(self.late(|key| key.0 == id, Redactor::finish))
    }

    /// Whether [`Projection::pause`] could show something.
    pub fn holds(&self) -> bool {
        let mut redactors = self
            .lenses
            .values()
            .filter_map(|lens| lens.redactor.as_ref());
        redactors.any(|redactor| redactor.held_bytes() > 0)
    }

    /// Nothing came for a while: what is held back only because a secret could
    /// begin so is shown.
    pub fn pause(&mut self) -> Vec<Late> {
        self.late(|_| true, Redactor::pause)
    }

    /// Nothing more will come: what is left of every stream.
    pub fn end(&mut self) -> Vec<Late> {
        self.late(|_| true, Redactor::finish)
    }

    /// The file with the whole of what was shown, where that is the recorded
    /// one: a single stream from its beginning, without a secret.
    pub fn recorded_file(&self, id: ShellId) -> Option<OutputFile> {
        let mut lenses = self.lenses.iter().filter(|(key, _)| key.0 == id);
        let ((_, stream), lens) = lenses.next()?;
        let is_plain = lens
            .redactor
            .as_ref()
            .is_none_or(|redactor| redactor.secrets() == 0);
        if lenses.next().is_some() || !lens.is_whole || !is_plain {
            return None;
        }
        Some(OutputFile {
            path: self.engine.0.context.store.output_path(id, *stream),
            bytes: lens.at,
            lines: lens.lines + u64::from(lens.last != b'\n'),
        })
    }

    fn late(
        &mut self,
        chosen: impl Fn(&(ShellId, Stream)) -> bool,
        release: impl Fn(&mut Redactor, &mut Vec<u8>),
    ) -> Vec<Late> {
        let mut late = Vec::new();
        for ((shell_id, stream), lens) in &mut self.lenses {
            let Some(redactor) = &mut lens.redactor else {
                continue;
            };
            if !chosen(&(*shell_id, *stream)) {
                continue;
            }
            let mut bytes = Vec::new();
            release(redactor, &mut bytes);
            lens.count(&bytes);
            if !bytes.is_empty() {
                late.push(Late {
                    shell_id: *shell_id,
                    stream: *stream,
                    bytes,
                });
            }
        }
        late
    }

    /// The lens of a stream that goes on here.
    fn lens(&mut self, id: ShellId, stream: Stream, at: u64) -> Result<&mut Lens, LookupError> {
        let key = (id, stream);
        let known = self.lenses.get(&key);
        if known.is_none_or(|lens| lens.at != at) {
            let other = self
                .lenses
                .range((id, Stream::Stdout)..=(id, Stream::Stderr))
                .next();
            let veil = match known.or(other.map(|(_, lens)| lens)) {
                Some(lens) => lens.veil.clone(),
                None => self.engine.veil(id)?,
            };
            let lens = self.engine.open_lens(veil, id, stream, at)?;
            self.lenses.insert(key, lens);
            if self.lenses.len() > LENSES_MAX {
                self.lenses.pop_first();
            }
        }
        self.lenses
            .get_mut(&key)
            .ok_or(LookupError::UnknownExecution(id))
    }
}

impl Engine {
    /// A lens that knows what came before.
    fn open_lens(
        &self,
        veil: Veil,
        id: ShellId,
        stream: Stream,
        at: u64,
    ) -> Result<Lens, LookupError> {
        let mut redactor = veil.0.clone().map(Redactor::new);
        let start = at.saturating_sub(LOOK_BYTES);
        if let Some(redactor) = redactor.as_mut().filter(|_| start < at) {
            let before = self.piece(id, stream, start, at - start)?;
            redactor.push(&before, &mut Vec::new());
        }
        Ok(Lens {
            veil,
            redactor,
            at,
            is_whole: at == 0,
            lines: 0,
            last: b'\n',
        })
    }
}

impl Lens {
    fn show(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        self.at += bytes.len() as u64;
        let shown = match &mut self.redactor {
            Some(redactor) => {
                let mut shown = Vec::with_capacity(bytes.len() + 64);
                redactor.push(&bytes, &mut shown);
                shown
            }
            None => bytes,
        };
        self.count(&shown);
        shown
    }

    fn count(&mut self, shown: &[u8]) {
        self.lines += shown.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.last = *shown.last().unwrap_or(&self.last);
    }
}
