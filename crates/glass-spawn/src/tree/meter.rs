//! What the commands of one shell use, and what they leave behind.
//!
//! A shell runs many commands, so theirs is what was added between two looks.
//! Processes that were there before a command are known by number and left out
//! with all that they start; a figure into which one of them may have flowed is
//! not given.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use glass_model::LeftProcess;

use super::{Process, descendants, ports};
use crate::client::Launched;
use crate::process::ProcessRef;
use crate::procfs;

/// Processes of a launch's own that are counted as children at one look, in
/// bytes of the kernel's list; a shell with more has no receipts.
const LIST_BYTES_MAX: usize = 4096;

/// Processes that a receipt names.
const LEFT_NAMED_MAX: usize = 8;

/// Ports that a receipt names for one process.
const PORTS_MAX: usize = 16;

/// Characters of a command line in a receipt.
const COMMAND_CHARS_MAX: usize = 200;

/// Looks at one launch again and again.
#[derive(Debug)]
pub struct Meter {
    family: Family,
    /// The kernel's lists of children, kept open because a look at one that is
    /// costs a tenth: of the shell, of its reaper, of its first process.
    lists: Option<Vec<File>>,
}

/// A launch, and what of its children is older than the command.
#[derive(Clone, Debug)]
pub struct Family {
    reaper: ProcessRef,
    child: ProcessRef,
    init: Option<ProcessRef>,
    /// What was there at the last look.
    known: Vec<i32>,
}

/// What a shell, those that it waited for and those that its reaper waited for
/// have used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// In clock ticks.
    user: u64,
    system: u64,
    /// Bytes from storage and to it; absent where the kernel does not say.
    io: Option<(u64, u64)>,
}

/// What was added between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Microseconds on processors, in the programs and in the kernel.
    pub cpu_us: Option<(u64, u64)>,
    /// Bytes from storage, and to it.
    pub io_bytes: Option<(u64, u64)>,
}

/// What a command left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Some of them, the oldest first.
    pub named: Vec<LeftProcess>,
    /// How many.
    pub count: u32,
}

impl Meter {
    /// A meter for a launch; what it has as children now counts as known.
    pub fn new(launched: &Launched) -> Meter {
        let mut meter = Meter {
            family: Family {
                reaper: launched.reaper,
                child: launched.child,
                init: launched.init,
                known: Vec::new(),
            },
            lists: open_lists(launched),
        };
        meter.family.known = meter.children().unwrap_or_default();
        meter
    }

    /// Whom the current command's processes are told from, for whoever looks at
    /// them on another thread.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// The children that are not parts of the launch itself. Two or three short
    /// reads; absent where the kernel lists none, or more than are looked at.
    fn children(&self) -> Option<Vec<i32>> {
        let mut children = Vec::new();
        let own = [Some(self.family.child), self.family.init];
        for list in self.lists.as_ref()? {
            let mut bytes = [0; LIST_BYTES_MAX];
            let count = list.read_at(&mut bytes, 0).ok()?;
            let text = std::str::from_utf8(bytes.get(..count)?).ok()?;
            if count == LIST_BYTES_MAX {
                return None;
            }
            let pids = text.split_ascii_whitespace().filter_map(|p| p.parse().ok());
            let is_own = |pid: &i32| own.iter().flatten().any(|own| own.pid == *pid);
            children.extend(pids.filter(|pid| !is_own(pid)));
        }
        Some(children)
    }

    /// Whether the children are those of the last look.
    pub fn is_unchanged(&self) -> bool {
        self.lists.is_none() || self.children().as_ref() == Some(&self.family.known)
    }

    /// What was used until now; nothing once the shell is gone.
    pub fn counters(&self) -> Option<Counters> {
        let (child, reaper) = (self.family.child.pid, self.family.reaper.pid);
        let shell = procfs::times(child)?;
        let reaper = procfs::times(reaper)?;
        Some(Counters {
            user: shell.user + shell.children_user + reaper.children_user,
            system: shell.system + shell.children_system + reaper.children_system,
            io: procfs::storage(child),
        })
    }

    /// What was added since `before`, with what runs on; nothing where something
    /// that was known ended meanwhile, because what it used is in the counters.
    pub fn added(&self, before: &Counters) -> Option<Added> {
        let now = self.children()?;
        if self.family.known.iter().any(|pid| !now.contains(pid)) {
            return None;
        }
        let after = self.counters()?;
        let mut cpu = (
            after.user.checked_sub(before.user)?,
            after.system.checked_sub(before.system)?,
        );
        let mut io = after.io.zip(before.io).and_then(|(after, before)| {
            Some((
                after.0.checked_sub(before.0)?,
                after.1.checked_sub(before.1)?,
            ))
        });
        if now != self.family.known {
            for process in self.family.own() {
                let times = procfs::times(process.pid).unwrap_or_default();
                cpu.0 += times.user + times.children_user;
                cpu.1 += times.system + times.children_system;
                let more = procfs::storage(process.pid);
                io = io
                    .zip(more)
                    .map(|(sum, more)| (sum.0 + more.0, sum.1 + more.1));
            }
        }
        Some(Added {
            cpu_us: Some((micros(cpu.0), micros(cpu.1))),
            io_bytes: io,
        })
    }

    /// What the command that began at `since_ticks` has left behind, which is
    /// known from now on.
    pub fn left(&mut self, since_ticks: u64) -> Left {
        let Some(children) = self.children() else {
            return Left::default();
        };
        let left = if children == self.family.known {
            Left::default()
        } else {
            // What an older job leaves when it ends comes to its reaper now.
            let mut own = self.family.own();
            own.retain(|process| process.start_ticks.saturating_add(1) >= since_ticks);
            left(own)
        };
        self.family.known = children;
        left
    }
}

impl Family {
    /// The largest of the command's processes that live, by the most memory that
    /// each has had resident.
    pub fn peak_memory_bytes(&self) -> Option<u64> {
        let peaks = self.own().into_iter();
        peaks
            .filter_map(|process| procfs::peak_memory_bytes(process.pid))
            .max()
    }

    /// The living processes that were not there at the last look and do not
    /// descend from one that was.
    fn own(&self) -> Vec<Process> {
        let mut older: HashSet<i32> = self.known.iter().copied().collect();
        let mut own = Vec::new();
        for process in descendants(&self.reaper) {
            let is_part = Some(process.as_ref()) == self.init || process.as_ref() == self.child;
            // Parents come before their children.
            if older.contains(&process.ppid) {
                older.insert(process.pid);
            }
            if !is_part && !process.dead && !older.contains(&process.pid) {
                own.push(process);
            }
        }
        own
    }
}

/// What began at `since_ticks` or later and lives below the reaper of a shell
/// that has ended.
pub fn left_below(launched: &Launched, since_ticks: u64) -> Left {
    let mut living = descendants(&launched.reaper);
    living.retain(|process| {
        let is_new = process.start_ticks.saturating_add(1) >= since_ticks;
        let is_part = [Some(launched.child), launched.init].contains(&Some(process.as_ref()));
        is_new && !process.dead && !is_part
    });
    left(living)
}

fn left(mut living: Vec<Process>) -> Left {
    living.sort_by_key(|process| (process.start_ticks, process.pid));
    let named = living.iter().take(LEFT_NAMED_MAX).map(|process| {
        let mut ports = ports::listening(process.pid);
        ports.truncate(PORTS_MAX);
        LeftProcess {
            pid: process.pid.unsigned_abs(),
            command: procfs::command_line(process.pid, COMMAND_CHARS_MAX).unwrap_or_default(),
            ports,
        }
    });
    Left {
        named: named.collect(),
        count: u32::try_from(living.len()).unwrap_or(u32::MAX),
    }
}

fn open_lists(launched: &Launched) -> Option<Vec<File>> {
    let of = |pid: i32| File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
    let mut lists = vec![of(launched.child.pid)?, of(launched.reaper.pid)?];
    if let Some(init) = &launched.init {
        lists.push(of(init.pid)?);
    }
    Some(lists)
}

fn micros(ticks: u64) -> u64 {
    let hz = rustix::param::clock_ticks_per_second().max(1);
    ticks.saturating_mul(1_000_000) / hz
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Child, Command, Stdio};

    use glass_model::LaunchId;

    use super::*;
    use crate::tree::now_ticks;

    /// A shell that runs what it is told; this process is its reaper.
    struct Shell {
        child: Child,
        launched: Launched,
    }

    impl Shell {
        fn new() -> Shell {
            let child = Command::new("bash")
                .args(["--norc", "--noprofile"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("bash");
            let process = ProcessRef::of(child.id().cast_signed()).expect("it runs");
            let launched = Launched {
                id: LaunchId(1),
                child: process,
                // Other tests of this process have children, too.
                reaper: process,
                init: None,
                cgroup: None,
                memory: None,
            };
            let mut shell = Shell { child, launched };
            shell.run(":");
            shell
        }

        fn run(&mut self, command: &str) {
            let stdin = self.child.stdin.as_mut().expect("piped");
            writeln!(stdin, "{command}\necho done").expect("it reads");
            let stdout = self.child.stdout.as_mut().expect("piped");
            let mut line = String::new();
            // One byte at a time, so that nothing is taken from the next command.
            let mut reader = BufReader::with_capacity(1, stdout);
            while reader.read_line(&mut line).expect("it speaks") > 0 {
                if line.trim_end() == "done" {
                    return;
                }
                line.clear();
            }
            panic!("the shell ended");
        }
    }

    impl Drop for Shell {
        fn drop(&mut self) {
            let below = descendants(&self.launched.child);
            for process in below {
                let _ = process.as_ref().kill();
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    #[test]
    fn what_a_command_leaves_is_named_once_with_its_ports() {
        let mut shell = Shell::new();
        let mut meter = Meter::new(&shell.launched);
        assert!(meter.is_unchanged());
        let since = now_ticks();
        shell.run("sleep 100 >/dev/null &");
        assert!(!meter.is_unchanged());
        let left = meter.left(since);
        assert_eq!(left.count, 1);
        assert!(left.named[0].ports.is_empty());
        assert_eq!(meter.left(since), Left::default());
        shell.run("true");
        assert!(meter.is_unchanged());
        assert!(meter.family().peak_memory_bytes().is_none());
    }

    #[test]
    fn time_is_counted_unless_something_older_ended_meanwhile() {
        let mut shell = Shell::new();
        let mut meter = Meter::new(&shell.launched);
        let before = meter.counters().expect("it runs");
        shell.run("for ((i = 0; i < 300000; i++)); do :; done");
        let added = meter.added(&before).expect("nothing else ran");
        let (user, system) = added.cpu_us.expect("known");
        assert!(user + system >= 20_000, "{user} {system}");
        shell.run("sleep 100 >/dev/null & job=$!");
        meter.left(0);
        let before = meter.counters().expect("it runs");
        shell.run("kill $job; wait $job 2>/dev/null");
        assert_eq!(meter.added(&before), None);
    }

    #[test]
    fn the_times_of_a_line_are_its_fields_14_to_17() {
        let line = b"7 (a) b) S 1 7 7 0 -1 4194560 2 0 0 0 11 12 13 14 20 0 1 0 99 1 1";
        let times = procfs::parse_times(line).expect("a line");
        let all = [
            times.user,
            times.system,
            times.children_user,
            times.children_system,
        ];
        assert_eq!(all, [11, 12, 13, 14]);
        assert_eq!(procfs::parse_times(b"7 (a) S 1 7"), None);
    }
}
