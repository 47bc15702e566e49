//! Process trees: who descends from whom, and how to end a whole tree so that
//! none of it executes another word.
//!
//! A tree is closed because its root adopts orphans, so what descends from
//! the root is all there is. Everything here reads `/proc` and may block for
//! as long as its deadline; asynchronous callers use a thread.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::process::ProcessRef;
use crate::procfs::{self, Stat};

mod end;
mod hunt;
mod interrupt;
mod meter;
mod orphans;
mod outsiders;
mod ports;
mod scope;

pub use end::{ChildLeft, EndError, Ended, Manner, TreeEnd, end};
pub use interrupt::interrupt;
pub use meter::{Added, Counters, Family, Left, Meter, left_below};
pub use orphans::end_orphans;
pub use outsiders::Outsiders;
pub use ports::listens;
pub use scope::{Scope, Tag};

/// A process of a tree, as it was when it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it began, in clock ticks since the system started.
    pub start_ticks: u64,
    /// Its parent.
    pub ppid: i32,
    /// The kernel's letter for what it does: `R`, `S`, `D`, `T`, `Z` …
    pub state: u8,
    /// Whether nothing of it will ever run again; it only waits to be reaped.
    pub dead: bool,
}

impl Process {
    /// The process itself, to be signalled.
    pub fn as_ref(&self) -> ProcessRef {
        ProcessRef {
            pid: self.pid,
            start_ticks: self.start_ticks,
        }
    }

    fn new(pid: i32, stat: &Stat) -> Process {
        Process {
            pid,
            start_ticks: stat.start_ticks,
            ppid: stat.ppid,
            state: stat.state,
            dead: stat.is_dead(),
        }
    }
}

/// The time now, as processes' times of birth are counted.
pub fn now_ticks() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let hz = u128::from(rustix::param::clock_ticks_per_second());
    let nanos = u128::from(now.tv_sec.unsigned_abs()) * 1_000_000_000
        + u128::from(now.tv_nsec.unsigned_abs());
    u64::try_from(nanos * hz / 1_000_000_000).unwrap_or(u64::MAX)
}

/// Everything below a process, parents before children; nothing if it is gone.
///
/// Processes that run meanwhile may be missed or be gone again; only a tree
/// that stands still is seen whole.
pub fn descendants(root: &ProcessRef) -> Vec<Process> {
    if procfs::lists_children() {
        below(root, procfs::children)
    } else {
        below_by_scan(root)
    }
}

/// The children of a process.
pub(crate) fn children(parent: &ProcessRef) -> Vec<ProcessRef> {
    let direct = if procfs::lists_children() {
        procfs::children(parent.pid)
    } else {
        let all = procfs::all().into_iter();
        all.filter(|(_, stat)| stat.ppid == parent.pid)
            .map(|(pid, _)| pid)
            .collect()
    };
    direct.into_iter().filter_map(ProcessRef::of).collect()
}

fn below_by_scan(root: &ProcessRef) -> Vec<Process> {
    let mut by_parent: HashMap<i32, Vec<i32>> = HashMap::new();
    for (pid, stat) in procfs::all() {
        by_parent.entry(stat.ppid).or_default().push(pid);
    }
    below(root, |pid| by_parent.remove(&pid).unwrap_or_default())
}

fn below(root: &ProcessRef, mut children_of: impl FnMut(i32) -> Vec<i32>) -> Vec<Process> {
    if root.stat().is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut seen = HashSet::from([root.pid]);
    let mut parents = VecDeque::from([root.pid]);
    while let Some(parent) = parents.pop_front() {
        for pid in children_of(parent) {
            if !seen.insert(pid) {
                continue;
            }
            if let Some(stat) = procfs::stat(pid) {
                found.push(Process::new(pid, &stat));
                parents.push_back(pid);
            }
        }
    }
    found
}

/// Whether `pid` is `ancestor` or descends from it, as far as `/proc` shows.
pub fn peer_descends_from(pid: i32, ancestor: i32) -> bool {
    Outsiders::of(ancestor).descends(pid)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn both_ways_of_looking_see_the_same_tree() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 100 & (sleep 100; :) & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let root = ProcessRef::of(shell.id().cast_signed()).expect("it runs");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while descendants(&root).len() < 3 && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        let sorted = |mut list: Vec<Process>| {
            list.sort_by_key(|process| process.pid);
            list.iter().map(Process::as_ref).collect::<Vec<_>>()
        };
        let listed = sorted(below(&root, procfs::children));
        assert_eq!(listed.len(), 3);
        assert_eq!(listed, sorted(below_by_scan(&root)));
        let me = std::process::id().cast_signed();
        assert!(
            listed
                .iter()
                .all(|process| peer_descends_from(process.pid, me))
        );
        assert!(
            listed
                .iter()
                .all(|process| !peer_descends_from(me, process.pid))
        );
        for process in listed {
            process.kill().expect("killed");
        }
        root.kill().expect("killed");
        shell.wait().expect("it ended");
        assert!(descendants(&root).is_empty());
    }

    #[test]
    fn a_new_process_begins_now() {
        let before = now_ticks();
        let mut child = Command::new("true").spawn().expect("true");
        let stat = procfs::stat(child.id().cast_signed()).expect("not yet reaped");
        let after = now_ticks();
        child.wait().expect("it ends");
        assert!(
            (before..=after).contains(&stat.start_ticks),
            "{before} {stat:?} {after}"
        );
        assert!(!peer_descends_from(0, 1) && !peer_descends_from(1, -5));
        assert!(peer_descends_from(std::process::id().cast_signed(), 1));
    }
}
