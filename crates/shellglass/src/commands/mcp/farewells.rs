//! Which connections over HTTP were ended by their clients. One that made room
//! for another, or was quiet for too long, is not among them: its client may come
//! back, and what it had begun goes on.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connections that are kept in mind until their servers have ended.
const FAREWELLS_MAX: usize = 256;

/// The connections of one role's clients that were ended by them.
#[derive(Default)]
pub(super) struct Farewells(Mutex<VecDeque<String>>);

impl Farewells {
    fn all(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of this connection has ended it.
    pub(super) fn said(&self, connection: &str) {
        let mut all = self.all();
        if all.len() >= FAREWELLS_MAX {
            all.pop_front();
        }
        all.push_back(connection.to_owned());
    }

    /// There is a connection of this name, again.
    pub(super) fn forget(&self, connection: &str) {
        self.all().retain(|gone| gone != connection);
    }

    /// Whether the client of this connection has ended it.
    pub(super) fn has(&self, connection: &str) -> bool {
        self.all().iter().any(|gone| gone == connection)
    }
}
