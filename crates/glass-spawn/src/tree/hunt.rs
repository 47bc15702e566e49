//! The steps of ending a tree: look, stop, ask, kill.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use super::end::{ChildLeft, EndError, Ended, TreeEnd};
use super::scope::{Judge, Scope};
use super::{Process, descendants};
use crate::cgroup;
use crate::process::ProcessRef;
use crate::procfs::{self, FileId};

/// Programs that go on to their next command when one of theirs is ended.
const SHELLS: [&str; 8] = ["bash", "sh", "dash", "zsh", "fish", "ash", "ksh", "busybox"];

/// Time that all processes get to come to a stop.
const FREEZE_MAX: Duration = Duration::from_secs(2);

/// Time after which a process that waits in the kernel is taken for stopped:
/// it cannot run its own code without stopping first. A parent in `vfork`
/// waits like this for a child that we have stopped.
const KERNEL_WAIT_MAX: Duration = Duration::from_millis(5);

/// Time between two looks, at first and at most.
const LOOK_FIRST: Duration = Duration::from_micros(50);
const LOOK_MAX: Duration = Duration::from_millis(5);

/// Time for killed processes to go before they are killed again.
const KILL_ROUND: Duration = Duration::from_millis(50);

/// One attempt to end a tree.
pub(super) struct Hunt<'a> {
    tree: &'a TreeEnd,
    judge: Judge<'a>,
    /// The shell's file: processes that execute it are it, and its subshells.
    shell: Option<FileId>,
    /// All that was ever found to be meant and alive.
    known: BTreeSet<ProcessRef>,
    killed: BTreeSet<ProcessRef>,
    /// All that was stopped at least once.
    stopped: HashSet<ProcessRef>,
}

impl<'a> Hunt<'a> {
    pub fn new(tree: &'a TreeEnd) -> Hunt<'a> {
        let child_lives = tree.child.is_alive();
        Hunt {
            tree,
            judge: Judge::new(&tree.scope, tree.reaper, tree.child, tree.init),
            shell: match &tree.shell {
                Some(path) => procfs::file_id(path),
                None => procfs::exe_id(tree.child.pid).filter(|_| child_lives),
            },
            known: (child_lives && tree.scope.has_child())
                .then_some(tree.child)
                .into_iter()
                .collect(),
            killed: BTreeSet::new(),
            stopped: HashSet::new(),
        }
    }

    /// Looks for everything that is meant and lives, parents before children.
    fn living(&mut self) -> Vec<ProcessRef> {
        let tree = descendants(&self.tree.reaper);
        let mut living: Vec<ProcessRef> = self
            .judge
            .select(&tree, procfs::environ_value)
            .iter()
            .filter(|process| !process.dead)
            .map(Process::as_ref)
            .collect();
        // When the reaper is killed, what was below it is not below it any
        // more, and is still ours to end.
        let seen: HashSet<ProcessRef> = living.iter().copied().collect();
        let strays = self.known.iter().filter(|process| !seen.contains(process));
        living.extend(strays.filter(|process| process.is_alive()));
        self.known.extend(&living);
        living
    }

    /// Stops everything that is meant and `chosen`, and the child in any
    /// case, until a look at a tree that stands still finds nothing new.
    pub fn freeze(&mut self, deadline: Instant, chosen: impl Fn(&ProcessRef) -> bool) {
        let until = deadline.min(Instant::now() + FREEZE_MAX);
        loop {
            let child = self.tree.child;
            let mut running = vec![child];
            running.extend(
                self.living()
                    .into_iter()
                    .filter(|p| *p != child && chosen(p)),
            );
            running.retain(|process| !self.is_still(process));
            if running.is_empty() || Instant::now() >= until {
                return;
            }
            for process in &running {
                // One that is not ours to stop is reported when it does not die.
                let _ = process.stop();
                self.stopped.insert(*process);
            }
            settle(&running, until);
        }
    }

    fn is_still(&self, process: &ProcessRef) -> bool {
        match stillness(process) {
            Stillness::Still => true,
            Stillness::InKernel => self.stopped.contains(process),
            Stillness::Running => false,
        }
    }

    /// Kills the shells, asks the others to leave, and waits for that.
    pub fn ask(&mut self, signal: i32, until: Instant) {
        let mut asked: HashSet<ProcessRef> = HashSet::new();
        let mut pause = LOOK_FIRST;
        loop {
            let living = self.living();
            if living.is_empty() {
                return;
            }
            if living.iter().any(|process| !asked.contains(process)) {
                self.freeze(until, |process| !asked.contains(process));
            }
            let (shells, others): (Vec<_>, Vec<_>) = self
                .living()
                .into_iter()
                .partition(|process| self.is_shell(process));
            self.force_all(&shells);
            for process in others {
                if asked.insert(process) {
                    // The signal first: it is what the process wakes up to.
                    let _ = process.signal(signal);
                    let _ = process.cont();
                }
            }
            if Instant::now() >= until {
                return;
            }
            std::thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
            pause = (pause * 2).min(LOOK_MAX);
        }
    }

    fn is_shell(&self, process: &ProcessRef) -> bool {
        let same_file = self.shell.is_some() && procfs::exe_id(process.pid) == self.shell;
        let by_name = || procfs::exe_name(process.pid).is_some_and(|n| SHELLS.contains(&&*n));
        // Without the shell's file nothing tells that the child is not one.
        let by_place = self.shell.is_none() && *process == self.tree.child;
        by_place || same_file || by_name()
    }

    /// Kills until nothing is left.
    pub fn kill(&mut self, deadline: Instant) -> Result<(), EndError> {
        loop {
            self.freeze(deadline, |_| true);
            let cgroup = self
                .tree
                .cgroup
                .as_ref()
                .filter(|_| self.tree.scope == Scope::Everything);
            let cgroup = cgroup.filter(|path| cgroup::is_populated(path));
            let living = self.living();
            if living.is_empty() && cgroup.is_none() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                let pids = living.iter().map(|process| process.pid);
                let in_cgroup = cgroup.map(|path| cgroup::members(path)).unwrap_or_default();
                let pids: BTreeSet<i32> = pids.chain(in_cgroup).collect();
                return Err(EndError::Unkillable {
                    pids: pids.into_iter().collect(),
                });
            }
            if let Some(path) = cgroup {
                let _ = cgroup::kill(path);
            }
            self.force_all(&living);
            wait_until_gone(&living, deadline.min(Instant::now() + KILL_ROUND));
        }
    }

    /// Kills children before their parents: when a parent ends, the kernel
    /// continues stopped process groups that it leaves without one.
    fn force_all(&mut self, parents_first: &[ProcessRef]) {
        for process in parents_first.iter().rev() {
            match process.kill() {
                Ok(_) => drop(self.killed.insert(*process)),
                Err(error) => tracing::debug!(pid = process.pid, %error, "not ours to kill"),
            }
        }
    }

    /// What was done.
    pub fn ended(&self) -> Ended {
        let spared = !self.tree.scope.has_child() && self.tree.child.is_alive();
        Ended {
            processes: self.known.len(),
            killed: self.killed.len(),
            child: if spared {
                ChildLeft::Stopped
            } else {
                ChildLeft::Gone
            },
        }
    }
}

/// How far a process is from running its own code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stillness {
    /// It is stopped, or dead.
    Still,
    /// It waits in the kernel, where signals do not reach it.
    InKernel,
    /// It may run.
    Running,
}

fn stillness(process: &ProcessRef) -> Stillness {
    let Some(stat) = process.stat().filter(|stat| !stat.is_dead()) else {
        return Stillness::Still;
    };
    let of_state = |state: u8| match state {
        b'T' | b't' | b'Z' | b'X' | b'x' => Stillness::Still,
        b'D' => Stillness::InKernel,
        _ => Stillness::Running,
    };
    if stat.threads <= 1 {
        return of_state(stat.state);
    }
    let threads: Vec<_> = procfs::thread_states(process.pid)
        .into_iter()
        .map(of_state)
        .collect();
    let any = |stillness| threads.contains(&stillness);
    if any(Stillness::Running) {
        Stillness::Running
    } else if any(Stillness::InKernel) {
        Stillness::InKernel
    } else {
        Stillness::Still
    }
}

/// Waits until processes that were told to stop have stopped: a signal is
/// only noticed on the way out of the kernel, and that may be out of a fork.
fn settle(told: &[ProcessRef], until: Instant) {
    let kernel_until = Instant::now() + KERNEL_WAIT_MAX;
    watch(until, || {
        told.iter().map(stillness).all(|stillness| match stillness {
            Stillness::Still => true,
            Stillness::InKernel => Instant::now() >= kernel_until,
            Stillness::Running => false,
        })
    });
}

fn wait_until_gone(processes: &[ProcessRef], until: Instant) {
    watch(until, || !processes.iter().any(ProcessRef::is_alive));
}

/// Looks until something holds or the time is over.
fn watch(until: Instant, mut holds: impl FnMut() -> bool) {
    let mut pause = LOOK_FIRST;
    while !holds() && Instant::now() < until {
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK_MAX);
    }
}
