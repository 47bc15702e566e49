//! The typed view of a session whose commands run without a terminal.
//!
//! A [`Console`] shows what a mirror shows, and a line under it that is edited in
//! place. It takes what happens in the session and what is typed, in pieces of any
//! size, and says what is to be done ([`Act`]). It decides nothing about commands:
//! a line that is entered is run by whoever has the console, or is not.
//!
//! Invariant: the line that is shown is the line that runs. Characters that nobody
//! would see are shown by name.

mod editor;
mod keys;
mod layout;
mod paint;
mod prompt;
#[cfg(test)]
mod tests;
mod width;
mod wish;

use crate::mirror::{self, Mirror, MirrorEvent};
use crate::screen::ScreenSize;
use editor::{Edited, Editor};
use layout::Layout;
use paint::{ends_midway, up};
use std::collections::VecDeque;
use width::{cell_width, visible};

pub use editor::{HISTORY_BYTES_MAX, HISTORY_LINES_MAX, LINE_BYTES_MAX};
pub use keys::{Key, KeyDecoder};
pub use prompt::{TEMPLATE_BYTES_MAX, TEMPLATE_DEFAULT, expand};
pub use wish::Wish;

/// Keys that wait for a prompt. Those beyond are refused with a bell.
pub const WAITING_KEYS_MAX: usize = 64 * 1024;

/// Lets the terminal say where a paste begins and ends, which keeps a paste of
/// several lines from running line by line.
const PASTES_ON: &[u8] = b"\x1b[?2004h";
const PASTES_OFF: &[u8] = b"\x1b[?2004l";

const BELL: u8 = 0x07;
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// How a console looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manner {
    /// What stands before the line, see [`expand`]; none where nothing does.
    pub template: Option<String>,
    /// Whether a command that runs is shown in dim.
    pub dims_commands: bool,
    /// Whether a code other than 0 is shown.
    pub shows_exit: bool,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner {
            template: Some(TEMPLATE_DEFAULT.to_owned()),
            dims_commands: true,
            shows_exit: true,
        }
    }
}

/// Whose command something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The one that was entered here last.
    Ours,
    /// Another.
    Others,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Run this line. Until its end is shown, or [`Console::refuse`] is told,
    /// no other follows.
    Run(String),
    /// Cancel what runs.
    Interrupt,
    /// Give this to what runs.
    Feed(String),
    /// Tell what runs that nothing more comes.
    EndFeed,
    /// The person leaves.
    Leave,
}

/// Where a console stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first prompt.
    Opened,
    /// A line is edited.
    Prompt,
    /// A line was entered and has not begun; whether it is the last thing shown.
    Entered { is_last: bool },
    /// A command runs; whether one that was entered here waits behind it.
    Running { waits: bool },
}

/// The typed view of a session.
#[derive(Debug)]
pub struct Console {
    manner: Manner,
    mirror: Mirror,
    state: State,
    cwd: String,
    size: ScreenSize,
    editor: Editor,
    decoder: KeyDecoder,
    waiting: VecDeque<Key>,
    /// Whether what runs reads what is typed.
    feeds: bool,
    /// The line that is typed for it.
    fed: String,
    /// The row of the window in which the terminal's cursor is.
    row: usize,
    /// The first row that is shown, of a line that is higher than the terminal.
    top: usize,
    /// Whether output has left the cursor somewhere in a row.
    is_midway: bool,
}

impl Console {
    /// A console, and the bytes that open it in the directory `cwd`. Then come the
    /// events so far, if there are any, and [`Console::settle`].
    pub fn open(manner: Manner, cwd: &str, size: ScreenSize, out: &mut Vec<u8>) -> Console {
        Console {
            mirror: Mirror::open(cwd, out),
            manner,
            state: State::Opened,
            cwd: cwd.to_owned(),
            size: size.clamped(),
            editor: Editor::default(),
            decoder: KeyDecoder::default(),
            waiting: VecDeque::new(),
            feeds: false,
            fed: String::new(),
            row: 0,
            top: 0,
            is_midway: false,
        }
    }

    /// As [`Mirror::limit_replay`].
    pub fn limit_replay(&mut self, output_bytes: u64, bytes_max: u64, out: &mut Vec<u8>) {
        self.mirror.limit_replay(output_bytes, bytes_max, out);
    }

    /// As [`Mirror::drops_whole`].
    pub fn drops_whole(&mut self, bytes: u64) -> bool {
        self.mirror.drops_whole(bytes)
    }

    /// Ends a replay, or its absence.
    pub fn settle(&mut self, out: &mut Vec<u8>) {
        self.mirror.end_replay();
        if self.state == State::Opened {
            self.prompt(out);
        }
    }

    /// Whether a line is edited now.
    pub fn is_at_prompt(&self) -> bool {
        self.state == State::Prompt
    }

    /// Whether what runs reads what is typed.
    pub fn feed(&mut self, feeds: bool) {
        self.feeds = feeds;
    }

    /// The line that is being written.
    pub fn line(&self) -> &str {
        self.editor.text()
    }

    /// The terminal has another size. It wraps anew what it shows.
    pub fn resize(&mut self, size: ScreenSize, out: &mut Vec<u8>) {
        self.size = size.clamped();
        if self.state == State::Prompt {
            self.row = self.layout("").cursor().row.min(self.rows() - 1);
            self.top = 0;
            self.paint(out);
        }
    }

    /// Shows an event.
    pub fn show(&mut self, event: MirrorEvent<'_>, whose: Whose, out: &mut Vec<u8>) {
        match event {
            MirrorEvent::CommandStart { command } => self.begin(command, whose, out),
            MirrorEvent::Output { bytes } => self.output(bytes, out),
            MirrorEvent::Exit { code } => self.end(code, whose, out),
            MirrorEvent::Cwd { path } => self.moved(path, out),
        }
    }

    /// Shows a line of our own, while no line is edited.
    pub fn remark(&mut self, text: &str, out: &mut Vec<u8>) {
        if self.state != State::Prompt {
            self.leave_row(out);
            let text = visible(text);
            out.extend_from_slice(format!("{DIM}[{text}]{PLAIN}\r\n").as_bytes());
        }
    }

    /// The line that was entered does not run, for this reason.
    pub fn refuse(&mut self, why: &str, out: &mut Vec<u8>) {
        self.remark(why, out);
        match self.state {
            State::Entered { .. } => self.prompt(out),
            State::Running { .. } => self.state = State::Running { waits: false },
            State::Opened | State::Prompt => {}
        }
    }

    /// Forgets what was typed and not entered: some of it was lost.
    pub fn forget_typed(&mut self, out: &mut Vec<u8>) {
        self.decoder = KeyDecoder::default();
        self.waiting.clear();
        self.fed.clear();
        drop(self.editor.take());
        if self.state == State::Prompt {
            self.paint(out);
        }
    }

    /// Takes what was typed. [`Console::step`] then says what it means.
    pub fn type_in(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let waiting = &mut self.waiting;
        let mut is_full = false;
        self.decoder.push(bytes, |key| match key {
            // Somebody must always be able to stop, and once is enough.
            Key::Interrupt if waiting.back() == Some(&Key::Interrupt) => {}
            Key::Interrupt => waiting.push_back(key),
            _ if waiting.len() >= WAITING_KEYS_MAX => is_full = true,
            _ => waiting.push_back(key),
        });
        if is_full {
            out.push(BELL);
        }
    }

    /// The next thing that is to be done; none while more has to be typed, or to
    /// happen.
    pub fn step(&mut self, out: &mut Vec<u8>) -> Option<Act> {
        if self.state != State::Prompt {
            return self.step_running(out);
        }
        let mut changed = false;
        let act = loop {
            let Some(key) = self.waiting.pop_front() else {
                break None;
            };
            match key {
                Key::Enter | Key::Interrupt | Key::EndOfInput | Key::Clear => {
                    if std::mem::take(&mut changed) {
                        self.paint(out);
                    }
                    if let Some(act) = self.press(key, out) {
                        break Some(act);
                    }
                }
                _ => match self.editor.press(key) {
                    Edited::Changed => changed = true,
                    Edited::Refused => out.push(BELL),
                },
            }
        };
        if changed {
            self.paint(out);
        }
        act
    }

    /// A key that is not the line's.
    fn press(&mut self, key: Key, out: &mut Vec<u8>) -> Option<Act> {
        match key {
            Key::Enter => return self.enter(out),
            Key::Interrupt => {
                self.waiting.clear();
                self.finish_line("", "^C", out);
                drop(self.editor.take());
                self.prompt(out);
            }
            Key::EndOfInput if self.editor.text().is_empty() => {
                out.extend_from_slice(b"\r\n");
                return Some(Act::Leave);
            }
            Key::EndOfInput => match self.editor.press(Key::Delete) {
                Edited::Changed => self.paint(out),
                Edited::Refused => out.push(BELL),
            },
            _ => self.clear(out),
        }
        None
    }

    fn enter(&mut self, out: &mut Vec<u8>) -> Option<Act> {
        let dim = if self.manner.dims_commands { DIM } else { "" };
        self.finish_line(dim, "", out);
        let line = self.editor.take();
        match line.trim() {
            "" => self.prompt(out),
            "clear" | "cls" => self.clear(out),
            "exit" | "logout" => return Some(Act::Leave),
            _ => {
                self.editor.remember(&line);
                out.extend_from_slice(PASTES_OFF);
                self.state = State::Entered { is_last: true };
                return Some(Act::Run(line));
            }
        }
        None
    }

    /// Clears the terminal and begins with a prompt at its top.
    fn clear(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\x1b[2J\x1b[H");
        self.prompt(out);
    }

    /// What is typed while a command runs, or waits.
    fn step_running(&mut self, out: &mut Vec<u8>) -> Option<Act> {
        if self.state == State::Opened {
            return None;
        }
        let interrupt = self.waiting.iter().rposition(|key| *key == Key::Interrupt);
        if let Some(at) = interrupt {
            self.waiting.drain(..=at);
            self.fed.clear();
            return Some(Act::Interrupt);
        }
        if !self.feeds || !matches!(self.state, State::Running { .. }) {
            return None;
        }
        while let Some(key) = self.waiting.pop_front() {
            match key {
                Key::Enter | Key::Char('\n') => {
                    out.extend_from_slice(b"\r\n");
                    self.fed.push('\n');
                    return Some(Act::Feed(std::mem::take(&mut self.fed)));
                }
                Key::EndOfInput if self.fed.is_empty() => return Some(Act::EndFeed),
                Key::EndOfInput => return Some(Act::Feed(std::mem::take(&mut self.fed))),
                Key::Char(c) if self.fed.len() < LINE_BYTES_MAX => {
                    self.fed.push(c);
                    out.extend_from_slice(visible(c.encode_utf8(&mut [0; 4])).as_bytes());
                }
                Key::Backspace => self.take_back(out),
                _ => out.push(BELL),
            }
        }
        None
    }

    fn take_back(&mut self, out: &mut Vec<u8>) {
        let Some(c) = self.fed.pop() else {
            return out.push(BELL);
        };
        let named = width::name(c).map(|name| name.len());
        for _ in 0..named.unwrap_or_else(|| cell_width(c)) {
            out.extend_from_slice(b"\x08 \x08");
        }
    }

    fn begin(&mut self, command: &str, whose: Whose, out: &mut Vec<u8>) {
        if whose == Whose::Others {
            self.editor.remember(command);
        }
        let waits = match (self.state, whose) {
            (State::Entered { .. } | State::Running { waits: true }, Whose::Others) => true,
            (_, _) => false,
        };
        let is_shown = whose == Whose::Ours && self.state == State::Entered { is_last: true };
        if !is_shown {
            self.make_room(out);
        }
        mirror::command_line(command, out);
        if !is_shown {
            let dim = if self.manner.dims_commands { DIM } else { "" };
            out.extend_from_slice(dim.as_bytes());
            mirror::show_command(command, out);
            out.extend_from_slice(PLAIN.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        mirror::marker(b"C", out);
        self.mirror.begin_output();
        self.is_midway = false;
        self.fed.clear();
        self.state = State::Running { waits };
    }

    /// Leaves an empty prompt as the last thing that is shown.
    fn make_room(&mut self, out: &mut Vec<u8>) {
        match self.state {
            State::Prompt => {
                let empty = Layout::of(&self.prompt_text(), ("", ""), "", 0, self.columns());
                self.paint_layout(&empty, out);
                out.extend_from_slice(PASTES_OFF);
                return;
            }
            // An end that nobody told us of.
            State::Running { .. } => mirror::marker(b"D", out),
            State::Opened | State::Entered { .. } => {}
        }
        self.leave_row(out);
        self.fresh_prompt(out);
    }

    fn output(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let is_late = self.state == State::Prompt;
        if is_late {
            // Something in the background writes: the line makes way for it.
            up(self.row, out);
            out.extend_from_slice(b"\r\x1b[J");
        }
        let from = out.len();
        self.mirror.show(MirrorEvent::Output { bytes }, out);
        self.is_midway = ends_midway(&out[from..], self.is_midway);
        if is_late {
            self.prompt(out);
        }
    }

    fn end(&mut self, code: Option<i32>, whose: Whose, out: &mut Vec<u8>) {
        let waits = match self.state {
            State::Opened => return self.prompt(out),
            // Something that never began, and is not ours: nobody saw it.
            State::Prompt => return,
            State::Entered { .. } if whose == Whose::Others => return,
            State::Entered { .. } => false,
            State::Running { waits } => waits,
        };
        if waits && whose == Whose::Ours {
            // It never began, and something else runs.
            self.state = State::Running { waits: false };
            return;
        }
        if self.manner.shows_exit
            && let Some(code) = code.filter(|code| *code != 0)
        {
            self.remark(&format!("exit {code}"), out);
        }
        match code {
            Some(code) => mirror::marker(format!("D;{code}").as_bytes(), out),
            None => mirror::marker(b"D", out),
        }
        if waits {
            self.leave_row(out);
            self.state = State::Entered { is_last: false };
        } else {
            self.prompt(out);
        }
    }

    fn moved(&mut self, path: &str, out: &mut Vec<u8>) {
        path.clone_into(&mut self.cwd);
        mirror::property(b"Cwd", path.as_bytes(), out);
        if self.state == State::Prompt {
            self.paint(out);
        }
    }
}
