//! What a session is.

use crate::{SandboxPolicy, SessionId};

/// How a session runs its commands. *Auto* is a request and never a state, so
/// it is not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A new shell for every command.
    Line,
    /// One warm shell over pipes.
    Pipe,
    /// One interactive shell on a terminal of its own.
    Pty,
}

/// Who a caller is. An agent runs commands and reads its own; a person may do
/// everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A program that acts for a model.
    Agent,
    /// A human, or a program that a human trusts as themselves.
    Person,
}

/// Which start files a shell reads before its first command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Startup {
    /// Those of a login shell.
    Login,
    /// Those of an interactive shell.
    Rc,
    /// None.
    Nothing,
}

/// What a command in a session of its own reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: its standard input is at its end from the beginning.
    Closed,
    /// What callers write, until they close it.
    Open,
    /// What is typed on a terminal of its own, which has its output, too.
    Terminal,
}

/// The shells whose language we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShellKind {
    /// GNU bash.
    Bash,
    /// Z shell.
    Zsh,
    /// fish.
    Fish,
    /// Any POSIX shell, such as dash.
    Posix,
    /// Nushell: it marks its commands on a terminal, and is else as any other.
    Nu,
    /// Something else that takes `-c COMMAND`: line mode only, and no state is
    /// carried over.
    Other,
}

impl ShellKind {
    /// The kind that a program of this file name has.
    pub fn of_program(name: &str) -> ShellKind {
        match name.trim_start_matches('-') {
            "bash" => ShellKind::Bash,
            "zsh" => ShellKind::Zsh,
            "fish" => ShellKind::Fish,
            "sh" | "dash" | "ash" => ShellKind::Posix,
            "nu" => ShellKind::Nu,
            _ => ShellKind::Other,
        }
    }

    /// Whether we have a driver in its language, which keeps it warm and carries
    /// its state over.
    pub fn is_driven(self) -> bool {
        !matches!(self, ShellKind::Nu | ShellKind::Other)
    }
}

/// A shell that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    /// Its language.
    pub kind: ShellKind,
    /// Its absolute path.
    pub path: String,
}

/// The name of this machine among the hosts.
pub const LOCAL_HOST: &str = "local";

impl Session {
    /// Whether it runs on another host.
    pub fn is_elsewhere(&self) -> bool {
        self.host != LOCAL_HOST
    }

    /// Whether it ends with its only command, whose state nobody needs.
    pub fn leaves_nothing(&self) -> bool {
        self.ephemeral && self.mode == Mode::Line
    }
}

/// A session: what was asked for, and what is known of it now.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// A name for people; may be empty.
    pub name: String,
    /// The task that it belongs to; may be empty.
    pub task: String,
    /// Who made it.
    pub owner: Role,
    /// How it runs commands now. `Auto` sessions change from pipe to line when
    /// their shell cannot be kept.
    pub mode: Mode,
    /// Whether the mode was ours to choose.
    pub auto: bool,
    /// Its shell.
    pub shell: Shell,
    /// Which start files its warm shell reads.
    pub startup: Startup,
    /// Where it is now: the absolute path that its shell calls `$PWD`.
    pub cwd: String,
    /// The environment that a new shell of it begins with, as `NAME=VALUE`
    /// bytes; last known, when a shell is lost.
    pub env: Vec<Vec<u8>>,
    /// What it asked for; none means the configured default.
    pub sandbox: Option<SandboxPolicy>,
    /// What a workspace sandbox may write; empty means not given.
    pub workspace_root: String,
    /// Lines kept for replay in a view.
    pub scrollback: u32,
    /// Size that a view starts with.
    pub cols: u32,
    /// Size that a view starts with.
    pub rows: u32,
    /// Whether nothing of it outlives its one execution.
    pub ephemeral: bool,
    /// What its maker, an agent, has chosen that decides what words run in it:
    /// variables with their values, or its shell.
    pub chosen: Vec<String>,
    /// Set where its one execution is a background command.
    pub background: Option<Stdin>,
    /// Where it runs: [`LOCAL_HOST`], the name of a host that is configured, or an
    /// address such as `ssh://user@host:port`. It never becomes another one.
    pub host: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When something last happened in it.
    pub active_ms: i64,
    /// When it was disposed of, if it was.
    pub disposed_ms: Option<i64>,
}
