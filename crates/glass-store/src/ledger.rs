//! What the writer knows by heart: each session's row and next index, and how
//! many bytes of output are kept.
//!
//! Invariant: it says what the database says. A transaction works on a
//! [`Delta`], which is taken over only once the database has it.

use std::collections::{HashMap, HashSet};

use glass_model::SessionId;
use rusqlite::Connection;

use crate::audit::{self, Tip};

/// A session's place in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Its row.
    pub row: i64,
    /// The index of its next event.
    pub next: u64,
}

/// The kept output of an execution that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// Its session's row.
    pub session: i64,
    /// Its recorded bytes.
    pub kept: u64,
}

/// Everything that is committed.
#[derive(Default)]
pub(crate) struct Ledger {
    seats: HashMap<SessionId, Seat>,
    open: HashMap<u32, Open>,
    kept: HashMap<i64, u64>,
    kept_in_all: u64,
    touched: HashSet<i64>,
    /// Where the audit ends.
    pub audit: Tip,
}

/// What one transaction changes. Small, so that lists do better than maps.
#[derive(Default)]
pub(crate) struct Delta {
    /// Sessions that were looked up or changed.
    pub seats: Vec<(SessionId, Seat)>,
    /// Executions that changed; none once they are over.
    pub open: Vec<(u32, Option<Open>)>,
    /// Bytes of output that each session gained or lost.
    pub kept: Vec<(i64, i64)>,
    /// Sessions that were disposed of: looked up again if they are ever needed,
    /// so that they cost no memory until then.
    pub retired: Vec<SessionId>,
    /// Sessions that are no more.
    pub forgotten: Vec<(SessionId, i64)>,
    /// Where the audit ends, if something joined it.
    pub audit: Option<Tip>,
}

impl Ledger {
    /// Counts what the database holds.
    pub(crate) fn load(conn: &Connection) -> rusqlite::Result<Ledger> {
        let mut ledger = Ledger {
            audit: audit::load(conn)?,
            ..Ledger::default()
        };
        let mut kept = conn.prepare(
            "SELECT session, sum(kept) FROM executions INDEXED BY executions_by_session \
             GROUP BY session",
        )?;
        let mut rows = kept.query([])?;
        while let Some(row) = rows.next()? {
            ledger.add_kept(row.get(0)?, row.get(1)?);
        }
        let mut open = conn.prepare(
            "SELECT shell_id, session, (SELECT coalesce(sum(bytes), 0) FROM events AS o \
             WHERE o.shell_id = e.shell_id AND o.kind < 2 AND o.kind = 0) \
             FROM executions AS e INDEXED BY executions_by_session WHERE phase < 2",
        )?;
        let mut rows = open.query([])?;
        while let Some(row) = rows.next()? {
            let (shell, session, kept): (u32, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            ledger.open.insert(
                shell,
                Open {
                    session,
                    kept: kept.max(0).cast_unsigned(),
                },
            );
            ledger.add_kept(session, kept);
        }
        Ok(ledger)
    }

    pub(crate) fn seat(&self, id: &SessionId) -> Option<Seat> {
        self.seats.get(id).copied()
    }

    pub(crate) fn open(&self, shell: u32) -> Option<Open> {
        self.open.get(&shell).copied()
    }

    /// Bytes of output kept in all.
    pub(crate) fn kept_in_all(&self) -> u64 {
        self.kept_in_all
    }

    /// Sessions that keep more than this.
    pub(crate) fn sessions_above(&self, bytes_max: u64) -> Vec<(i64, u64)> {
        self.kept
            .iter()
            .filter(|(_, kept)| **kept > bytes_max)
            .map(|(s, k)| (*s, *k))
            .collect()
    }

    /// Sessions that had events since this was last asked.
    pub(crate) fn take_touched(&mut self) -> Vec<i64> {
        self.touched.drain().collect()
    }

    /// Takes over what a transaction did, once it is committed.
    pub(crate) fn absorb(&mut self, delta: Delta) {
        for (id, seat) in delta.seats {
            self.touched.insert(seat.row);
            self.seats.insert(id, seat);
        }
        for (shell, open) in delta.open {
            match open {
                Some(open) => self.open.insert(shell, open),
                None => self.open.remove(&shell),
            };
        }
        for (session, change) in delta.kept {
            self.add_kept(session, change);
        }
        for id in delta.retired {
            self.seats.remove(&id);
        }
        for (id, row) in delta.forgotten {
            self.seats.remove(&id);
            self.touched.remove(&row);
            self.kept.remove(&row);
        }
        self.audit = delta.audit.unwrap_or(self.audit);
    }

    fn add_kept(&mut self, session: i64, change: i64) {
        self.kept_in_all = self.kept_in_all.saturating_add_signed(change);
        let kept = self.kept.entry(session).or_default();
        *kept = kept.saturating_add_signed(change);
        if *kept == 0 {
            self.kept.remove(&session);
        }
    }
}

impl Delta {
    /// Notes that a session's kept output changed by this much.
    pub(crate) fn add_kept(&mut self, session: i64, change: i64) {
        match self.kept.iter_mut().find(|(row, _)| *row == session) {
            Some((_, sum)) => *sum += change,
            None => self.kept.push((session, change)),
        }
    }

    /// Notes how an execution stands now.
    pub(crate) fn set_open(&mut self, shell: u32, open: Option<Open>) {
        match self.open.iter_mut().find(|(id, _)| *id == shell) {
            Some(entry) => entry.1 = open,
            None => self.open.push((shell, open)),
        }
    }
}
