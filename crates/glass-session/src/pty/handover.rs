//! Handing a command to the shell at its prompt.
//!
//! The command is put into a file, and a key that nothing else uses is pressed:
//! the shell's line editor reads the file, puts the line where a person would
//! have typed it, and executes it. Nothing of it is typed, so nothing of it can
//! be cut, echoed twice or taken for keys. Every offer has a number of its own, and
//! whoever makes the file `taken.NUMBER`, the shell or we, has the command: so it
//! runs at most once.

use super::Task;
use super::beliefs::Doing;
use crate::driver::quote;
use crate::gate::Asked;
use crate::habits::SPEECHLESS;
use crate::state::{never_ran, rejected};
use bytes::Bytes;
use glass_model::{Execution, Outcome, ShellId, ShellKind};
use glass_spawn::terminal;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The key that makes the shell look for a command. Terminals have none such.
const KEY: &[u8] = b"\x1b[6714~";

fn key(kind: ShellKind) -> Bytes {
    Bytes::from_static(match kind {
        ShellKind::Nu => super::nu::KEY,
        _ => KEY,
    })
}

/// How long a shell that has read its start files may take to say anything, before
/// its first command runs without it; else it is as configured.
const START_WAIT: Duration = Duration::from_secs(5);

/// How long a shell at its prompt may take to take a command.
const TAKE_WAIT: Duration = Duration::from_secs(15);

/// How long one that took a command may take to begin it.
const BEGIN_WAIT: Duration = Duration::from_secs(10);

/// Between two looks at a shell that is not ready, or two presses of the key.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// How long a shell may take to be back at its prompt behind a key that makes it
/// leave.
const LEAVE_WAIT: Duration = Duration::from_millis(500);
const PRESS_EVERY: Duration = Duration::from_millis(400);

/// Claims that are kept. A shell may still be about to make one that it has
/// made before.
const CLAIMS_KEPT: u32 = 64;

/// A command that the shell may take.
pub(super) struct Offer {
    execution: Execution,
    number: u32,
    taken: bool,
    /// When the key is pressed again.
    press: Instant,
    /// When it has taken too long.
    until: Instant,
}

impl Offer {
    pub(super) fn id(&self) -> ShellId {
        self.execution.shell_id
    }

    pub(super) fn into_execution(self) -> Execution {
        self.execution
    }

    fn due(&self) -> Instant {
        match self.taken {
            true => self.until,
            false => self.until.min(self.press),
        }
    }
}

impl Task {
    /// The directory that the shell and we share.
    pub(super) fn room(&self) -> PathBuf {
        self.dir.join(super::integration::ROOM)
    }

    /// When the queue is to be looked at again.
    pub(super) fn handover_due(&self) -> Option<Instant> {
        match &self.offer {
            Some(offer) => Some(offer.due()),
            None => self.look_at,
        }
    }

    /// Gives the next command to whoever can run it.
    pub(super) fn advance(&mut self) {
        self.look_at = None;
        let busy = self.front.is_some() || self.offer.is_some() || self.plain.is_some();
        if busy || self.ending != super::Ending::No {
            return;
        }
        let Some(waiting) = self
            .queue
            .waiting
            .front()
            .filter(|waiting| !waiting.execution.held)
        else {
            return;
        };
        let now = Instant::now();
        let waited = now.saturating_duration_since(waiting.since);
        let editing = terminal::reads_keys(self.master.get_ref(), self.launched.child.pid);
        if self.sieve.is_none() {
            let silence = super::integration::silence(&self.session, &self.habits);
            return self.fall_back(silence.unwrap_or(SPEECHLESS));
        }
        match (self.beliefs.is_ready(), self.beliefs.doing()) {
            (false, _) => {
                // One that reads keys has read its start files, as a rule.
                let longest = self.habits.integration_wait();
                let is_late = waited >= longest || (editing && waited >= START_WAIT);
                match is_late {
                    true => self.fall_back(super::late::LATE),
                    false => self.look_at = Some(now + LOOK_EVERY),
                }
            }
            (true, Doing::Prompting) if editing && !self.is_leaving(now) => self.offer_next(now),
            (true, Doing::Prompting | Doing::Starting) => self.look_at = Some(now + LOOK_EVERY),
            // The prompt will come.
            (true, Doing::Running) => {}
        }
    }

    /// Counts typed keys with which a shell leaves its prompt.
    pub(super) fn note_leaving(&mut self, keys: &[u8]) {
        let leave = |key: &&u8| matches!(**key, b'\r' | b'\n' | super::orders::CTRL_C);
        let count = keys.iter().filter(leave).count();
        if count > 0 {
            self.leaves = (self.leaves.0.saturating_add(count), Instant::now());
        }
    }

    /// Whether such keys are on their way: whatever follows them meets a terminal
    /// that shows it, and a shell that does not know it for a key.
    fn is_leaving(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.leaves.1) >= LEAVE_WAIT {
            // Not each of them has a prompt of its own.
            self.leaves.0 = 0;
        }
        self.leaves.0 > 0
    }

    fn offer_next(&mut self, now: Instant) {
        let Some(waiting) = self.queue.waiting.pop_front() else {
            return;
        };
        let execution = waiting.execution;
        if let Some(why) = self.is_ignored_now(&execution) {
            return self.finish(execution, super::close::NO_OUTPUT, rejected(why));
        }
        let directory = &execution.requested_cwd;
        if !directory.is_empty() && !Path::new(directory).is_dir() {
            let why = format!("the directory '{directory}' is not there");
            return self.finish(execution, super::close::NO_OUTPUT, never_ran(why));
        }
        self.mend_walls();
        if self.ending != super::Ending::No {
            let why = "its walls could not be mended".to_owned();
            return self.finish(execution, super::close::NO_OUTPUT, never_ran(why));
        }
        self.offers = self.offers.wrapping_add(1);
        let number = self.offers;
        // No shell remembers one that is so old.
        let old = taken_name(number.wrapping_sub(CLAIMS_KEPT));
        drop(std::fs::remove_file(self.room().join(old)));
        let written = line(&self.room(), self.session.shell.kind, &execution)
            .and_then(|line| write_next(&self.room(), &self.nonce, number, &line));
        match written {
            Ok(()) => {
                self.offer = Some(Offer {
                    execution,
                    number,
                    taken: false,
                    press: now + PRESS_EVERY,
                    until: now + TAKE_WAIT,
                });
                self.say(key(self.session.shell.kind));
            }
            Err(error) => {
                let why = format!("it could not be handed to the shell: {error}");
                self.finish(execution, super::close::NO_OUTPUT, never_ran(why));
            }
        }
    }

    /// Why a command must not run where the shell has gone since it was let pass,
    /// if so.
    pub(super) fn is_ignored_now(&self, execution: &Execution) -> Option<String> {
        if !execution.requested_cwd.is_empty() || execution.cwd == self.session.cwd {
            return None;
        }
        let asked = Asked::of(&self.session, execution, false);
        self.queue.gate.ignores_now(&asked)
    }

    /// The shell says that it has the command of this offer.
    pub(super) fn taken(&mut self, number: u32) {
        if let Some(offer) = self.offer.as_mut().filter(|offer| offer.number == number) {
            offer.taken = true;
            offer.until = Instant::now() + BEGIN_WAIT;
            drop(std::fs::remove_file(self.room().join("next")));
        }
    }

    /// The command that was taken begins.
    pub(super) fn take_offered(&mut self, number: u32) -> Option<Execution> {
        let offer = self.offer.take_if(|offer| offer.number == number)?;
        drop(std::fs::remove_file(self.room().join("next")));
        Some(offer.execution)
    }

    /// A prompt came instead: whether anything of the command ran, nobody says.
    pub(super) fn passed_over(&mut self, number: u32) {
        if let Some(execution) = self.take_offered(number) {
            let why = "the shell did not say that it began the command";
            self.remark_on(execution.shell_id, "handover", why);
            self.finish(execution, super::close::NO_OUTPUT, Outcome::default());
        }
    }

    /// Does what is due about a command that was offered.
    pub(super) fn tend_offer(&mut self, now: Instant) {
        let Some(offer) = &mut self.offer else {
            return;
        };
        let (number, taken) = (offer.number, offer.taken);
        if offer.until <= now {
            match taken {
                true => self.passed_over(number),
                false => self.take_back(number, now),
            }
        } else if !taken && offer.press <= now {
            offer.press = now + PRESS_EVERY;
            let editing = terminal::reads_keys(self.master.get_ref(), self.launched.child.pid);
            let is_at_prompt = self.beliefs.doing() == Doing::Prompting && !self.is_leaving(now);
            if editing && is_at_prompt {
                self.say(key(self.session.shell.kind));
            }
        }
    }

    /// Takes a command back that the shell has not taken, if it really has not.
    fn take_back(&mut self, number: u32, now: Instant) {
        if !claim(&self.room(), number) {
            // It has, and has not said so yet.
            if let Some(offer) = &mut self.offer {
                offer.taken = true;
                offer.until = now + BEGIN_WAIT;
            }
            return;
        }
        let busy = self.beliefs.doing() == Doing::Running;
        if let Some(execution) = self.take_offered(number) {
            self.queue.put_back(execution);
            if !busy {
                self.fall_back("the shell did not take the command");
            }
            // Else somebody was faster at the prompt, and it waits for the next.
        }
    }

    /// Withdraws a command that was offered, unless the shell has it.
    pub(super) fn withdraw_offer(&mut self, id: ShellId) -> Option<Execution> {
        let offer = self.offer.as_ref().filter(|offer| offer.id() == id)?;
        let number = offer.number;
        match claim(&self.room(), number) {
            true => self.take_offered(number),
            false => None,
        }
    }

    /// Gives a person's half-written line back once the prompt is there again.
    pub(super) fn give_draft_back(&mut self) {
        let quiet = self.front.is_none() && self.offer.is_none();
        let is_at_prompt = self.beliefs.doing() == Doing::Prompting;
        if !self.has_draft || !quiet || !is_at_prompt || !self.queue.waiting.is_empty() {
            return;
        }
        if terminal::reads_keys(self.master.get_ref(), self.launched.child.pid) {
            self.has_draft = false;
            self.say(key(self.session.shell.kind));
        } else {
            self.look_at = Some(Instant::now() + LOOK_EVERY);
        }
    }
}

fn taken_name(number: u32) -> String {
    format!("taken.{number}")
}

/// Makes a command ours. Only one can.
fn claim(room: &Path, number: u32) -> bool {
    let mut options = std::fs::OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    options.open(room.join(taken_name(number))).is_ok()
}

fn write_next(room: &Path, nonce: &str, number: u32, line: &[u8]) -> std::io::Result<()> {
    let new = room.join("next.new");
    drop(std::fs::remove_file(&new));
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(format!("{nonce}\n{number}\n").as_bytes())?;
    file.write_all(line)?;
    file.write_all(b"\n")?;
    std::fs::rename(&new, room.join("next"))
}

/// The line that runs a command as it is, in the shell's own language.
fn line(room: &Path, kind: ShellKind, execution: &Execution) -> std::io::Result<Vec<u8>> {
    match kind {
        ShellKind::Nu => super::nu::line(room, execution),
        ShellKind::Fish => Ok(fish_line(execution)),
        _ => Ok(posix_line(kind, execution)),
    }
}

fn posix_line(kind: ShellKind, execution: &Execution) -> Vec<u8> {
    let command = execution.command.as_str();
    let directory = execution.requested_cwd.as_str();
    // Where the shell really is may be news that has not come yet.
    let moves = !directory.is_empty();
    if !moves && execution.env.is_empty() && is_plain(kind, command) {
        return command.as_bytes().to_vec();
    }
    let mut line = Vec::new();
    if moves {
        line.extend_from_slice(b"cd -- ");
        line.extend(dollar_quote(directory.as_bytes()));
        line.extend_from_slice(b" && ");
    }
    for (name, value) in &execution.env {
        line.extend_from_slice(name.as_bytes());
        line.push(b'=');
        line.extend(dollar_quote(value.as_bytes()));
        line.push(b' ');
    }
    line.extend_from_slice(b"eval ");
    // What begins with a dash would be an option.
    let dash = if command.starts_with('-') { " " } else { "" };
    line.extend(dollar_quote(format!("{dash}{command}").as_bytes()));
    line
}

/// Whether the shell reads this as one line, and executes it as it stands.
fn is_plain(kind: ShellKind, command: &str) -> bool {
    // `!` would be expanded from the history, and `#` is no remark at zsh's prompt.
    let odd = |byte: u8| {
        byte < 0x20 || matches!(byte, 0x7f | b'!') || (byte == b'#' && kind == ShellKind::Zsh)
    };
    // A here-document in one line has no end, and the shell would wait for it.
    !command.bytes().any(odd)
        && !command.contains("<<")
        // `^a^b` would be the last line once more, with b for a.
        && !command.starts_with('^')
        && !command.ends_with('\\')
        && !glass_policy::Command::parse(command, kind)
            .reading()
            .parsing_failed
}

/// `$'…'`, in one line whatever the bytes are.
fn dollar_quote(bytes: &[u8]) -> Vec<u8> {
    let mut word = b"$'".to_vec();
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => word.extend([b'\\', byte]),
            b'\n' => word.extend(b"\\n"),
            b'\t' => word.extend(b"\\t"),
            b'!' | 0x00..=0x1f | 0x7f => word.extend(format!("\\x{byte:02x}").bytes()),
            _ => word.push(byte),
        }
    }
    word.push(b'\'');
    word
}

fn fish_line(execution: &Execution) -> Vec<u8> {
    let moves = !execution.requested_cwd.is_empty();
    let command = execution.command.as_bytes();
    if !moves && execution.env.is_empty() {
        return command.to_vec();
    }
    let quoted = |text: &str| quote(ShellKind::Fish, text.as_bytes());
    let mut line = Vec::new();
    if moves {
        line.extend_from_slice(b"cd ");
        line.extend(quoted(&execution.requested_cwd));
        line.extend_from_slice(b"; and ");
    }
    line.extend_from_slice(b"begin; ");
    for (name, value) in &execution.env {
        line.extend_from_slice(format!("set -lx {name} ").as_bytes());
        line.extend(quoted(value));
        line.extend_from_slice(b"; ");
    }
    line.extend_from_slice(b"eval ");
    line.extend(quote(ShellKind::Fish, command));
    line.extend_from_slice(b"; end");
    line
}

#[cfg(test)]
mod tests {
    use super::{claim, dollar_quote, is_plain, write_next};
    use glass_model::ShellKind;
    use proptest::prelude::*;

    #[test]
    fn a_command_is_taken_once() {
        let room = tempfile::tempdir().expect("a directory");
        assert!(claim(room.path(), 7));
        assert!(!claim(room.path(), 7));
        assert!(claim(room.path(), 8));
    }

    #[test]
    fn what_is_handed_over_is_for_us_alone_and_whole() {
        use std::os::unix::fs::PermissionsExt as _;
        let room = tempfile::tempdir().expect("a directory");
        for _ in 0..2 {
            write_next(room.path(), "nonce", 7, b"echo hi").expect("it is written");
        }
        let next = room.path().join("next");
        assert_eq!(std::fs::read(&next).expect("there"), b"nonce\n7\necho hi\n");
        let mode = next.metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn lines_that_a_shell_would_read_otherwise_are_quoted() {
        for plain in ["ls -la", "(exit 3)", "a | b && c; d", "echo \"x\" # note"] {
            assert!(is_plain(ShellKind::Bash, plain), "{plain}");
        }
        for odd in [
            "echo hi!", "a\nb", "echo \"x", "cat <<E", "a\tb", "if true", "a \\", "^a^b",
        ] {
            assert!(!is_plain(ShellKind::Bash, odd), "{odd}");
        }
    }

    #[test]
    fn a_quoted_command_is_one_line() {
        let quoted = dollar_quote(b"it's\n\\a!\x1b\xff");
        assert_eq!(quoted, b"$'it\\'s\\n\\\\a\\x21\\x1b\xff'");
    }

    proptest! {
        #[test]
        fn bash_reads_back_what_was_quoted(
            bytes in prop::collection::vec(1u8.., 0..40)
        ) {
            let word = dollar_quote(&bytes);
            prop_assert!(!word.iter().any(|byte| *byte < 0x20));
            let mut inner = word[2..word.len() - 1].iter();
            let mut read = Vec::new();
            while let Some(&byte) = inner.next() {
                if byte != b'\\' {
                    prop_assert!(byte != b'\'');
                    read.push(byte);
                    continue;
                }
                match inner.next() {
                    Some(b'n') => read.push(b'\n'),
                    Some(b't') => read.push(b'\t'),
                    Some(b'x') => {
                        let digits: Vec<u8> = inner.by_ref().take(2).copied().collect();
                        let text = String::from_utf8(digits).expect("digits");
                        read.push(u8::from_str_radix(&text, 16).expect("two digits"));
                    }
                    Some(&other) => read.push(other),
                    None => prop_assert!(false, "a lone backslash"),
                }
            }
            prop_assert_eq!(read, bytes);
        }
    }
}
