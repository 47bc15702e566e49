//! The kernel's word, where the shell's is lost.
//!
//! A program may throw away what nobody has read of its terminal yet; tmux does so
//! when it starts. With it goes what the shell has said of the command. The kernel
//! still knows whether the shell has the keyboard and takes keys: where it does not,
//! though it is at its prompt as far as we were told, a command runs whose beginning
//! was lost.

use super::beliefs::Doing;
use super::{Ending, Task};
use crate::context::read_left;
use glass_model::ShellKind;
use glass_spawn::terminal;
use std::time::{Duration, Instant};

/// Between something that was written and a look, and between two looks: only what is
/// seen twice is believed.
const LOOK_EVERY: Duration = Duration::from_millis(400);

/// Looks after the last that was written: a program may take its time to begin.
const LOOKS: u8 = 8;

/// What is kept of a line that a shell has written down, in bytes.
const SAID_BYTES_MAX: u64 = 32 * 1024;

/// Where a shell writes its line down before it runs that, so that nobody can throw it
/// away.
const SAID: &str = "said";

/// What the kernel was seen to say.
#[derive(Debug, Default)]
pub(super) struct Witness {
    look_at: Option<Instant>,
    /// Who had the keyboard at the last look, where that was not whom we were told.
    seen: Option<i32>,
    /// How often it is looked at again where nothing was seen.
    left: u8,
}

impl Witness {
    pub(super) fn due(&self) -> Option<Instant> {
        self.look_at
    }

    /// Whether this was seen before; else it is looked at again.
    fn is_seen_twice(&mut self, group: i32, now: Instant) -> bool {
        let is_known = self.seen.replace(group) == Some(group);
        self.look_at = Some(now + LOOK_EVERY);
        is_known
    }
}

impl Task {
    /// Something was written while the shell is at its prompt, as far as we were told.
    pub(super) fn doubt(&mut self, now: Instant) {
        let is_known = self.beliefs.doing() == Doing::Running && !self.beliefs.is_witnessed();
        if self.sieve.is_some() && self.beliefs.is_ready() && !is_known {
            self.witness.look_at.get_or_insert(now + LOOK_EVERY);
            self.witness.left = LOOKS;
        }
    }

    /// Looks who has the keyboard.
    pub(super) fn ask_kernel(&mut self, now: Instant) {
        self.witness.look_at = None;
        let is_busy = self.offer.is_some() || self.plain.is_some();
        if self.ending != Ending::No || self.session.is_elsewhere() || is_busy {
            self.witness.seen = None;
            return;
        }
        let master = self.master.get_ref();
        let is_unread = rustix::io::ioctl_fionread(master).unwrap_or(0) > 0;
        let unread = is_unread || self.reader.is_ahead();
        let shell = self.launched.child.pid;
        let front = terminal::foreground(master).unwrap_or(shell);
        // A shell that runs something takes no keys, whoever is in front.
        match (self.beliefs.doing(), terminal::reads_keys(master, shell)) {
            // The shell's own word may be among it.
            _ if unread => self.witness.look_at = Some(now + LOOK_EVERY),
            (Doing::Prompting, false) => {
                if self.witness.is_seen_twice(front, now) {
                    self.witness_start();
                }
            }
            (Doing::Running, true) if self.beliefs.is_witnessed() => {
                if self.witness.is_seen_twice(shell, now) {
                    self.beliefs.is_at_prompt();
                    self.ended(None);
                    self.witness = Witness::default();
                }
            }
            (Doing::Running, false) if self.beliefs.is_witnessed() => {
                self.witness.seen = None;
                self.witness.look_at = Some(now + LOOK_EVERY);
            }
            (Doing::Prompting, true) if self.witness.left > 0 => {
                self.witness.left -= 1;
                self.witness.seen = None;
                self.witness.look_at = Some(now + LOOK_EVERY);
            }
            _ => self.witness.seen = None,
        }
    }

    /// Believes that a command runs, where there is something left of what the shell
    /// has said of it. A helper of the prompt, which looks the same, leaves nothing.
    fn witness_start(&mut self) {
        self.witness.seen = None;
        let said = self.take_said();
        if said.is_none() && !self.beliefs.has_line() {
            self.witness.look_at = None;
            return;
        }
        let (command, taken) = self.beliefs.witness();
        self.began(command.or(said), taken);
        if let Some(front) = &self.front {
            let id = front.execution.shell_id;
            self.remark_on(
                id,
                "witnessed",
                "the shell's word of its beginning was lost",
            );
        }
    }

    /// Takes the line that the shell has written down; none where it did not.
    fn take_said(&self) -> Option<String> {
        let said = read_left(&self.room().join(SAID), SAID_BYTES_MAX).ok();
        self.forget_said();
        String::from_utf8(said?).ok()
    }

    /// What the shell has written down is not needed.
    pub(super) fn forget_said(&self) {
        if self.session.shell.kind == ShellKind::Nu {
            drop(std::fs::remove_file(self.room().join(SAID)));
        }
    }
}
