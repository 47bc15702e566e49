//! The database's shape, and how connections to it are set up.
//!
//! Invariant: a journal of a newer format is never touched.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::{OpenError, ReadError};

/// The format that this program writes, kept in `PRAGMA user_version`: 1 for
/// [`SCHEMA`] alone, and one more for each migration.
pub(crate) const SCHEMA_VERSION: i64 = 1 + MIGRATIONS.len() as i64;

/// What became of the schema since, in order; the first leads from format 1 to
/// format 2. A new database takes the same way, so that there is one shape and
/// not two that should agree. What stands here stays as it is.
const MIGRATIONS: &[&str] = &[GATE, AUDIT, CHOSEN, BACKGROUND, RECEIPTS, HOSTS];

/// What the maker of a session has chosen that decides what words run in it.
const CHOSEN: &str = "ALTER TABLE sessions ADD COLUMN chosen BLOB;";

/// Commands that wait for somebody's word, or were not given it.
const GATE: &str = "
ALTER TABLE executions ADD COLUMN rejected TEXT;
ALTER TABLE executions ADD COLUMN asked_by INTEGER NOT NULL DEFAULT 1;
ALTER TABLE executions ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
";

/// The audit. `chain` has one row: where the entries that are kept begin, and
/// where they end.
const AUDIT: &str = "
CREATE TABLE audit (
  number INTEGER PRIMARY KEY,
  prev_hash BLOB NOT NULL,
  hash BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  session TEXT NOT NULL,
  shell_id INTEGER NOT NULL,
  task TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  kind INTEGER NOT NULL,
  payload BLOB NOT NULL,
  command TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE TABLE audit_chain (
  row INTEGER PRIMARY KEY CHECK (row = 1),
  first INTEGER NOT NULL,
  first_prev_hash BLOB NOT NULL,
  last INTEGER NOT NULL,
  last_hash BLOB NOT NULL
) STRICT;
INSERT INTO audit_chain VALUES (1, 1, zeroblob(32), 0, zeroblob(32));
";

/// Sessions of one background command, and what that reads.
const BACKGROUND: &str = "
ALTER TABLE sessions ADD COLUMN background INTEGER NOT NULL DEFAULT 0;
";

/// What commands cost and left behind.
const RECEIPTS: &str = "ALTER TABLE executions ADD COLUMN receipt BLOB;";

/// Where sessions run.
const HOSTS: &str = "ALTER TABLE sessions ADD COLUMN host TEXT NOT NULL DEFAULT 'local';";

/// How long a connection waits for another one, in milliseconds.
const BUSY_MS: u64 = 5_000;

/// Bytes in a page of the database. A commit writes whole pages, and most of
/// ours change a few hundred bytes in each of four or five of them, so that
/// small pages halve what a commit writes.
const PAGE_BYTES: u32 = 1024;

/// Memory for pages of one connection, in KiB.
const CACHE_KIB: u32 = 4096;

/// Prepared statements kept by a connection; above the number that we have.
const STATEMENTS_MAX: usize = 96;

/// Every index is one more page in a commit, so there are few, and each does
/// more than one thing:
/// - `executions_by_session` also finds what is not over (`phase < 2`) and what
///   has output (`kept > 0`) by being read from end to end, which is cheap
///   because it is small, and needed only at the start and above a quota.
/// - `events_of_output` has only the two kinds of output, kept and dropped;
///   queries that use it spell `kind < 2` as it does.
///
/// `kept` counts the recorded bytes of an ended execution; those of a running
/// one are counted in memory, so that output costs no second write. The three
/// `forgotten` columns say how far the events reached that a limit deleted.
const SCHEMA: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  active_ms INTEGER NOT NULL,
  disposed_ms INTEGER,
  created_ms INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  auto INTEGER NOT NULL,
  shell_kind INTEGER NOT NULL,
  shell_path TEXT NOT NULL,
  startup INTEGER NOT NULL,
  cwd TEXT NOT NULL,
  name TEXT NOT NULL,
  task TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  scrollback INTEGER NOT NULL,
  cols INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  ephemeral INTEGER NOT NULL,
  sandbox BLOB
) STRICT;
CREATE INDEX sessions_by_disposal ON sessions (disposed_ms);
CREATE TABLE session_env (session INTEGER PRIMARY KEY, env BLOB NOT NULL) STRICT;
CREATE TABLE executions (
  shell_id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  phase INTEGER NOT NULL,
  kept INTEGER NOT NULL DEFAULT 0,
  stdout_forgotten INTEGER NOT NULL DEFAULT 0,
  stderr_forgotten INTEGER NOT NULL DEFAULT 0,
  position_forgotten INTEGER NOT NULL DEFAULT 0,
  launch INTEGER,
  slot INTEGER NOT NULL,
  start_idx INTEGER,
  end_idx INTEGER,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  code INTEGER,
  abort_reason INTEGER,
  signal INTEGER,
  out_of_memory INTEGER NOT NULL,
  shell_replaced INTEGER NOT NULL,
  sandbox_denials BLOB,
  spawn_error TEXT,
  timeout_ms INTEGER NOT NULL,
  tool_call_scope TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  cwd TEXT NOT NULL,
  requested_cwd TEXT NOT NULL,
  env BLOB,
  sandbox BLOB NOT NULL,
  command TEXT NOT NULL
) STRICT;
CREATE INDEX executions_by_session ON executions (session, shell_id, phase, kept);
CREATE UNIQUE INDEX executions_by_tool_call
  ON executions (tool_call_scope, tool_call_id) WHERE tool_call_id != '';
CREATE TABLE events (
  session INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  shell_id INTEGER,
  kind INTEGER NOT NULL,
  stream INTEGER,
  offset INTEGER,
  bytes INTEGER,
  position INTEGER,
  payload BLOB,
  PRIMARY KEY (session, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_of_output ON events (shell_id, position) WHERE kind < 2;
";

/// Opens a connection for writing, and brings the schema to our format.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, OpenError> {
    let refused = |source: rusqlite::Error| classify(path, source);
    let mut conn = connect(path, OpenFlags::SQLITE_OPEN_CREATE).map_err(refused)?;
    // The page size takes effect only before the first table, and before WAL.
    conn.pragma_update(None, "page_size", PAGE_BYTES)
        .map_err(refused)?;
    let found: i64 = conn
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(refused)?;
    if found > SCHEMA_VERSION {
        return Err(OpenError::NewerSchema {
            found,
            known: SCHEMA_VERSION,
        });
    }
    conn.pragma_update(None, "journal_mode", "WAL")
        .map_err(refused)?;
    tune(&conn).map_err(refused)?;
    if found < SCHEMA_VERSION {
        migrate(&mut conn, found).map_err(refused)?;
    }
    Ok(conn)
}

/// Brings a database of an older format, or an empty one, to ours: wholly, or
/// it stays as it was.
fn migrate(conn: &mut Connection, found: i64) -> rusqlite::Result<()> {
    let txn = conn.transaction()?;
    if found < 1 {
        txn.execute_batch(SCHEMA)?;
    }
    let done = usize::try_from(found - 1).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        txn.execute_batch(migration)?;
    }
    txn.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    txn.commit()
}

/// Opens a further connection to a database that is there.
pub(crate) fn open_further(path: &Path) -> Result<Connection, OpenError> {
    let conn = connect(path, OpenFlags::empty()).map_err(|source| classify(path, source))?;
    tune(&conn).map_err(|source| classify(path, source))?;
    Ok(conn)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, ReadError> {
    let conn = connect(path, OpenFlags::empty())?;
    tune(&conn)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

fn connect(path: &Path, more: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | more;
    Connection::open_with_flags(path, flags)
}

fn tune(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(Duration::from_millis(BUSY_MS))?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "cache_size", -i64::from(CACHE_KIB))
}

fn classify(path: &Path, source: rusqlite::Error) -> OpenError {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => OpenError::Corrupt {
            path: path.to_owned(),
            source,
        },
        Some(ErrorCode::ReadOnly) => OpenError::ReadOnly {
            dir: path.parent().unwrap_or(path).to_owned(),
            source: std::io::Error::other(source),
        },
        _ => OpenError::Database(source),
    }
}
