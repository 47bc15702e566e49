//! What the relay of a terminal is told. Its terminal is the command's, so the words come
//! over the one standard descriptor that it has no use for.

use crate::relay::CANCEL;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::BorrowedFd;
use std::process::{Child, ExitStatus};

/// Who may still tell us to stop.
pub(super) struct Words<'a>(Option<BorrowedFd<'a>>);

impl<'a> Words<'a> {
    pub(super) fn new(from: BorrowedFd<'a>) -> Words<'a> {
        Words(Some(from))
    }

    /// Where words come from; none where no more will.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'a>> {
        self.0
    }

    /// Reads a word that is there; whether it is the one to stop, which is said once.
    pub(super) fn say_to_stop(&mut self) -> bool {
        let Some(from) = self.0 else { return false };
        let mut word = [0; 1];
        match rustix::io::read(from, &mut word) {
            Ok(1) if word == *CANCEL => {
                self.0 = None;
                true
            }
            // A daemon that took over says again that we may go.
            Ok(1) | Err(Errno::INTR | Errno::AGAIN) => false,
            Ok(_) | Err(_) => {
                self.0 = None;
                false
            }
        }
    }

    /// Waits for the end of an `ssh`; none where it was ended because we were told to
    /// stop.
    pub(super) fn wait_for(&mut self, ssh: &mut Child) -> io::Result<Option<ExitStatus>> {
        let ended = pidfd_open(Pid::from_child(ssh), PidfdFlags::empty())?;
        loop {
            let mut fds = vec![PollFd::new(&ended, PollFlags::IN)];
            fds.extend(
                self.0
                    .map(|from| PollFd::from_borrowed_fd(from, PollFlags::IN)),
            );
            match rustix::event::poll(&mut fds, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let is_told = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
            if !fds[0].revents().is_empty() {
                return ssh.wait().map(Some);
            }
            if is_told && self.say_to_stop() {
                // Whoever hangs up ends what runs there.
                drop(ssh.kill());
                ssh.wait()?;
                return Ok(None);
            }
        }
    }
}
