//! Answers for calls that the filter passes on, because it sees numbers and not
//! what they mean. Lives in init; whoever calls waits meanwhile.
//!
//! Two kinds of answer. A file in memory is made here, such that it can never
//! be executed, and handed to the caller: nothing of that depends on what the
//! caller can change while it is looked at. A name is looked at and the call
//! goes on in the kernel, which looks again. So a program that changes the name
//! in between can make a file of any name; all other walls stand without this
//! one.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::MemfdFlags;
use rustix::io::{Errno, Result};

use super::layout::Plan;
use super::names::{Caller, Names};
use crate::sys::notify::{self, Asked};

/// Bytes of the name of a file in memory, which is for people.
const MEMORY_NAME_BYTES_MAX: usize = 249;

/// Who is asked.
#[derive(Debug)]
pub(super) struct Supervisor {
    listener: OwnedFd,
    names: Names,
}

/// What becomes of a call.
enum Answer {
    /// The kernel goes on with it.
    Goes,
    /// It has this answer.
    Descriptor { fd: OwnedFd, close_on_exec: bool },
}

impl AsFd for Supervisor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Supervisor {
    /// For the processes behind these walls.
    pub fn new(listener: OwnedFd, plan: &Plan) -> Supervisor {
        Supervisor {
            listener,
            names: Names::of(plan),
        }
    }

    /// Answers for the next call, if there still is one.
    pub fn serve_one(&mut self) {
        // Whoever asked may have been killed since.
        let Ok(asked) = notify::receive(self.as_fd()) else {
            return;
        };
        let listener = self.listener.as_fd();
        let answered = match self.judge(&asked) {
            Ok(Answer::Goes) => notify::allow(listener, asked.id),
            Ok(Answer::Descriptor { fd, close_on_exec }) => {
                let given = notify::give(listener, asked.id, fd, close_on_exec);
                // It may have as many as it can have.
                given.or_else(|errno| notify::refuse(listener, asked.id, errno))
            }
            Err(errno) => notify::refuse(listener, asked.id, errno),
        };
        // Nobody waits for an answer that cannot be given.
        let _ = answered;
    }

    fn judge(&self, asked: &Asked) -> Result<Answer> {
        let caller = Caller::new(asked.thread);
        if libc::c_long::from(asked.call) == libc::SYS_memfd_create {
            return memory_file(&caller, asked);
        }
        self.names.judge(&caller, asked)?;
        Ok(Answer::Goes)
    }
}

/// Makes a file in memory that cannot be executed.
fn memory_file(caller: &Caller, asked: &Asked) -> Result<Answer> {
    let [name, flags, ..] = asked.arguments;
    let name = caller.text(name, MEMORY_NAME_BYTES_MAX).map_err(|errno| {
        // As the kernel says it.
        match errno {
            Errno::NAMETOOLONG => Errno::INVAL,
            errno => errno,
        }
    })?;
    // The call itself looks at no more than these bits.
    let flags = MemfdFlags::from_bits_retain((flags & u64::from(u32::MAX)) as u32);
    let safe = flags | MemfdFlags::NOEXEC_SEAL | MemfdFlags::CLOEXEC;
    match rustix::fs::memfd_create(name, safe) {
        Ok(fd) => Ok(Answer::Descriptor {
            fd,
            close_on_exec: flags.contains(MemfdFlags::CLOEXEC),
        }),
        // A kernel before 6.3 knows no such files. Otherwise the caller's own
        // flags are wrong, and the kernel says so once more.
        Err(Errno::INVAL) => Ok(Answer::Goes),
        Err(errno) => Err(errno),
    }
}
