//! Pseudo-terminals: a pair of descriptors, their size, and who has the
//! keyboard.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::pty::OpenptFlags;
use rustix::termios::{InputModes, OptionalActions, Winsize};

/// A pseudo-terminal.
#[derive(Debug)]
pub struct Pair {
    /// Our end. Reading and writing it never blocks.
    pub master: OwnedFd,
    /// The programs' end.
    pub slave: OwnedFd,
}

/// Makes a pseudo-terminal of this size. Nobody's controlling terminal yet.
pub fn open(columns: u16, rows: u16) -> io::Result<Pair> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let mut modes = rustix::termios::tcgetattr(&slave)?;
    // Erasing takes a whole character, and not its last byte.
    modes.input_modes |= InputModes::IUTF8;
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes)?;
    rustix::io::ioctl_fionbio(&master, true)?;
    resize(&master, columns, rows)?;
    Ok(Pair { master, slave })
}

/// Changes the size. The kernel tells the programs in front, if it is another.
pub fn resize(terminal: impl AsFd, columns: u16, rows: u16) -> io::Result<()> {
    let size = Winsize {
        ws_col: columns,
        ws_row: rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    Ok(rustix::termios::tcsetwinsize(terminal, size)?)
}

/// The process group that has the keyboard; none where nobody has.
pub fn foreground(terminal: impl AsFd) -> Option<i32> {
    let group = rustix::termios::tcgetpgrp(terminal).ok()?;
    Some(group.as_raw_nonzero().get())
}

/// Whether the program in front, which is `group`, reads key by key, as a line
/// editor does.
pub fn reads_keys(terminal: impl AsFd, group: i32) -> bool {
    let modes = rustix::termios::tcgetattr(&terminal);
    let by_key = modes.is_ok_and(|modes| {
        let canonical = rustix::termios::LocalModes::ICANON;
        !modes.local_modes.contains(canonical)
    });
    by_key && foreground(terminal) == Some(group)
}

/// Whether a terminal shows what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// It does, or leaves that to a program which reads key by key.
    On,
    /// It does not, though lines are read: as for a password.
    Off,
    /// Nobody knows.
    Unknown,
}

/// Whether a terminal shows what is typed.
pub fn echo(terminal: impl AsFd) -> Echo {
    use rustix::termios::LocalModes;
    let Ok(modes) = rustix::termios::tcgetattr(terminal) else {
        return Echo::Unknown;
    };
    let local = modes.local_modes;
    let hides = local.contains(LocalModes::ICANON) && !local.contains(LocalModes::ECHO);
    if hides { Echo::Off } else { Echo::On }
}

/// Ends the programs in front, unless those are `spared`: politely, or at once.
/// Says whether there were any.
pub fn end_foreground(terminal: impl AsFd, spared: i32, manner: Ending) -> bool {
    let Some(group) = foreground(terminal).filter(|group| *group != spared) else {
        return false;
    };
    let signal = match manner {
        Ending::Asked => rustix::process::Signal::TERM,
        Ending::Forced => rustix::process::Signal::KILL,
    };
    if let Some(group) = rustix::process::Pid::from_raw(group) {
        // They may be gone by now.
        let _ = rustix::process::kill_process_group(group, signal);
    }
    true
}

/// How programs are ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// They are asked to.
    Asked,
    /// They are not asked.
    Forced,
}
