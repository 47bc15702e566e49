//! The status line: what runs in the session, for how long, where, and why it is
//! quiet, in the last row of a terminal that is tall enough.
//!
//! What is said is kept up to date by a task of its own, which only asks; what is
//! drawn goes through a [`Fence`], which keeps the row for us.

use crate::client::dial;
use crate::commands::watch::words;
use glass_policy::text::visible;
use glass_proto::shellglass::v1::{Overview, WatchSessionsRequest, WatchedSession};
use glass_vt::fence::Fence;
use glass_vt::screen::ScreenSize;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::Streaming;

/// A terminal of fewer rows than this needs them all.
const ROWS_MIN: u32 = 10;

/// How often the time is told, and how soon a daemon that went away is looked for.
const TICK: Duration = Duration::from_secs(1);

/// Between two parts of the line.
const BETWEEN: &str = "  ·  ";

/// Characters that the command has at least, where it has so many.
const COMMAND_CHARS_MIN: usize = 20;

/// How long an update that is shown as one may keep the row from being painted:
/// terminals themselves wait no longer, and who began it may be gone.
const UPDATE_WAIT: Duration = Duration::from_secs(1);

/// What the line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::commands) struct Said {
    command: String,
    /// How long it runs, why it is quiet, and where.
    more: String,
}

impl Said {
    /// As text for so many columns: the command makes way for the rest, as far as
    /// that is fair.
    fn text(&self, columns: usize) -> String {
        let room = columns.saturating_sub(1 + self.more.chars().count());
        let room = room.max(COMMAND_CHARS_MIN);
        let mut command: String = self.command.chars().take(room).collect();
        if command.len() < self.command.len() {
            command.pop();
            command.push('…');
        }
        format!(" {command}{}", self.more)
    }
}

/// Whether there is a line in a terminal of this size.
pub(super) fn has_room(size: Option<(u32, u32)>) -> bool {
    std::io::stdout().is_terminal() && size.is_some_and(|(_, rows)| rows >= ROWS_MIN)
}

/// The last row of a terminal.
pub(in crate::commands) struct Status {
    fence: Fence,
    /// The terminal's rows.
    rows: u16,
    /// What is to be said.
    said: Said,
    /// Whether the row does not say it yet.
    is_stale: bool,
    /// Since when an update is shown as one.
    updating_since: Option<Instant>,
}

impl Status {
    /// One in a terminal of this size.
    pub(super) fn new(columns: u32, rows: u32) -> Status {
        let rows = narrow(rows);
        Status {
            fence: Fence::new(above(columns, rows)),
            rows,
            said: Said::default(),
            is_stale: true,
            updating_since: None,
        }
    }

    /// The terminal's rows.
    pub(super) fn rows(&self) -> u32 {
        u32::from(self.rows)
    }

    /// Puts it up. What the terminal shows goes up into its history, because
    /// what is shown from now on begins at the top.
    pub(super) fn put_up(&mut self, out: &mut Vec<u8>) {
        out.extend(std::iter::repeat_n(b'\n', usize::from(self.rows)));
        self.fence.put_up(self.fence.size(), out);
    }

    /// Puts it where the terminal has become this large. Where it was before is
    /// empty then.
    pub(super) fn move_to(&mut self, columns: u32, rows: u32, out: &mut Vec<u8>) {
        let before = std::mem::replace(&mut self.rows, narrow(rows));
        if before < self.rows {
            out.extend_from_slice(format!("\x1b7\x1b[{before};1H\x1b[m\x1b[2K\x1b8").as_bytes());
        }
        self.fence.put_up(above(columns, self.rows), out);
        self.is_stale = true;
    }

    /// What the terminal is to be sent for these bytes, the row included where
    /// it was written over.
    pub(super) fn show(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.fence.show(bytes, out);
        self.updating_since = match self.fence.is_updating() {
            true => Some(self.updating_since.unwrap_or_else(Instant::now)),
            false => None,
        };
        if self.is_stale || self.fence.is_worn() {
            self.paint(out);
        }
    }

    /// Says this.
    pub(super) fn say(&mut self, said: &Said, out: &mut Vec<u8>) {
        if self.said != *said {
            self.said = said.clone();
            self.is_stale = true;
        }
        if self.is_stale {
            self.paint(out);
        }
    }

    /// When this can be said, where it is not said already; none where more of a
    /// sequence has to come before.
    pub(super) fn due(&self, said: &Said) -> Option<Instant> {
        let is_stale = self.is_stale || self.said != *said;
        self.free_at().filter(|_| is_stale)
    }

    /// When the row can be painted or moved; none where more of a sequence has to come
    /// before.
    pub(super) fn free_at(&self) -> Option<Instant> {
        let at = match self.updating_since {
            Some(since) => since + UPDATE_WAIT,
            None => Instant::now(),
        };
        self.fence.is_whole().then_some(at)
    }

    /// Takes it away: the row is empty, and the whole terminal scrolls again.
    pub(super) fn take_down(&self) -> Vec<u8> {
        format!("\x1b7\x1b[r\x1b[{};1H\x1b[m\x1b[2K\x1b8", self.rows).into_bytes()
    }

    fn paint(&mut self, out: &mut Vec<u8>) {
        if self
            .updating_since
            .is_some_and(|since| since.elapsed() >= UPDATE_WAIT)
        {
            self.fence.end_update();
            self.updating_since = None;
        }
        let text = self.said.text(usize::from(self.fence.size().columns));
        self.is_stale = !self.fence.paint(self.rows, &text, out);
    }
}

/// Whether there is room above the last of these rows for programs that have this
/// many columns and rows.
pub(super) fn fits(value: &str, rows: u32) -> bool {
    let size = value.split_once('x');
    let wanted = size.and_then(|(_, wanted)| wanted.parse::<u32>().ok());
    wanted.is_none_or(|wanted| wanted < rows)
}

fn narrow(value: u32) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

fn above(columns: u32, rows: u16) -> ScreenSize {
    ScreenSize {
        columns: narrow(columns),
        rows: rows.saturating_sub(1),
    }
}

/// What the line of a session is to say. Nobody asks for that before it is wanted.
pub(super) struct Line {
    socket: PathBuf,
    id: String,
    said: Option<watch::Receiver<Said>>,
}

impl Line {
    /// That of a session, of the daemon at this socket.
    pub(super) fn new(socket: PathBuf, id: &str) -> Line {
        Line {
            socket,
            id: id.to_owned(),
            said: None,
        }
    }

    /// Asks from now on.
    pub(super) fn listen(&mut self) {
        if self.said.is_none() {
            self.said = Some(listen(self.socket.clone(), &self.id));
        }
    }

    /// Waits for something new to say.
    pub(super) async fn next(&mut self) -> Said {
        if let Some(said) = &mut self.said
            && said.changed().await.is_ok()
        {
            return said.borrow_and_update().clone();
        }
        std::future::pending().await
    }
}

/// Keeps the line of a session up to date, for as long as somebody listens.
fn listen(socket: PathBuf, id: &str) -> watch::Receiver<Said> {
    let (sender, line) = watch::channel(Said::default());
    let id = id.to_owned();
    tokio::spawn(async move {
        tokio::select! {
            () = sender.closed() => {}
            () = keep(&socket, &id, &sender) => {}
        }
    });
    line
}

async fn keep(socket: &Path, id: &str, line: &watch::Sender<Said>) {
    loop {
        if let Some(stream) = open(socket, id).await {
            follow(stream, line).await;
        }
        tokio::time::sleep(TICK).await;
    }
}

/// Asks a daemon that is there; none is started for this.
async fn open(socket: &Path, id: &str) -> Option<Streaming<Overview>> {
    let only = WatchSessionsRequest {
        session_id: id.to_owned(),
    };
    let mut client = dial(socket).await.ok()?;
    let opened = client.watch_sessions(only).await.ok()?;
    Some(opened.into_inner())
}

/// Tells what comes, and the time, until the stream is over.
async fn follow(mut stream: Streaming<Overview>, line: &watch::Sender<Said>) {
    let mut shown: Option<(WatchedSession, i64, Instant)> = None;
    let mut tick = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            told = stream.message() => {
                let Ok(Some(overview)) = told else { return };
                let now = Instant::now();
                let first = overview.sessions.into_iter().next();
                shown = first.map(|row| (row, overview.unix_ms, now));
            }
            _ = tick.tick() => {}
        }
        if let Some((row, unix_ms, since)) = &shown {
            let passed = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
            let said = words_of(row, unix_ms.saturating_add(passed));
            line.send_if_modified(|known| {
                let is_new = *known != said;
                *known = said;
                is_new
            });
        }
    }
}

/// The line at a time of the daemon's.
fn words_of(row: &WatchedSession, now_ms: i64) -> Said {
    let Some(session) = &row.session else {
        return Said::default();
    };
    let mut more = String::new();
    if row.running_since_unix_ms > 0 && session.running {
        let time = words::duration(now_ms.saturating_sub(row.running_since_unix_ms));
        more = format!(" {time}");
    }
    let (directory, branch) = (&session.working_directory, &session.git_branch);
    for part in [words::quiet(session), visible(directory), visible(branch)] {
        if !part.is_empty() {
            more = format!("{more}{BETWEEN}{part}");
        }
    }
    let command = words::command(session);
    Said { command, more }
}

#[cfg(test)]
mod tests {
    use super::{Said, Status, UPDATE_WAIT, fits, words_of};
    use glass_proto::shellglass::v1::{Session, WatchedSession};
    use glass_vt::screen::{Screen, ScreenSize};

    fn running(command: &str) -> WatchedSession {
        WatchedSession {
            session: Some(Session {
                running: true,
                active_command: command.to_owned(),
                working_directory: "/w".to_owned(),
                git_branch: "trunk".to_owned(),
                quiet_reason: "password".to_owned(),
                ..Session::default()
            }),
            running_since_unix_ms: 1_000,
            ..WatchedSession::default()
        }
    }

    #[test]
    fn the_line_says_what_runs_for_how_long_why_it_is_quiet_and_where() {
        let line = |row, columns| words_of(row, 73_000).text(columns);
        let row = running("make");
        assert_eq!(
            line(&row, 80),
            " make 1:12  ·  asks for a password  ·  /w  ·  trunk"
        );
        let long = running(&"make ".repeat(40));
        assert!(
            line(&long, 80).contains("make ma… 1:12"),
            "{}",
            line(&long, 80)
        );
        assert_eq!(line(&long, 80).chars().count(), 80);
        assert!(line(&long, 80).ends_with("trunk"));
        let mut idle = running("make");
        if let Some(session) = &mut idle.session {
            session.running = false;
            session.quiet_reason.clear();
            session.last_command = "false".to_owned();
            session.last_exit_code = Some(1);
        }
        assert_eq!(line(&idle, 80), " ✗ 1 false  ·  /w  ·  trunk");
    }

    #[test]
    fn nothing_in_a_session_writes_beyond_the_row() {
        let mut status = Status::new(40, 12);
        let mut out = Vec::new();
        status.put_up(&mut out);
        status.show(b"\x1bcabove", &mut out);
        let hostile = words_of(&running("x\x1b[2J\r\n\u{202e}\u{9b}H"), 1_000);
        status.say(&hostile, &mut out);
        let mut screen = Screen::new(ScreenSize {
            columns: 40,
            rows: 12,
        });
        screen.feed(&out);
        let text = screen.text();
        assert_eq!(text[0], "above");
        assert!(text[1..11].iter().all(String::is_empty), "{text:?}");
        assert!(text[11].starts_with(" x<U+001B>[2J"), "{text:?}");
        screen.feed(&status.take_down());
        assert_eq!(screen.text()[11], "");
        assert_eq!(screen.cursor(), (0, 5), "the cursor stays");
    }

    #[test]
    fn a_program_that_dies_in_an_update_does_not_keep_the_row() {
        let mut status = Status::new(40, 12);
        let mut out = Vec::new();
        status.put_up(&mut out);
        let said = |command: &str| Said {
            command: command.to_owned(),
            more: String::new(),
        };
        status.say(&said("first"), &mut out);
        assert_eq!(status.due(&said("first")), None, "it is said");
        status.show(b"\x1b[?2026hhalf a frame", &mut out);
        out.clear();
        status.say(&said("second"), &mut out);
        assert_eq!(out, b"", "nothing is shown in an update");
        let due = status.due(&said("second")).expect("it is to be said");
        let since = status.updating_since.expect("an update has begun");
        assert_eq!(due, since + UPDATE_WAIT);
        status.updating_since = since.checked_sub(UPDATE_WAIT);
        status.say(&said("second"), &mut out);
        assert!(String::from_utf8_lossy(&out).contains("second"), "{out:?}");
        assert_eq!(status.due(&said("second")), None);
        status.show(b"\x1b[3", &mut out);
        assert_eq!(status.due(&said("third")), None, "more has to come");
    }

    #[test]
    fn a_session_that_is_taller_than_the_rest_does_not_fit() {
        assert!(fits("80x23", 24) && fits("200x10", 24));
        assert!(!fits("80x24", 24) && !fits("80x999", 24));
        assert!(fits("nonsense", 24));
    }
}
