//! Whether processes descend from one, asked again and again.

use std::collections::HashSet;

use rustix::process::Pid;

use crate::process::ProcessRef;
use crate::procfs;

/// Ancestors that are looked at; whoever has more is not believed to be outside.
const ANCESTORS_MAX: usize = 4096;

/// Processes that are remembered.
const KNOWN_MAX: usize = 256;

/// Times that a chain is followed whose links go while we look.
const WALKS_MAX: usize = 16;

/// Knows which processes do not descend from one, so that whoever was started by
/// such a one need not be followed to the beginning.
///
/// That stays true of a process for as long as it lives: one that loses its parent
/// goes to another of its ancestors, and never below somebody else.
#[derive(Debug)]
pub struct Outsiders {
    ancestor: i32,
    known: HashSet<ProcessRef>,
}

/// What can be seen of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    There {
        start_ticks: u64,
        ppid: i32,
    },
    /// It is another user's, and `/proc` shows us only our own.
    Hidden,
    Gone,
}

/// Where a chain leads.
enum Walk {
    Inside,
    /// To the beginning, or to somebody who is known.
    Outside(Vec<ProcessRef>),
    /// Somebody on the way ended, so that nothing is known.
    Broken,
}

impl Outsiders {
    /// Nobody is known yet.
    pub fn of(ancestor: i32) -> Outsiders {
        Outsiders {
            ancestor,
            known: HashSet::new(),
        }
    }

    /// Whether `pid` is the ancestor or descends from it, as far as `/proc` shows;
    /// also if it makes its own ancestors end so quickly that none can be followed.
    pub fn descends(&mut self, pid: i32) -> bool {
        self.descends_by(pid, see)
    }

    fn descends_by(&mut self, pid: i32, mut see: impl FnMut(i32) -> Seen) -> bool {
        let Seen::There { start_ticks, .. } = see(self.ancestor) else {
            return false;
        };
        let ancestor = ProcessRef {
            pid: self.ancestor,
            start_ticks,
        };
        for _ in 0..WALKS_MAX {
            match self.walk(pid, ancestor, &mut see) {
                Walk::Inside => return true,
                Walk::Outside(passed) => {
                    // The first one is asking now and soon gone.
                    self.remember(passed.into_iter().skip(1));
                    return false;
                }
                Walk::Broken => {}
            }
        }
        true
    }

    fn walk(&self, pid: i32, ancestor: ProcessRef, see: &mut impl FnMut(i32) -> Seen) -> Walk {
        let mut pid = pid;
        let mut born_before = u64::MAX;
        let mut passed = Vec::new();
        while pid > 0 {
            // So long a chain is somebody's work.
            if passed.len() == ANCESTORS_MAX {
                return Walk::Inside;
            }
            let (start_ticks, ppid) = match see(pid) {
                Seen::There { start_ticks, ppid } => (start_ticks, ppid),
                Seen::Hidden => break,
                Seen::Gone => return Walk::Broken,
            };
            let process = ProcessRef { pid, start_ticks };
            // A parent that is younger than its child has only inherited the
            // number of the real one.
            if start_ticks > born_before {
                return Walk::Broken;
            }
            if process == ancestor {
                return Walk::Inside;
            }
            if self.known.contains(&process) {
                break;
            }
            passed.push(process);
            (pid, born_before) = (ppid, start_ticks);
        }
        Walk::Outside(passed)
    }

    fn remember(&mut self, outsiders: impl Iterator<Item = ProcessRef>) {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.extend(outsiders.take(KNOWN_MAX));
    }
}

fn see(pid: i32) -> Seen {
    if let Some(stat) = procfs::stat(pid) {
        return Seen::There {
            start_ticks: stat.start_ticks,
            ppid: stat.ppid,
        };
    }
    let number = Some(pid).filter(|&pid| pid > 0).and_then(Pid::from_raw);
    match number.map(rustix::process::test_kill_process) {
        None | Some(Err(rustix::io::Errno::SRCH)) => Seen::Gone,
        Some(_) => Seen::Hidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const KEEPER: i32 = 10;

    /// Processes with their parents, each younger than the one before.
    fn system(parents: &[(i32, i32)]) -> HashMap<i32, Seen> {
        let there = |(birth, &(pid, ppid)): (usize, &(i32, i32))| {
            let start_ticks = birth as u64;
            (pid, Seen::There { start_ticks, ppid })
        };
        parents.iter().enumerate().map(there).collect()
    }

    fn look(system: &HashMap<i32, Seen>, pid: i32) -> Seen {
        system.get(&pid).copied().unwrap_or(Seen::Gone)
    }

    #[test]
    fn whoever_an_outsider_starts_is_one_and_is_not_followed_further() {
        let system = system(&[
            (1, 0),
            (KEEPER, 1),
            (20, 1),
            (21, 20),
            (22, 21),
            (30, KEEPER),
        ]);
        let mut outsiders = Outsiders::of(KEEPER);
        assert!(!outsiders.descends_by(22, |pid| look(&system, pid)));
        let mut asked = Vec::new();
        assert!(!outsiders.descends_by(22, |pid| {
            asked.push(pid);
            look(&system, pid)
        }));
        assert_eq!(asked, [KEEPER, 22, 21]);
        assert!(outsiders.descends_by(30, |pid| look(&system, pid)));
        assert!(outsiders.descends_by(KEEPER, |pid| look(&system, pid)));
    }

    #[test]
    fn another_process_with_the_number_of_an_outsider_is_not_one() {
        let before = system(&[(1, 0), (KEEPER, 1), (20, 1), (21, 20)]);
        let mut outsiders = Outsiders::of(KEEPER);
        assert!(!outsiders.descends_by(21, |pid| look(&before, pid)));
        let after = system(&[(1, 0), (KEEPER, 1), (0, 0), (20, KEEPER), (21, 20)]);
        assert!(outsiders.descends_by(21, |pid| look(&after, pid)));
    }

    #[test]
    fn a_link_that_ends_while_we_look_makes_nobody_an_outsider() {
        let whole = system(&[(1, 0), (KEEPER, 1), (30, KEEPER), (31, 30), (32, 31)]);
        // 31 ends after 32 was seen; then 32 is 30's.
        let mut after = whole.clone();
        after.remove(&31);
        after.insert(
            32,
            Seen::There {
                start_ticks: 4,
                ppid: 30,
            },
        );
        let mut outsiders = Outsiders::of(KEEPER);
        let mut looks = 0;
        assert!(outsiders.descends_by(32, |pid| {
            looks += 1;
            look(if looks <= 2 { &whole } else { &after }, pid)
        }));
        assert!(outsiders.known.is_empty());
        // One that does it again and again is not let through either.
        assert!(outsiders.descends_by(32, |pid| match pid {
            31 => Seen::Gone,
            pid => look(&whole, pid),
        }));
        // Nor one whose parent's number has gone to a younger process.
        assert!(outsiders.descends_by(32, |pid| match pid {
            31 => Seen::There {
                start_ticks: 99,
                ppid: 1
            },
            pid => look(&whole, pid),
        }));
    }

    #[test]
    fn a_chain_that_is_too_long_to_follow_leads_inside() {
        let longest = i32::try_from(ANCESTORS_MAX).expect("a small number");
        let chain = |length: i32| -> Vec<(i32, i32)> {
            let below = (0..length).map(|at| (100 + at, if at == 0 { 1 } else { 99 + at }));
            [(1, 0), (KEEPER, 1)].into_iter().chain(below).collect()
        };
        let mut outsiders = Outsiders::of(KEEPER);
        for (length, is_inside) in [(longest, true), (longest - 1, false)] {
            let system = system(&chain(length));
            let deepest = 99 + length;
            assert_eq!(
                outsiders.descends_by(deepest, |pid| look(&system, pid)),
                is_inside
            );
        }
    }

    #[test]
    fn a_chain_ends_where_it_cannot_be_seen_and_leads_nowhere_if_it_is_a_circle() {
        let system = system(&[(1, 0), (KEEPER, 1), (20, 1), (40, 41), (41, 40)]);
        let mut outsiders = Outsiders::of(KEEPER);
        assert!(!outsiders.descends_by(20, |pid| match pid {
            1 => Seen::Hidden,
            pid => look(&system, pid),
        }));
        assert!(outsiders.descends_by(40, |pid| look(&system, pid)));
        assert!(!outsiders.descends_by(0, |pid| look(&system, pid)));
        assert!(!Outsiders::of(-5).descends(1));
    }
}
