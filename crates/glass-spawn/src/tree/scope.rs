//! Which processes of a tree are meant. Pure: it is given a picture of the
//! tree and answers for each process in it.

use std::collections::HashMap;

use super::Process;
use crate::process::ProcessRef;

/// A variable that marks what belongs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The variable's name.
    pub name: String,
    /// Its value in what is meant; another value marks what is older.
    pub value: String,
}

/// Which part of a tree is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it, the child included.
    Everything,
    /// What began at or after a moment, and not below something older other
    /// than the child.
    Since {
        /// The moment, from `now_ticks`.
        ticks: u64,
        /// Decides where the clock is too coarse to.
        tag: Tag,
        /// Whether the child is left alone; it is then left stopped.
        spare_child: bool,
    },
}

impl Scope {
    /// Whether the child itself is meant.
    pub(super) fn has_child(&self) -> bool {
        match self {
            Scope::Everything => true,
            Scope::Since { spare_child, .. } => !spare_child,
        }
    }
}

/// Clock ticks within which the order of two events is not known.
const TICKS_UNSURE: u64 = 1;

/// Decides once for every process; a later change of parents changes nothing.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    scope: &'a Scope,
    reaper: ProcessRef,
    child: ProcessRef,
    init: Option<ProcessRef>,
    verdicts: HashMap<ProcessRef, bool>,
}

impl<'a> Judge<'a> {
    pub fn new(
        scope: &'a Scope,
        reaper: ProcessRef,
        child: ProcessRef,
        init: Option<ProcessRef>,
    ) -> Judge<'a> {
        Judge {
            scope,
            reaper,
            child,
            init,
            verdicts: HashMap::new(),
        }
    }

    /// Those that are meant of a tree that lists parents before children.
    /// `tag_of` reads a variable of a process's environment.
    pub fn select(
        &mut self,
        tree: &[Process],
        tag_of: impl Fn(i32, &str) -> Option<Vec<u8>>,
    ) -> Vec<Process> {
        let in_tree: HashMap<i32, ProcessRef> = tree
            .iter()
            .map(|process| (process.pid, process.as_ref()))
            .collect();
        let mut selected = Vec::new();
        for process in tree {
            let key = process.as_ref();
            if !self.verdicts.contains_key(&key) {
                let verdict = self.is_meant(process, &in_tree, &tag_of);
                self.verdicts.insert(key, verdict);
            }
            if self.verdicts.get(&key) == Some(&true) {
                selected.push(*process);
            }
        }
        selected
    }

    fn is_meant(
        &self,
        process: &Process,
        in_tree: &HashMap<i32, ProcessRef>,
        tag_of: impl Fn(i32, &str) -> Option<Vec<u8>>,
    ) -> bool {
        let Scope::Since {
            ticks,
            tag,
            spare_child,
        } = self.scope
        else {
            return true;
        };
        if process.as_ref() == self.child {
            return !spare_child;
        }
        // Its end would be the end of everything behind the walls.
        if Some(process.as_ref()) == self.init {
            return false;
        }
        let earliest = ticks.saturating_sub(TICKS_UNSURE);
        let latest = ticks.saturating_add(TICKS_UNSURE);
        let is_new = if (earliest..=latest).contains(&process.start_ticks) {
            // A shell that forked without executing shows the environment that
            // it began with, which has no tag: it is not older.
            tag_of(process.pid, &tag.name).is_none_or(|value| value == tag.value.as_bytes())
        } else {
            process.start_ticks > *ticks
        };
        is_new && self.parent_allows(process.ppid, in_tree)
    }

    fn parent_allows(&self, ppid: i32, in_tree: &HashMap<i32, ProcessRef>) -> bool {
        let adopts = |home: &ProcessRef| ppid == home.pid;
        if adopts(&self.reaper) || adopts(&self.child) || self.init.as_ref().is_some_and(adopts) {
            return true;
        }
        // A parent that is not in the picture has just died, and its children
        // belong to the reaper. One that is comes earlier in the list, so its
        // verdict is known.
        let parent = in_tree.get(&ppid);
        parent
            .and_then(|parent| self.verdicts.get(parent))
            .copied()
            .unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAPER: ProcessRef = ProcessRef {
        pid: 10,
        start_ticks: 1,
    };
    const CHILD: ProcessRef = ProcessRef {
        pid: 11,
        start_ticks: 1,
    };

    fn process(pid: i32, ppid: i32, start_ticks: u64) -> Process {
        Process {
            pid,
            start_ticks,
            ppid,
            state: b'S',
            dead: false,
        }
    }

    fn since(ticks: u64, spare_child: bool) -> Scope {
        let tag = Tag {
            name: "GLASS".into(),
            value: "new".into(),
        };
        Scope::Since {
            ticks,
            tag,
            spare_child,
        }
    }

    fn check(scope: &Scope, tree: &[Process], tags: &[(i32, &str)], expected: &[i32]) {
        let tag_of = |pid: i32, name: &str| {
            assert_eq!(name, "GLASS");
            tags.iter()
                .find(|(p, _)| *p == pid)
                .map(|(_, tag)| tag.as_bytes().to_vec())
        };
        let selected = Judge::new(scope, REAPER, CHILD, None).select(tree, tag_of);
        assert_eq!(selected.iter().map(|p| p.pid).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn everything_is_everything() {
        let tree = [process(11, 10, 1), process(12, 11, 5), process(13, 10, 900)];
        check(&Scope::Everything, &tree, &[], &[11, 12, 13]);
    }

    #[test]
    fn what_is_older_is_spared_with_all_that_it_starts() {
        let tree = [
            process(11, 10, 1),   // The shell.
            process(20, 10, 50),  // An older job that lost its parent.
            process(21, 11, 50),  // An older job.
            process(30, 11, 200), // The command.
            process(22, 21, 300), // Started by the older job meanwhile.
            process(31, 30, 300),
            process(23, 22, 400),
            process(32, 10, 400), // Left behind by the command.
        ];
        check(&since(100, true), &tree, &[], &[30, 31, 32]);
        check(&since(100, false), &tree, &[], &[11, 30, 31, 32]);
    }

    #[test]
    fn what_lost_its_parent_behind_walls_is_judged_alone() {
        let init = ProcessRef {
            pid: 12,
            start_ticks: 1,
        };
        let tree = [
            process(11, 10, 1),   // The shell.
            process(12, 10, 1),   // The first process behind the walls.
            process(20, 12, 50),  // An older job that lost its parent.
            process(30, 12, 200), // Left behind by the command.
            process(31, 30, 300),
        ];
        let select = |scope: &Scope| {
            let selected =
                Judge::new(scope, REAPER, CHILD, Some(init)).select(&tree, |_: i32, _: &str| None);
            selected.iter().map(|p| p.pid).collect::<Vec<_>>()
        };
        assert_eq!(select(&since(100, true)), [30, 31]);
        assert_eq!(select(&since(100, false)), [11, 30, 31]);
        assert_eq!(select(&Scope::Everything), [11, 12, 20, 30, 31]);
    }

    #[test]
    fn the_tag_decides_where_the_clock_cannot() {
        let tree: Vec<_> = (20..26)
            .zip(98..)
            .map(|(pid, born)| process(pid, 11, born))
            .collect();
        let old: Vec<_> = (0..6).map(|i| (20 + i, "old")).collect();
        let new: Vec<_> = (0..6).map(|i| (20 + i, "new")).collect();
        // Born at 98, 99, 100, 101, 102, 103 with the moment at 100.
        check(&since(100, true), &tree, &old, &[24, 25]);
        check(&since(100, true), &tree, &new, &[21, 22, 23, 24, 25]);
        check(&since(100, true), &tree, &[], &[21, 22, 23, 24, 25]);
    }

    #[test]
    fn a_verdict_outlives_the_parent_that_it_rested_on() {
        let scope = since(100, true);
        let mut judge = Judge::new(&scope, REAPER, CHILD, None);
        let none = |_: i32, _: &str| None;
        let before = [process(21, 11, 50), process(22, 21, 300)];
        assert!(judge.select(&before, none).is_empty());
        let after = [process(22, 10, 300), process(24, 22, 310)];
        assert!(judge.select(&after, none).is_empty());
    }
}
