//! A session's events as bytes for a terminal that only shows.
//!
//! The mirror speaks OSC 633 and adds nothing else: a prompt is `A`, `$ `, `B`;
//! a command is `E`, its text, CRLF, `C`; then comes its output with CRLF for
//! every LF; then `D`. What a command prints cannot take part in that
//! conversation: its own markers and its questions to the terminal are left
//! out ([`Strip`](crate::strip::Strip)).

#[cfg(test)]
mod tests;

use crate::escape::escape_633;
use crate::strip::{Strip, Stripped};

/// Fewest lines of scrollback that are replayed.
pub const SCROLLBACK_LINES_MIN: u32 = 100;
/// Most lines of scrollback that are replayed.
pub const SCROLLBACK_LINES_MAX: u32 = 10_000;
/// Bytes that one line of scrollback counts for.
pub const SCROLLBACK_LINE_BYTES: u64 = 200;
/// Columns of a mirror that nobody has resized.
pub const COLUMNS_DEFAULT: u16 = 80;
/// Rows of a mirror that nobody has resized.
pub const ROWS_DEFAULT: u16 = 30;

/// Bytes of output that are replayed for so many lines of scrollback.
pub fn replay_bytes_max(scrollback_lines: u32) -> u64 {
    let lines = scrollback_lines.clamp(SCROLLBACK_LINES_MIN, SCROLLBACK_LINES_MAX);
    u64::from(lines) * SCROLLBACK_LINE_BYTES
}

/// What happens in a session, as far as a mirror shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorEvent<'a> {
    /// A command began.
    CommandStart {
        /// Its text.
        command: &'a str,
    },
    /// A command wrote something.
    Output {
        /// What.
        bytes: &'a [u8],
    },
    /// A command ended.
    Exit {
        /// Its exit code, where it is known.
        code: Option<i32>,
    },
    /// The session's directory changed.
    Cwd {
        /// To this.
        path: &'a str,
    },
}

/// Where the conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No prompt yet.
    Opened,
    /// After a prompt.
    Prompt,
    /// After `C`.
    Running,
}

/// One mirror.
#[derive(Debug)]
pub struct Mirror {
    state: State,
    strip: Strip,
    /// The last byte of output was a carriage return.
    after_cr: bool,
    /// Bytes of output still to drop, from the beginning of a replay.
    dropping: u64,
}

impl Mirror {
    /// A mirror, and the bytes that open it in the directory `cwd`. Then come
    /// the events so far, if there are any, and [`Mirror::settle`].
    pub fn open(cwd: &str, out: &mut Vec<u8>) -> Mirror {
        property(b"Cwd", cwd.as_bytes(), out);
        property(b"HasRichCommandDetection", b"True", out);
        Mirror {
            state: State::Opened,
            strip: Strip::new(Stripped::MarkersAndQueries),
            after_cr: false,
            dropping: 0,
        }
    }

    /// Before a replay of so many bytes of output of which `bytes_max` may be
    /// shown: drops the rest from the beginning, and says so.
    pub fn limit_replay(&mut self, output_bytes: u64, bytes_max: u64, out: &mut Vec<u8>) {
        self.dropping = output_bytes.saturating_sub(bytes_max);
        if self.dropping > 0 {
            let kilobytes = self.dropping.saturating_add(512) / 1024;
            let notice =
                format!("[Terminal output truncated: ~{kilobytes}KB dropped from beginning]\r\n");
            out.extend_from_slice(notice.as_bytes());
        }
    }

    /// Whether a replay drops the next so many bytes of output altogether; if
    /// so they count as shown, and nobody needs to read them.
    pub fn drops_whole(&mut self, bytes: u64) -> bool {
        let drops = bytes <= self.dropping;
        if drops {
            self.dropping -= bytes;
        }
        drops
    }

    /// Whether a replay drops the output that comes next, or a part of it.
    pub fn is_dropping(&self) -> bool {
        self.dropping > 0
    }

    /// Ends a replay, or its absence: a mirror that has nothing to show shows a
    /// prompt. Says whether it had nothing.
    pub fn settle(&mut self, out: &mut Vec<u8>) -> bool {
        self.end_replay();
        let had_nothing = self.state == State::Opened;
        if had_nothing {
            self.prompt(out);
        }
        had_nothing
    }

    /// The bytes that show a command at the prompt before it runs.
    pub fn announcement(command: &str, out: &mut Vec<u8>) {
        command_line(command, out);
        show_command(command, out);
    }

    /// A command begins for which something was announced. Where that was this
    /// command, the rest of it follows; else it has a prompt of its own.
    pub fn show_announced(&mut self, announced: &str, command: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n");
        if announced == command {
            self.run(out);
        } else {
            self.prompt(out);
            self.command(command, out);
        }
    }

    /// Shows an event.
    pub fn show(&mut self, event: MirrorEvent<'_>, out: &mut Vec<u8>) {
        match event {
            MirrorEvent::CommandStart { command } => self.command(command, out),
            MirrorEvent::Output { bytes } => self.output(bytes, out),
            MirrorEvent::Exit { code } => self.exit(code, out),
            MirrorEvent::Cwd { path } => property(b"Cwd", path.as_bytes(), out),
        }
    }

    fn prompt(&mut self, out: &mut Vec<u8>) {
        marker(b"A", out);
        out.extend_from_slice(b"$ ");
        marker(b"B", out);
        self.state = State::Prompt;
    }

    fn command(&mut self, command: &str, out: &mut Vec<u8>) {
        match self.state {
            State::Opened => self.prompt(out),
            // An end that nobody told us of.
            State::Running => self.exit(None, out),
            State::Prompt => {}
        }
        Mirror::announcement(command, out);
        out.extend_from_slice(b"\r\n");
        self.run(out);
    }

    /// Output begins.
    fn run(&mut self, out: &mut Vec<u8>) {
        marker(b"C", out);
        self.state = State::Running;
        self.begin_output();
    }

    /// Nothing of a replay is dropped any more.
    pub(crate) fn end_replay(&mut self) {
        self.dropping = 0;
    }

    /// What follows is the output of another command.
    pub(crate) fn begin_output(&mut self) {
        self.after_cr = false;
        self.strip = Strip::new(Stripped::MarkersAndQueries);
    }

    fn output(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let bytes = self.undropped(bytes);
        let after_cr = &mut self.after_cr;
        self.strip.push(bytes, |kept| {
            let mut rest = kept;
            while let Some(at) = memchr::memchr(b'\n', rest) {
                let before = &rest[..at];
                out.extend_from_slice(before);
                let has_cr = before.last().map_or(*after_cr, |byte| *byte == b'\r');
                out.extend_from_slice(if has_cr { b"\n" } else { b"\r\n" });
                *after_cr = false;
                rest = &rest[at + 1..];
            }
            if let Some(last) = rest.last() {
                out.extend_from_slice(rest);
                *after_cr = *last == b'\r';
            }
        });
    }

    /// What is left of `bytes` after those that a replay drops. It begins with
    /// a whole character.
    fn undropped<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.dropping == 0 {
            return bytes;
        }
        let dropped = usize::try_from(self.dropping).unwrap_or(usize::MAX);
        let dropped = dropped.min(bytes.len());
        self.dropping -= dropped as u64;
        let rest = &bytes[dropped..];
        let is_continuation = |byte: &&u8| matches!(**byte, 0x80..=0xbf);
        let torn = rest.iter().take(3).take_while(is_continuation).count();
        &rest[torn..]
    }

    fn exit(&mut self, code: Option<i32>, out: &mut Vec<u8>) {
        if self.state == State::Opened {
            self.prompt(out);
            return;
        }
        match code {
            Some(code) => marker(format!("D;{code}").as_bytes(), out),
            None => marker(b"D", out),
        }
        self.prompt(out);
    }
}

/// Says which command follows.
pub(crate) fn command_line(command: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b]633;E;");
    escape_633(command.as_bytes(), out);
    out.push(0x07);
}

pub(crate) fn marker(body: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b]633;");
    out.extend_from_slice(body);
    out.push(0x07);
}

pub(crate) fn property(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b]633;P;");
    out.extend_from_slice(name);
    out.push(b'=');
    escape_633(value, out);
    out.push(0x07);
}

/// The text of a command. Whatever controls it has are shown, not executed.
pub(crate) fn show_command(command: &str, out: &mut Vec<u8>) {
    for byte in command.bytes() {
        match byte {
            b'\n' => out.extend_from_slice(b"\r\n"),
            b'\t' => out.push(byte),
            0x00..=0x1f => out.extend_from_slice(&[b'^', byte + 0x40]),
            0x7f => out.extend_from_slice(b"^?"),
            _ => out.push(byte),
        }
    }
}
