//! The second wall: what may be written, said once more, to another part of
//! the kernel. Reading is decided here only where there are no mounts to do it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::FileType;
use rustix::io::{Errno, Result};

use super::wall_is_off;
use crate::limits::LANDLOCK_WITH_SCOPES;
use crate::sys::kernel::{self, Handled};

// Rights, by the version of Landlock that has them; the kernel's numbers.
const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const REMOVE_DIRECTORY: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_DEVICE: u64 = 1 << 6;
const MAKE_DIRECTORY: u64 = 1 << 7;
const MAKE_FILE: u64 = 1 << 8;
const MAKE_SOCKET: u64 = 1 << 9;
const MAKE_PIPE: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_LINK: u64 = 1 << 12;
const REFER: u64 = 1 << 13; // Version 2.
const TRUNCATE: u64 = 1 << 14; // Version 3.
const CONTROL_DEVICE: u64 = 1 << 15; // Version 5.
const CONNECT_SOCKET: u64 = 1 << 16; // Version 9: others' sockets that have a path.

/// Version 6: sockets without a path, and signals, stay inside.
const SCOPES: u64 = 0b11;

/// What can be done to one file.
const ON_FILE: u64 = WRITE_FILE | TRUNCATE | CONTROL_DEVICE | CONNECT_SOCKET;

/// Everything that learns something from a file. To list a directory is left to
/// everybody: it tells names alone.
const READING: u64 = EXECUTE | READ_FILE;

/// Everything that changes something.
const ALL: u64 = ON_FILE
    | REMOVE_DIRECTORY
    | REMOVE_FILE
    | MAKE_DEVICE
    | MAKE_DIRECTORY
    | MAKE_FILE
    | MAKE_SOCKET
    | MAKE_PIPE
    | MAKE_BLOCK
    | MAKE_LINK
    | REFER;

/// What may be done in a writable place: all but making devices.
const IN_WRITABLE: u64 = ALL & !(MAKE_DEVICE | MAKE_BLOCK);

/// The rules of one domain.
pub(crate) struct Rules {
    /// None where a test has switched the wall off.
    set: Option<OwnedFd>,
    files: u64,
}

impl Rules {
    /// Rules under which nothing can be written anywhere. Fails where the
    /// kernel has no Landlock.
    pub fn new() -> Result<Rules> {
        Rules::over(ALL)
    }

    /// Rules under which, besides, nothing can be read.
    pub fn with_reading() -> Result<Rules> {
        Rules::over(ALL | READING)
    }

    fn over(rights: u64) -> Result<Rules> {
        if wall_is_off("landlock") {
            return Ok(Rules {
                set: None,
                files: 0,
            });
        }
        let version = kernel::landlock_version()?;
        let handled = Handled {
            files: rights & known(version),
            network: 0,
            scoped: if version >= LANDLOCK_WITH_SCOPES {
                SCOPES
            } else {
                0
            },
        };
        Ok(Rules {
            set: Some(kernel::landlock_rules(&handled, structure_bytes(version))?),
            files: handled.files,
        })
    }

    /// Lets everything at and below a place be changed.
    pub fn allow_writing(&mut self, place: BorrowedFd<'_>) -> Result<()> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(place)?.st_mode);
        let rights = match kind {
            FileType::Directory => IN_WRITABLE | READING,
            _ => ON_FILE | READING,
        };
        self.allow(place, rights)
    }

    /// Lets everything at and below a place be read and executed.
    pub fn allow_reading(&mut self, place: BorrowedFd<'_>) -> Result<()> {
        self.allow(place, READING)
    }

    /// Lets the devices below a directory be used, and nothing be made there.
    pub fn allow_devices(&mut self, directory: BorrowedFd<'_>) -> Result<()> {
        self.allow(directory, ON_FILE | READING)
    }

    /// Lets a descriptor that is a terminal be opened by its name as well.
    /// Nothing else that is handed in may be: it is on a mount of the host's,
    /// where nothing is read-only.
    pub fn allow_terminal(&mut self, fd: BorrowedFd<'_>) -> Result<()> {
        if !rustix::termios::isatty(fd) {
            return Ok(());
        }
        self.allow(fd, ON_FILE | READING)
    }

    fn allow(&mut self, place: BorrowedFd<'_>, rights: u64) -> Result<()> {
        match &self.set {
            Some(_) if rights & self.files == 0 => Ok(()),
            Some(set) => kernel::landlock_allow(set, place, rights & self.files),
            None => Ok(()),
        }
    }

    /// Puts this process under them for ever.
    pub fn enter(&self) -> Result<()> {
        match &self.set {
            Some(set) => kernel::landlock_enter(set.as_fd()),
            None => Ok(()),
        }
    }
}

/// The version, where it can be a wall without any other.
pub(super) fn version_that_stands_alone() -> Result<u32> {
    let version = kernel::landlock_version()?;
    // Before, others' processes could be signalled, and files be truncated.
    if version < LANDLOCK_WITH_SCOPES {
        return Err(Errno::OPNOTSUPP);
    }
    Ok(version)
}

/// The rights that a version knows.
fn known(version: u32) -> u64 {
    let newest = match version {
        0 | 1 => MAKE_LINK,
        2 => REFER,
        3 | 4 => TRUNCATE,
        5..=8 => CONTROL_DEVICE,
        _ => CONNECT_SOCKET,
    };
    (newest << 1) - 1
}

/// How much of the structure a version knows.
fn structure_bytes(version: u32) -> usize {
    match version {
        0..=3 => 8,
        4 | 5 => 16,
        _ => 24,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_asked_only_for_what_it_knows() {
        assert_eq!(ALL & known(1) & REFER, 0);
        assert_eq!(ALL & known(2) & (REFER | TRUNCATE), REFER);
        assert_eq!(ALL & known(3) & (TRUNCATE | CONTROL_DEVICE), TRUNCATE);
        assert_eq!(ALL & known(8), ALL & !CONNECT_SOCKET);
        assert_eq!(ALL & known(9), ALL);
        assert_eq!(ALL & known(12), ALL);
        assert_eq!(structure_bytes(7), size_of::<Handled>());
    }

    #[test]
    fn devices_are_never_made() {
        assert_eq!(IN_WRITABLE & (MAKE_DEVICE | MAKE_BLOCK), 0);
        assert_eq!(ALL & MAKE_DEVICE, MAKE_DEVICE);
    }
}
