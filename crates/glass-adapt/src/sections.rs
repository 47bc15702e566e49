//! Turns the JSON lines of agents' programs into text that people read.
//!
//! Sans-IO and bounded: what comes in pieces gives the same text as what comes
//! at once, and no more than one line is held. A line that is no known event
//! passes as it is, at once where it does not begin like one.

mod claude;
mod codex;
mod page;

use page::Page;
use serde_json::Value;

/// Longest line that can be an event, in bytes. A longer one passes as it is.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Most characters that are shown of what a tool was given or gave. What the
/// assistant itself says is shown whole.
pub const TEXT_CHARS_MAX: usize = 4096;

/// Whose events they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// `codex exec --json`.
    Codex,
    /// `claude -p --output-format stream-json`.
    Claude,
}

/// What a line looks like so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Nothing of it has come.
    Begins,
    /// It may be an event and is held.
    Held,
    /// It is none and passes.
    Passes,
}

/// Events in, sections out.
#[derive(Clone, Debug)]
pub struct Sections {
    tool: Option<Tool>,
    look: Look,
    /// The line that is held; at most `LINE_BYTES_MAX`.
    held: Vec<u8>,
}

impl Sections {
    /// For the events of this tool, or of any that is known.
    pub fn new(tool: Option<Tool>) -> Sections {
        Sections {
            tool,
            look: Look::Begins,
            held: Vec::new(),
        }
    }

    /// Takes a piece and appends what can be shown by now.
    pub fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) {
        while let Some(first) = piece.first() {
            if self.look == Look::Begins {
                self.look = match first {
                    b'{' => Look::Held,
                    _ => Look::Passes,
                };
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let (part, rest) = piece.split_at(end.map_or(piece.len(), |end| end + 1));
            piece = rest;
            self.take(part, out);
            if end.is_some() {
                self.end_line(out);
            }
        }
    }

    /// Ends the last line, which may have no end of its own.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.end_line(out);
    }

    /// Bytes that are held back until their line ends.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    fn take(&mut self, part: &[u8], out: &mut Vec<u8>) {
        if self.look == Look::Held && self.held.len() + part.len() > LINE_BYTES_MAX {
            out.append(&mut self.held);
            self.look = Look::Passes;
        }
        match self.look {
            Look::Held => self.held.extend_from_slice(part),
            Look::Begins | Look::Passes => out.extend_from_slice(part),
        }
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        if self.look == Look::Held {
            match self.sections() {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => out.extend_from_slice(&self.held),
            }
            self.held.clear();
        }
        self.look = Look::Begins;
    }

    /// What the held line says, if it is an event.
    fn sections(&self) -> Option<String> {
        let event: Value = serde_json::from_slice(self.held.trim_ascii_end()).ok()?;
        let of = |tool: Tool| {
            let mut page = Page::default();
            let known = match tool {
                Tool::Codex => codex::show(&event, &mut page),
                Tool::Claude => claude::show(&event, &mut page),
            };
            known.map(|()| page.into_text())
        };
        match self.tool {
            Some(tool) => of(tool),
            None => of(Tool::Codex).or_else(|| of(Tool::Claude)),
        }
    }
}
