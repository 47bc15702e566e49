//! What the next daemon must know of a connection to go on with it: how its
//! client introduced itself. So a client does not notice that a daemon was lost
//! but for the calls that it had under way.
//!
//! One small file for each role, for this user alone. A connection's name is
//! worth nothing without the role's token.

use rmcp::transport::streamable_http_server::session::{
    SessionState, SessionStore, SessionStoreError,
};
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connections that are remembered. The oldest are forgotten.
const CONNECTIONS_MAX: usize = 256;

/// Bytes of an introduction; a longer one is not remembered.
const INTRODUCTION_BYTES_MAX: usize = 16 << 10;

/// Bytes of the file that are read.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// The version of the file's format.
const VERSION: u32 = 1;

/// The connections of one role's clients, as the file has them.
#[derive(Default, Serialize, Deserialize)]
struct Book {
    version: u32,
    connections: Vec<Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    id: String,
    state: SessionState,
}

/// What is remembered of the connections of one role's clients.
pub(super) struct Remembered {
    path: PathBuf,
    book: Mutex<Book>,
}

impl Remembered {
    /// What an earlier daemon has left. A file that makes no sense is as good as
    /// none: clients introduce themselves again.
    pub(super) fn read(path: PathBuf) -> Remembered {
        let book = read(&path).filter(|book| book.version == VERSION);
        let mut book = book.unwrap_or_default();
        book.version = VERSION;
        let older = book.connections.len().saturating_sub(CONNECTIONS_MAX);
        book.connections.drain(..older);
        Remembered {
            path,
            book: Mutex::new(book),
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Option<SessionState> {
        let book = self.book();
        let entry = book.connections.iter().find(|entry| entry.id == id);
        entry.map(|entry| entry.state.clone())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> io::Result<()> {
        let mut book = self.book();
        change(&mut book.connections);
        // Small and seldom: with an introduction, and with a farewell.
        write(&self.path, &book)
    }

    fn keep(&self, id: &str, state: &SessionState) -> io::Result<()> {
        if serde_json::to_vec(state)?.len() > INTRODUCTION_BYTES_MAX {
            return Ok(());
        }
        self.change(|connections| {
            connections.retain(|entry| entry.id != id);
            if connections.len() >= CONNECTIONS_MAX {
                connections.remove(0);
            }
            connections.push(Entry {
                id: id.to_owned(),
                state: state.clone(),
            });
        })
    }
}

fn read(path: &Path) -> Option<Book> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Puts the new file in the place of the old one, so that there always is a whole
/// one.
fn write(path: &Path, book: &Book) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(&new)?.write_all(&serde_json::to_vec(book)?)?;
    fs::rename(&new, path)
}

/// What the trait's methods give.
type Told<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

impl SessionStore for Remembered {
    fn load<'a, 'b, 'c>(&'a self, id: &'b str) -> Told<'c, Option<SessionState>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        Box::pin(std::future::ready(Ok(self.find(id))))
    }

    fn store<'a, 'b, 'c, 'd>(&'a self, id: &'b str, state: &'c SessionState) -> Told<'d, ()>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        let kept = self.keep(id, state).map_err(SessionStoreError::from);
        Box::pin(std::future::ready(kept))
    }

    fn delete<'a, 'b, 'c>(&'a self, id: &'b str) -> Told<'c, ()>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let forget = |connections: &mut Vec<Entry>| connections.retain(|entry| entry.id != id);
        let forgotten = self.change(forget).map_err(SessionStoreError::from);
        Box::pin(std::future::ready(forgotten))
    }
}

#[cfg(test)]
mod tests {
    use super::{CONNECTIONS_MAX, Remembered, SessionState};
    use rmcp::model::InitializeRequestParams;
    use std::os::unix::fs::PermissionsExt as _;

    fn state() -> SessionState {
        SessionState::new(InitializeRequestParams::default())
    }

    #[test]
    fn the_next_daemon_knows_the_newest_connections() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mcp-agent.json");
        let first = Remembered::read(path.clone());
        for number in 0..=CONNECTIONS_MAX {
            first.keep(&format!("c{number}"), &state()).expect("kept");
        }
        let next = Remembered::read(path.clone());
        assert!(next.find("c0").is_none() && next.find("c1").is_some());
        assert!(next.find(&format!("c{CONNECTIONS_MAX}")).is_some());
        let mode = std::fs::metadata(&path).expect("a file").permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_makes_no_sense_is_as_good_as_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mcp-agent.json");
        for nonsense in ["", "{", "[]", r#"{"version":9,"connections":[]}"#] {
            std::fs::write(&path, nonsense).expect("written");
            let remembered = Remembered::read(path.clone());
            remembered.keep("x", &state()).expect("kept");
            assert!(Remembered::read(path.clone()).find("x").is_some());
        }
    }

    #[test]
    fn a_long_introduction_is_not_remembered() {
        let folder = tempfile::tempdir().expect("a folder");
        let remembered = Remembered::read(folder.path().join("f"));
        let mut long = state();
        long.initialize_params.client_info.name = "x".repeat(20_000);
        remembered.keep("x", &long).expect("well");
        assert!(remembered.find("x").is_none());
    }
}
