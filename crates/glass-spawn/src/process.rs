//! A process that cannot be mistaken for a later one with the same number.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::procfs;

/// A process by number and time of birth, in clock ticks since the system
/// started. Numbers are used again; the pair is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessRef {
    /// Its number.
    pub pid: i32,
    /// When it began.
    pub start_ticks: u64,
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The process has it.
    Sent,
    /// There is no such process any more.
    Gone,
}

impl ProcessRef {
    /// The process that has this number now.
    pub fn of(pid: i32) -> Option<ProcessRef> {
        let start_ticks = procfs::stat(pid)?.start_ticks;
        Some(ProcessRef { pid, start_ticks })
    }

    /// Whether it is there and not merely waiting to be reaped.
    pub fn is_alive(&self) -> bool {
        self.stat().is_some_and(|stat| !stat.is_dead())
    }

    /// Ends it at once.
    pub fn kill(&self) -> io::Result<Delivery> {
        self.signal(libc::SIGKILL)
    }

    /// Stops it until it is continued.
    pub fn stop(&self) -> io::Result<Delivery> {
        self.signal(libc::SIGSTOP)
    }

    /// Lets it go on after a stop.
    pub fn cont(&self) -> io::Result<Delivery> {
        self.signal(libc::SIGCONT)
    }

    /// Sends it a signal by number, and never to another process.
    pub fn signal(&self, number: i32) -> io::Result<Delivery> {
        let signal = Signal::from_named_raw(number).ok_or(io::ErrorKind::InvalidInput)?;
        let Some(pidfd) = self.open()? else {
            return Ok(Delivery::Gone);
        };
        match rustix::process::pidfd_send_signal(&pidfd, signal) {
            Ok(()) => Ok(Delivery::Sent),
            Err(rustix::io::Errno::SRCH) => Ok(Delivery::Gone),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(crate) fn stat(&self) -> Option<procfs::Stat> {
        procfs::stat(self.pid).filter(|stat| stat.start_ticks == self.start_ticks)
    }

    fn open(&self) -> io::Result<Option<OwnedFd>> {
        let pid = Some(self.pid)
            .filter(|pid| *pid > 1)
            .and_then(Pid::from_raw);
        let Some(pid) = pid else {
            return Ok(None);
        };
        let pidfd = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(rustix::io::Errno::SRCH) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        // Checked after opening: the descriptor pins the process, so what has
        // the right birth now is what the descriptor names.
        Ok(self.stat().map(|_| pidfd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_number_is_not_signalled() {
        let mut child = std::process::Command::new("sleep")
            .arg("100")
            .spawn()
            .expect("sleep");
        let real = ProcessRef::of(child.id().cast_signed()).expect("it runs");
        let earlier = ProcessRef {
            start_ticks: real.start_ticks - 1,
            ..real
        };
        assert_eq!(earlier.kill().expect("no error"), Delivery::Gone);
        assert!(real.is_alive() && !earlier.is_alive());
        assert_eq!(real.kill().expect("no error"), Delivery::Sent);
        child.wait().expect("it ends");
        assert_eq!(real.kill().expect("no error"), Delivery::Gone);
        assert!(!real.is_alive());
    }

    #[test]
    fn the_first_process_and_nonsense_are_out_of_reach() {
        for pid in [-1, 0, 1] {
            let process = ProcessRef {
                pid,
                start_ticks: 0,
            };
            assert_eq!(process.kill().expect("no error"), Delivery::Gone);
        }
    }
}
