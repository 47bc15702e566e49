//! Somebody who types into a terminal session and looks at what is known of it.

use super::viewer::{Viewer, open, terminal_request};
use glass_proto::shellglass::v1::{
    CreateSessionRequest, Execution, HistoryRequest, Session, SessionEvent, SessionHistory,
};
use shellglass_tests::{Daemon, PATIENCE, TestSession, eventually, processes};
use std::time::{Duration, Instant};

/// A terminal, its keyboard and its history.
pub struct Desk {
    pub session: TestSession,
    pub viewer: Viewer,
    /// The newest execution that was looked at.
    seen: u32,
}

impl Desk {
    /// Sits down at a new terminal whose shell has told that it is there.
    pub async fn open(daemon: &Daemon, request: CreateSessionRequest) -> Desk {
        let session = TestSession::create(daemon, request).await;
        session
            .until("the shell marks its commands", is_integrated)
            .await;
        Desk::sit(session).await
    }

    /// The same with a shell without start files.
    pub async fn bare(daemon: &Daemon, shell: &str) -> Desk {
        Desk::open(daemon, terminal_request(daemon, shell)).await
    }

    /// Sits down at a terminal that is there.
    pub async fn sit(session: TestSession) -> Desk {
        let mut viewer = Viewer::open(&session.client, open(&session)).await;
        viewer.ready().await;
        let mut desk = Desk {
            session,
            viewer,
            seen: 0,
        };
        let known = desk.executions().await;
        desk.seen = known.iter().map(|run| run.shell_id).max().unwrap_or(0);
        desk
    }

    /// Types something.
    pub async fn keys(&self, keys: &str) {
        self.viewer.type_in(keys).await;
    }

    /// Waits until nu reads keys: what is typed before, it takes for something else.
    /// Other shells do not mind.
    pub async fn prompted(&self) {
        let shell = self.session.shown().await.shell;
        if shell.ends_with("/nu") {
            let of_shell = format!("{shell} ");
            let reads = || {
                processes().iter().any(|(pid, line)| {
                    let is_it = line.starts_with(&of_shell) && line.contains("--execute");
                    is_it && is_below(*pid, &self.session.id) && reads_keys(*pid)
                })
            };
            eventually("nu reads keys", reads).await;
        }
    }

    /// Types something that is one command, and waits for the end of that.
    pub async fn typed(&mut self, keys: &str) -> Execution {
        self.prompted().await;
        self.keys(keys).await;
        self.ended(keys).await
    }

    /// Waits until the next command has ended.
    pub async fn ended(&mut self, what: &str) -> Execution {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let all = self.executions().await;
            let next = all.into_iter().find(|run| run.shell_id > self.seen);
            if let Some(run) = next.filter(|run| run.end_index.is_some()) {
                self.seen = run.shell_id;
                return run;
            }
            assert!(Instant::now() < deadline, "'{what}' did not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the shell is at its prompt: there it executes something. A
    /// Ctrl+C that is still on its way takes that away, and it is tried again.
    pub async fn settle(&mut self) {
        for _ in 0..10 {
            if self.session.run("true").await.code == Some(0) {
                self.ended("true").await;
                return;
            }
        }
        panic!("the shell does not come to its prompt");
    }

    /// Waits until a command of this text runs.
    pub async fn runs(&self, command: &str) {
        let is_it = |shown: &Session| shown.busy && shown.active_command == command;
        self.session.until(command, is_it).await;
    }

    /// Waits until a program of this command line has the keyboard.
    pub async fn is_in_front(&self, line: &str) {
        let has_it = || {
            processes().iter().any(|(pid, shown)| {
                shown.trim_end() == line && is_foreground(*pid) && is_below(*pid, &self.session.id)
            })
        };
        eventually(line, has_it).await;
    }

    /// All executions but the shell's own.
    pub async fn commands(&self) -> Vec<Execution> {
        self.executions().await.split_off(1)
    }

    async fn executions(&self) -> Vec<Execution> {
        self.history(true).await.executions
    }

    /// All events.
    pub async fn events(&self) -> Vec<SessionEvent> {
        self.history(false).await.events
    }

    async fn history(&self, omit_events: bool) -> SessionHistory {
        let request = HistoryRequest {
            session_id: self.session.id.clone(),
            omit_events,
            ..HistoryRequest::default()
        };
        let mut client = self.session.client.clone();
        let history = client.get_session_history(request).await;
        history.expect("a history is there").into_inner()
    }
}

/// Whether the shell tells what it does.
pub fn is_integrated(shown: &Session) -> bool {
    shown.integration.starts_with("rich")
}

/// Whether a process is of the group that has the keyboard of its terminal.
fn is_foreground(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    // state, parent, group, session, terminal, group in front
    fields.get(2).is_some() && fields.get(2) == fields.get(5)
}

/// Whether the terminal of a process gives it key by key.
fn reads_keys(pid: u32) -> bool {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let terminal = rustix::fs::open(format!("/proc/{pid}/fd/0"), flags, Mode::empty());
    let modes = terminal.and_then(rustix::termios::tcgetattr);
    let is_line = rustix::termios::LocalModes::ICANON;
    modes.is_ok_and(|modes| !modes.local_modes.contains(is_line))
}

/// Whether a process was started in this session.
fn is_below(pid: u32, session: &str) -> bool {
    let marked = format!("SHELLGLASS_SESSION_ID={session}");
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut entries = environment.split(|byte| *byte == 0);
    entries.any(|entry| entry == marked.as_bytes())
}
