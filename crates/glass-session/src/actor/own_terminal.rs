//! A terminal for one command: in a session that was made for it, its shell has a
//! terminal of its own for all three of its descriptors.

use super::Actor;
use crate::context::variable_name;
use crate::engine::{INTERACTIVE, NON_INTERACTIVE};
use glass_model::{Session, Stdin};
use glass_spawn::terminal;
use glass_vt::screen::ScreenSize;
use std::io;
use std::os::fd::OwnedFd;

/// What says how large some other terminal is.
const STALE: [&[u8]; 2] = [b"LINES", b"COLUMNS"];

/// A terminal that no command has yet.
pub(super) struct OwnTerminal {
    pub(super) master: OwnedFd,
    pub(super) child_fds: Vec<(i32, OwnedFd)>,
}

impl OwnTerminal {
    /// One of the size that the session was made with.
    pub(super) fn open(session: &Session) -> io::Result<OwnTerminal> {
        let narrow = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
        let size = ScreenSize {
            columns: narrow(session.cols),
            rows: narrow(session.rows),
        };
        let size = size.clamped();
        let pair = terminal::open(size.columns, size.rows)?;
        let child_fds = vec![
            (0, pair.slave.try_clone()?),
            (1, pair.slave.try_clone()?),
            (2, pair.slave),
        ];
        Ok(OwnTerminal {
            master: pair.master,
            child_fds,
        })
    }
}

/// Tells programs that they have a terminal, and takes back what was said because
/// they had none.
pub(super) fn announce(env: &mut Vec<Vec<u8>>) {
    env.retain(|entry| {
        let is_ours =
            |(name, value): &(&str, &str)| *entry == format!("{name}={value}").into_bytes();
        !NON_INTERACTIVE.iter().any(is_ours) && !STALE.contains(&variable_name(entry))
    });
    for (name, value) in INTERACTIVE {
        crate::context::set_variable(env, name, value);
    }
}

impl Actor {
    /// Whether the session's command has a terminal.
    pub(super) fn has_terminal(&self) -> bool {
        self.session.background == Some(Stdin::Terminal)
    }

    /// Gives the terminal of what runs another size.
    pub(super) fn resize_terminal(&mut self, size: ScreenSize) {
        let size = size.clamped();
        let terminal = self.running.as_ref().and_then(|run| run.stdin.as_ref());
        if let Some(terminal) = terminal.filter(|_| self.has_terminal())
            && let Err(error) = terminal::resize(terminal, size.columns, size.rows)
        {
            tracing::debug!(%error, "a terminal keeps its size");
        }
    }
}
