//! Looking at what runs in a session: its processes, why its command is quiet,
//! and the branch that it is on. The kernel announces none of that, so it is
//! looked at a moment after a command begins or ends, and every few seconds while
//! something runs. A session in which nothing runs is not looked at.

mod branch;
pub mod reftable;
mod unlisted;

use crate::context::now_ms;
use crate::routes::Note;
use branch::branch;
use glass_spawn::activity::{self, Running, Wait};
use glass_spawn::{Launched, terminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// After so much time a command has started what it starts.
const FIRST_LOOK: Duration = Duration::from_millis(200);

/// Between two looks while a command runs.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// The same where only what earlier commands left behind runs.
const LOOK_AT_REST: Duration = Duration::from_secs(10);

/// A command that has written within this time is not quiet.
const QUIET_AFTER: Duration = Duration::from_secs(1);

/// A command that computes or waits for a machine is told of once it has been
/// quiet for so long; one that waits for a person at once.
const TOLD_AFTER: Duration = Duration::from_secs(3);

/// Processes that are told of at most.
const PROCESSES_MAX: usize = 64;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// What runs, but for the shell itself.
    pub(crate) processes: Vec<Running>,
    /// Why the command in front is quiet; empty where it is not, or nobody
    /// knows.
    pub(crate) quiet: &'static str,
    /// Since when it is; 0 where it is not.
    pub(crate) quiet_since_ms: i64,
    /// The branch; empty where there is none.
    pub(crate) branch: String,
}

/// The command whose quiet is to be explained.
pub(crate) enum Subject {
    /// None runs.
    Nobody,
    /// The process group in front of a terminal.
    Front(i32, terminal::Echo),
    /// A shell that runs one command.
    Shell(i32),
}

/// What is looked at.
pub(crate) struct Scene {
    /// Whose processes are listed.
    pub(crate) launched: Vec<Launched>,
    /// What shells of it execute; they are not listed.
    pub(crate) shell: PathBuf,
    pub(crate) subject: Subject,
    pub(crate) cwd: PathBuf,
    /// Programs that are not listed where they run inside a multiplexer.
    pub(crate) unlisted: Arc<[String]>,
}

impl Scene {
    fn look(&self, quiet_for: Option<Duration>) -> Seen {
        let mut processes = Vec::new();
        for launched in &self.launched {
            let init = launched.init.map(|init| init.pid);
            let child = launched.child.pid;
            // The shell may have become the command.
            let hides_child = activity::executes(child, &self.shell);
            let mut below = activity::running(&launched.reaper);
            below.retain(|process| {
                Some(process.pid) != init
                    && (process.pid != child || !hides_child)
                    && !unlisted::is_unlisted(process, &self.unlisted)
            });
            processes.append(&mut below);
        }
        processes.truncate(PROCESSES_MAX);
        let quiet = quiet_for.map_or("", |_| self.reason());
        let since = quiet_for.and_then(|quiet_for| i64::try_from(quiet_for.as_millis()).ok());
        Seen {
            processes,
            quiet,
            quiet_since_ms: match (quiet, since) {
                ("", _) | (_, None) => 0,
                (_, Some(since)) => now_ms() - since,
            },
            branch: branch(&self.cwd),
        }
    }

    fn reason(&self) -> &'static str {
        let (waits, echo) = match self.subject {
            Subject::Nobody => return "",
            Subject::Front(group, echo) => (activity::waits(group), echo),
            Subject::Shell(pid) => (activity::shell_waits(pid), terminal::Echo::Unknown),
        };
        match (waits, echo) {
            (Some(Wait::Terminal), terminal::Echo::Off) => "password",
            (Some(Wait::Terminal), terminal::Echo::On | terminal::Echo::Unknown) => "terminal",
            (Some(Wait::Cpu), _) => "cpu",
            (Some(Wait::Disk), _) => "disk",
            (Some(Wait::Network), _) => "network",
            (Some(Wait::Child), _) => "child",
            (None, _) => "",
        }
    }
}

/// What a session knows of its processes, and when it looks again.
pub(crate) struct Looks {
    seen: Seen,
    at: Option<Instant>,
    looking: bool,
    /// When the command last wrote something.
    written_at: Instant,
    /// Reasons that were told of the current command.
    told: Vec<&'static str>,
    /// Whether the current command was looked at before.
    is_known: bool,
}

impl Looks {
    pub(crate) fn new() -> Looks {
        Looks {
            seen: Seen::default(),
            at: None,
            looking: false,
            written_at: Instant::now(),
            told: Vec::new(),
            is_known: false,
        }
    }

    /// What was seen last.
    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// When to look next.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.at
    }

    /// Whether it is time to look.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.at.is_some_and(|at| at <= now)
    }

    /// The command has written something.
    pub(crate) fn wrote(&mut self) {
        self.written_at = Instant::now();
    }

    /// How long nothing has been written.
    pub(crate) fn silent_for(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.written_at)
    }

    /// A command has begun.
    pub(crate) fn began(&mut self) {
        self.wrote();
        self.soon();
    }

    /// The command has ended. Whether that is to be shown at once.
    pub(crate) fn ended(&mut self) -> bool {
        self.soon();
        self.told.clear();
        self.is_known = false;
        self.seen.quiet_since_ms = 0;
        !std::mem::take(&mut self.seen.quiet).is_empty()
    }

    /// Something has changed: looks a moment later. Those who hurry are not
    /// looked at for each thing that they do.
    pub(crate) fn soon(&mut self) {
        let soon = Instant::now() + FIRST_LOOK;
        self.at = Some(self.at.map_or(soon, |at| at.min(soon)));
    }

    /// Looks no more.
    pub(crate) fn stop(&mut self) {
        self.at = None;
    }

    /// Looks, aside: a file system may take its time. What is seen comes as a
    /// note.
    pub(crate) fn look(&mut self, scene: Scene, tell: &UnboundedSender<Note>) {
        self.at = None;
        if self.looking {
            return;
        }
        self.looking = true;
        let quiet_for = Some(self.written_at.elapsed()).filter(|quiet| *quiet >= QUIET_AFTER);
        let tell = tell.clone();
        tokio::task::spawn_blocking(move || {
            // A task that is gone needs no news.
            drop(tell.send(Note::Saw(Box::new(scene.look(quiet_for)))));
        });
    }

    /// Takes what was seen while a command runs, or none does.
    pub(crate) fn saw(&mut self, mut seen: Seen, runs: bool) -> News {
        self.looking = false;
        if !runs {
            (seen.quiet, seen.quiet_since_ms) = ("", 0);
        }
        let goes_on = !seen.quiet.is_empty() && !self.seen.quiet.is_empty();
        let apart = seen.quiet_since_ms.abs_diff(self.seen.quiet_since_ms);
        if goes_on && apart < QUIET_AFTER.as_millis().try_into().unwrap_or(u64::MAX) {
            // The same silence, measured again.
            seen.quiet_since_ms = self.seen.quiet_since_ms;
        }
        let pause = match (runs, seen.processes.is_empty()) {
            // By then one that says nothing from the beginning is quiet.
            (true, _) if !self.is_known => Some(QUIET_AFTER),
            (true, _) => Some(LOOK_EVERY),
            (false, false) => Some(LOOK_AT_REST),
            (false, true) => None,
        };
        self.is_known = runs;
        if let Some(pause) = pause {
            let next = Instant::now() + pause;
            self.at = Some(self.at.map_or(next, |at| at.min(next)));
        }
        let remark = self.remark(seen.quiet);
        let is_new = seen != self.seen;
        self.seen = seen;
        News { is_new, remark }
    }

    /// What is to be told of a silence: each reason once for each command.
    fn remark(&mut self, quiet: &'static str) -> Option<String> {
        let (asks, waits) = match quiet {
            "" => return None,
            "terminal" | "password" => (true, "the command waits for somebody to type"),
            "cpu" => (false, "the command computes and writes nothing"),
            "child" => (false, "the command waits for one that it started"),
            _ => (false, "the command waits and writes nothing"),
        };
        let is_long = self.written_at.elapsed() >= TOLD_AFTER;
        if self.told.contains(&quiet) || !(asks || is_long) {
            return None;
        }
        self.told.push(quiet);
        Some(format!("{quiet}: {waits}"))
    }
}

/// What a look brought.
pub(crate) struct News {
    /// Whether it differs from what was seen before.
    pub(crate) is_new: bool,
    /// A `quiet` event about the command.
    pub(crate) remark: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::{Looks, QUIET_AFTER, Seen, TOLD_AFTER};
    use glass_spawn::activity::{Running, Source};
    use std::time::Instant;

    fn quiet(reason: &'static str) -> Seen {
        Seen {
            quiet: reason,
            quiet_since_ms: 1,
            ..Seen::default()
        }
    }

    #[test]
    fn a_session_in_which_nothing_runs_is_looked_at_once() {
        let mut looks = Looks::new();
        assert_eq!(looks.due(), None);
        looks.began();
        looks.ended();
        assert!(looks.due().is_some());
        looks.stop();
        let news = looks.saw(Seen::default(), false);
        assert!(!news.is_new && looks.due().is_none());
    }

    #[test]
    fn what_was_left_behind_is_looked_at_until_it_is_gone() {
        let mut looks = Looks::new();
        let left = Running {
            pid: 7,
            command: "server".to_owned(),
            source: Source::Direct,
        };
        let seen = Seen {
            processes: vec![left],
            ..Seen::default()
        };
        assert!(looks.saw(seen, false).is_new && looks.due().is_some());
        looks.stop();
        assert!(looks.saw(Seen::default(), false).is_new && looks.due().is_none());
    }

    #[test]
    fn a_reason_is_told_once_for_each_command() {
        let mut looks = Looks::new();
        looks.began();
        assert!(looks.saw(quiet("password"), true).remark.is_some());
        assert!(looks.saw(quiet(""), true).remark.is_none());
        assert!(looks.saw(quiet("password"), true).remark.is_none());
        assert!(looks.ended());
        looks.began();
        assert!(looks.saw(quiet("password"), true).remark.is_some());
        assert!(looks.saw(quiet("cpu"), true).remark.is_none(), "not yet");
        looks.written_at = Instant::now()
            .checked_sub(TOLD_AFTER)
            .expect("the machine has run for longer");
        assert!(looks.saw(quiet("cpu"), true).remark.is_some());
    }

    #[test]
    fn a_silence_that_goes_on_keeps_its_beginning() {
        let mut looks = Looks::new();
        looks.saw(quiet("cpu"), true);
        let mut again = quiet("disk");
        again.quiet_since_ms += 3;
        looks.saw(again, true);
        assert_eq!(looks.seen().quiet_since_ms, 1);
        let mut later = quiet("disk");
        later.quiet_since_ms += i64::try_from(QUIET_AFTER.as_millis()).expect("small");
        looks.saw(later, true);
        assert_eq!(looks.seen().quiet_since_ms, 1001);
        looks.saw(quiet("cpu"), false);
        assert_eq!((looks.seen().quiet, looks.seen().quiet_since_ms), ("", 0));
    }
}
