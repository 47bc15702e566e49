//! How a shell is started so that it runs our driver.

use glass_model::{Shell, ShellKind, Startup};
use std::path::Path;

/// How long a driven shell lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For many commands, each with its own output pipes.
    Warm,
    /// For one command, which writes to the shell's own standard output and
    /// standard error; the shell's exit is the command's.
    Once,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argv {
    /// The program's absolute path.
    pub program: Vec<u8>,
    /// Its arguments, with its own name first.
    pub argv: Vec<Vec<u8>>,
    /// Whether it reads requests from standard input rather than from
    /// [`REQUEST_FD`](super::REQUEST_FD). Where it does not, standard input
    /// is `/dev/null`.
    pub stdin_is_control: bool,
}

/// How to start `shell` with our driver. `dir` is the session's directory, an
/// absolute path.
pub fn argv(shell: &Shell, startup: Startup, style: Style, dir: &Path) -> Argv {
    let _ = (startup, style, dir);
    Argv {
        program: shell.path.clone().into_bytes(),
        argv: vec![shell.path.clone().into_bytes()],
        stdin_is_control: shell.kind == ShellKind::Fish,
    }
}

/// How to start `shell` for one command, without a driver: no state comes
/// back. This is all that a shell of [`ShellKind::Other`] can do.
pub fn plain_argv(shell: &Shell, command: &str) -> Argv {
    let name = shell.path.rsplit('/').next().unwrap_or_default();
    Argv {
        program: shell.path.clone().into_bytes(),
        argv: vec![name.into(), b"-c".to_vec(), command.into()],
        stdin_is_control: false,
    }
}
