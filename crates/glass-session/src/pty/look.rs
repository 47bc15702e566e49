//! Looking at what runs in a terminal: its processes, why the command in front
//! is quiet, and the branch that its shell is on. The kernel announces none of
//! that, so it is looked at a moment after a command begins or ends, and every
//! few seconds while one runs.

use super::branch::branch;
use super::{Ending, Task};
use glass_spawn::activity::{self, Running, Wait};
use glass_spawn::{ProcessRef, terminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// After so much time a command has started what it starts.
const FIRST_LOOK: Duration = Duration::from_millis(200);

/// Between two looks while a command runs.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// A command that has written within this time is not quiet.
const QUIET_AFTER: Duration = Duration::from_secs(1);

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
    /// The branch; empty where there is none.
    pub(crate) branch: String,
}

/// What is looked at.
struct Scene {
    root: ProcessRef,
    shell: i32,
    front: Option<i32>,
    echo: terminal::Echo,
    is_quiet: bool,
    cwd: PathBuf,
}

impl Scene {
    fn look(&self) -> Seen {
        let mut processes = activity::running(&self.root);
        processes.retain(|process| process.pid != self.shell);
        processes.truncate(PROCESSES_MAX);
        let front = self
            .front
            .filter(|front| *front != self.shell && self.is_quiet);
        let quiet = match (front.and_then(activity::waits), self.echo) {
            (Some(Wait::Terminal), terminal::Echo::Off) => "password",
            (Some(Wait::Terminal), terminal::Echo::On | terminal::Echo::Unknown) => "terminal",
            (Some(Wait::Cpu), _) => "cpu",
            (Some(Wait::Disk), _) => "disk",
            (Some(Wait::Network), _) => "network",
            (Some(Wait::Child), _) => "child",
            (None, _) => "",
        };
        Seen {
            processes,
            quiet,
            branch: branch(&self.cwd),
        }
    }
}

impl Task {
    /// Something has begun or ended.
    pub(super) fn look_soon(&mut self) {
        // What runs on another host cannot be seen from here.
        if !self.session.is_elsewhere() {
            self.scan_at = Some(Instant::now() + FIRST_LOOK);
        }
    }

    /// Looks, aside: a file system may take its time.
    pub(super) fn look(&mut self, now: Instant) {
        self.scan_at = None;
        if self.ending != Ending::No || self.looking {
            return;
        }
        let scene = Scene {
            root: self.launched.reaper,
            shell: self.launched.child.pid,
            front: terminal::foreground(self.master.get_ref()),
            echo: terminal::echo(self.master.get_ref()),
            is_quiet: self.front.is_some()
                && now.saturating_duration_since(self.written_at) >= QUIET_AFTER,
            cwd: PathBuf::from(&self.session.cwd),
        };
        self.looking = true;
        let tell = self.look_sender.clone();
        tokio::task::spawn_blocking(move || {
            // A task that is gone needs no news.
            drop(tell.try_send(scene.look()));
        });
    }

    /// Takes what was seen; what is new is shown.
    pub(super) fn saw(&mut self, mut seen: Seen) {
        self.looking = false;
        if self.front.is_none() {
            seen.quiet = "";
        } else {
            self.scan_at = Some(Instant::now() + LOOK_EVERY);
        }
        if seen == self.seen {
            return;
        }
        let asks = matches!(seen.quiet, "terminal" | "password");
        if asks && seen.quiet != self.seen.quiet {
            let id = self.front.as_ref().map(|front| front.execution.shell_id);
            let what = format!("{}: the command waits for somebody to type", seen.quiet);
            self.remark_on(id.unwrap_or(self.execution.shell_id), "quiet", &what);
        }
        self.seen = seen;
        self.show();
    }
}
