//! Sessions as rows. The environment has a table of its own, because it is
//! large and seldom changes, while the row changes with every command.

use glass_model::{Mode, Session, Shell, ShellKind, Startup, Stdin};
use rusqlite::{Connection, Row, params};

use crate::error::ReadError;
use crate::row::{
    natural, role_column, role_of, sandbox_column, sandbox_of, texts_column, texts_of,
};

/// The columns that [`read`] expects, in this order. A session was last active
/// when its last event happened, unless its row says that it was later.
pub(crate) const SELECT: &str = "SELECT id, name, task, owner, mode, auto, shell_kind, \
     shell_path, startup, cwd, env, sandbox, workspace_root, scrollback, cols, rows, ephemeral, \
     created_ms, max(active_ms, coalesce((SELECT at_ms FROM events AS last \
     WHERE last.session = row ORDER BY idx DESC LIMIT 1), active_ms)), disposed_ms, chosen, \
     background, host \
     FROM sessions JOIN session_env AS env ON env.session = row";

const INSERT: &str = "INSERT INTO sessions (id, name, task, owner, mode, auto, shell_kind, \
     shell_path, startup, cwd, sandbox, workspace_root, scrollback, cols, rows, ephemeral, \
     created_ms, active_ms, disposed_ms, chosen, background, host) VALUES (?1, ?2, ?3, ?4, ?5, \
     ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)";

/// Writes a new session and returns its row.
pub(crate) fn insert(conn: &Connection, session: &Session) -> rusqlite::Result<i64> {
    conn.prepare_cached(INSERT)?.execute(params![
        session.id.as_str(),
        session.name,
        session.task,
        role_column(session.owner),
        mode_column(session.mode),
        session.auto,
        shell_column(session.shell.kind),
        session.shell.path,
        startup_column(session.startup),
        session.cwd,
        session.sandbox.as_ref().map(sandbox_column),
        session.workspace_root,
        session.scrollback,
        session.cols,
        session.rows,
        session.ephemeral,
        session.created_ms,
        session.active_ms,
        session.disposed_ms,
        texts_column(&session.chosen),
        background_column(session.background),
        session.host,
    ])?;
    let row = conn.last_insert_rowid();
    write_env(conn, row, &session.env)?;
    Ok(row)
}

/// Each entry is followed by a NUL, which an environment cannot hold.
pub(crate) fn write_env(conn: &Connection, row: i64, env: &[Vec<u8>]) -> rusqlite::Result<()> {
    let mut blob = Vec::with_capacity(env.iter().map(|entry| entry.len() + 1).sum());
    for entry in env {
        blob.extend_from_slice(entry);
        blob.push(0);
    }
    conn.prepare_cached("INSERT OR REPLACE INTO session_env (session, env) VALUES (?1, ?2)")?
        .execute(params![row, blob])?;
    Ok(())
}

fn env_of(blob: &[u8]) -> Vec<Vec<u8>> {
    let Some(entries) = blob.strip_suffix(&[0]) else {
        return Vec::new();
    };
    entries
        .split(|&byte| byte == 0)
        .map(<[u8]>::to_vec)
        .collect()
}

pub(crate) fn mode_column(mode: Mode) -> i64 {
    match mode {
        Mode::Line => 0,
        Mode::Pipe => 1,
        Mode::Pty => 2,
    }
}

pub(crate) fn mode_of(value: i64) -> Result<Mode, ReadError> {
    match value {
        0 => Ok(Mode::Line),
        1 => Ok(Mode::Pipe),
        2 => Ok(Mode::Pty),
        _ => Err(corrupt()),
    }
}

fn shell_column(kind: ShellKind) -> i64 {
    match kind {
        ShellKind::Bash => 0,
        ShellKind::Zsh => 1,
        ShellKind::Fish => 2,
        ShellKind::Posix => 3,
        ShellKind::Other => 4,
        ShellKind::Nu => 5,
    }
}

fn startup_column(startup: Startup) -> i64 {
    match startup {
        Startup::Login => 0,
        Startup::Rc => 1,
        Startup::Nothing => 2,
    }
}

fn background_column(background: Option<Stdin>) -> i64 {
    match background {
        None => 0,
        Some(Stdin::Closed) => 1,
        Some(Stdin::Open) => 2,
        Some(Stdin::Terminal) => 3,
    }
}

fn background_of(value: i64) -> Result<Option<Stdin>, ReadError> {
    match value {
        0 => Ok(None),
        1 => Ok(Some(Stdin::Closed)),
        2 => Ok(Some(Stdin::Open)),
        3 => Ok(Some(Stdin::Terminal)),
        _ => Err(corrupt()),
    }
}

fn corrupt() -> ReadError {
    ReadError::Corrupt { what: "a session" }
}

/// Reads a row of [`SELECT`].
pub(crate) fn read(row: &Row<'_>) -> Result<Session, ReadError> {
    let id: String = row.get(0)?;
    Ok(Session {
        id: id.parse().map_err(|_| corrupt())?,
        name: row.get(1)?,
        task: row.get(2)?,
        owner: role_of(row.get(3)?)?,
        mode: mode_of(row.get(4)?)?,
        auto: row.get(5)?,
        shell: Shell {
            kind: match row.get::<_, i64>(6)? {
                0 => ShellKind::Bash,
                1 => ShellKind::Zsh,
                2 => ShellKind::Fish,
                3 => ShellKind::Posix,
                4 => ShellKind::Other,
                5 => ShellKind::Nu,
                _ => return Err(corrupt()),
            },
            path: row.get(7)?,
        },
        startup: match row.get::<_, i64>(8)? {
            0 => Startup::Login,
            1 => Startup::Rc,
            2 => Startup::Nothing,
            _ => return Err(corrupt()),
        },
        cwd: row.get(9)?,
        env: env_of(row.get_ref(10)?.as_blob().map_err(|_| corrupt())?),
        sandbox: match row.get_ref(11)?.as_blob_or_null().map_err(|_| corrupt())? {
            Some(blob) => Some(sandbox_of(blob)?),
            None => None,
        },
        workspace_root: row.get(12)?,
        scrollback: natural(row.get(13)?, "a session")?,
        cols: natural(row.get(14)?, "a session")?,
        rows: natural(row.get(15)?, "a session")?,
        ephemeral: row.get(16)?,
        chosen: texts_of(row.get_ref(20)?.as_blob_or_null().map_err(|_| corrupt())?)?,
        created_ms: row.get(17)?,
        active_ms: row.get(18)?,
        disposed_ms: row.get(19)?,
        background: background_of(row.get(21)?)?,
        host: row.get(22)?,
    })
}
