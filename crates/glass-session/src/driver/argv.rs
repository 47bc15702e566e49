//! How a shell is started so that it runs our driver.

use glass_model::{Shell, ShellKind, Startup};
use std::os::unix::ffi::OsStrExt;
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
    /// Whether a warm shell goes on writing to the standard output and error
    /// that it was started with, which other shells leave after their start
    /// files. fish writes its own messages (an unknown command, a syntax
    /// error) there, whatever the redirections, and so do its EXIT handlers:
    /// what is found there when an execution ends belongs to that execution.
    pub own_output_is_commands: bool,
}

/// The texts that make up the drivers for one kind of shell.
struct Texts {
    common: &'static str,
    warm: &'static str,
    once: &'static str,
    /// Reads the start files.
    start: &'static str,
    /// What a warm shell executes for ever, and a once shell once.
    warm_loop: &'static str,
    once_line: &'static str,
    /// Evaluates the texts, in order, before the loop.
    warm_boot: &'static str,
    once_boot: &'static str,
}

const BASH: Texts = Texts {
    common: include_str!("../../shell/common.bash"),
    warm: include_str!("../../shell/warm.bash"),
    once: include_str!("../../shell/once.bash"),
    start: include_str!("../../shell/start.bash"),
    warm_loop: include_str!("../../shell/loop.bash"),
    once_line: include_str!("../../shell/line.bash"),
    // Only here can bash be asked for a DEBUG trap: a function cannot see it.
    warm_boot: concat!(
        r#"eval "$3"; eval "$4"; builtin set --; "#,
        r#"builtin trap -p DEBUG >|"$__sg_dir/debug"; __sg_ready; "#,
    ),
    once_boot: r#"eval "$3"; { eval "$4"; } >/dev/null 2>&1; builtin set --; "#,
};

const ZSH: Texts = Texts {
    common: include_str!("../../shell/common.zsh"),
    warm: include_str!("../../shell/warm.zsh"),
    once: include_str!("../../shell/once.zsh"),
    start: include_str!("../../shell/start.zsh"),
    warm_loop: include_str!("../../shell/loop.zsh"),
    once_line: include_str!("../../shell/line.zsh"),
    warm_boot: r#"emulate zsh +x -c "$3"; eval "$4"; builtin set --; __sg_ready; "#,
    once_boot: r#"emulate zsh +x -c "$3"; { eval "$4"; } >/dev/null 2>&1; builtin set --; "#,
};

const POSIX: Texts = Texts {
    common: include_str!("../../shell/common.sh"),
    warm: include_str!("../../shell/warm.sh"),
    once: include_str!("../../shell/once.sh"),
    start: include_str!("../../shell/start.sh"),
    warm_loop: include_str!("../../shell/loop.sh"),
    once_line: include_str!("../../shell/line.sh"),
    warm_boot: r#"eval "$3"; eval "$4"; set --; __sg_ready; "#,
    once_boot: r#"eval "$3"; { eval "$4"; } >/dev/null 2>&1; set --; "#,
};

/// How to start `shell` with our driver. `dir` is the session's directory, an
/// absolute path. A shell that is not [driven](ShellKind::is_driven) is taken for a POSIX shell;
/// where that is not safe, there is [`plain_argv`].
pub fn argv(shell: &Shell, startup: Startup, style: Style, dir: &Path) -> Argv {
    let argv = match shell.kind {
        ShellKind::Bash => {
            let flags: &[&str] = match startup {
                Startup::Login => &["--noprofile", "--norc", "-l"],
                _ => &["--noprofile", "--norc"],
            };
            arguments(shell, flags, &BASH, startup, style, dir)
        }
        ShellKind::Zsh => {
            let flags: &[&str] = match startup {
                Startup::Login => &["-f", "-l"],
                _ => &["-f"],
            };
            arguments(shell, flags, &ZSH, startup, style, dir)
        }
        ShellKind::Fish => fish_arguments(shell, startup, style, dir),
        ShellKind::Posix | ShellKind::Nu | ShellKind::Other => {
            arguments(shell, &[], &POSIX, startup, style, dir)
        }
    };
    let is_fish = shell.kind == ShellKind::Fish;
    Argv {
        program: shell.path.clone().into_bytes(),
        argv,
        stdin_is_control: is_fish,
        own_output_is_commands: is_fish && style == Style::Warm,
    }
}

/// The longest command that can be an argument, in bytes; the kernel allows
/// twice as much.
pub const PLAIN_BYTES_MAX: usize = 64 * 1024;

/// How to start `shell` for one command, without a driver: no state comes
/// back. This is all that a shell without a driver can do, and all that a
/// session of one command needs. Nothing may run before it is in the journal,
/// so it has to be started behind a gate.
pub fn plain_argv(shell: &Shell, command: &str) -> Argv {
    let words = [&shell.path, "-c", command];
    Argv {
        program: shell.path.clone().into_bytes(),
        argv: words.map(|word| word.as_bytes().to_vec()).into(),
        stdin_is_control: false,
        own_output_is_commands: false,
    }
}

/// The arguments of every shell but fish: the texts are arguments, so that the
/// shell parses the loop as its first line.
fn arguments(
    shell: &Shell,
    flags: &[&str],
    texts: &Texts,
    startup: Startup,
    style: Style,
    dir: &Path,
) -> Vec<Vec<u8>> {
    let (boot, functions, last) = match style {
        Style::Warm => (texts.warm_boot, texts.warm, texts.warm_loop),
        Style::Once => (texts.once_boot, texts.once, texts.once_line),
    };
    let last = one_line(last);
    let startup = match startup {
        Startup::Login => "login",
        Startup::Rc => "rc",
        Startup::Nothing => "none",
    };
    let mut argv = vec![name_of(shell)];
    argv.extend(flags.iter().map(|flag| flag.as_bytes().to_vec()));
    argv.extend([
        b"-c".to_vec(),
        format!("{boot}{last}").into_bytes(),
        name_of(shell),
        dir.as_os_str().as_bytes().to_vec(),
        startup.into(),
        format!("{}\n{functions}", texts.common).into_bytes(),
        texts.start.into(),
        last.into_bytes(),
    ]);
    argv
}

/// fish reads its start files itself, before our text: it cannot read them the
/// same way later.
fn fish_arguments(shell: &Shell, startup: Startup, style: Style, dir: &Path) -> Vec<Vec<u8>> {
    let common = include_str!("../../shell/common.fish");
    let functions = match style {
        Style::Warm => include_str!("../../shell/warm.fish"),
        Style::Once => include_str!("../../shell/once.fish"),
    };
    let mut argv = vec![name_of(shell)];
    match startup {
        Startup::Login => argv.push(b"--login".to_vec()),
        Startup::Rc => {}
        Startup::Nothing => argv.push(b"--no-config".to_vec()),
    }
    argv.extend([
        b"-c".to_vec(),
        format!("{common}\n{functions}").into_bytes(),
        dir.as_os_str().as_bytes().to_vec(),
        one_line(include_str!("../../shell/loop.fish")).into_bytes(),
    ]);
    argv
}

/// A text without its comments, on one line, so that the shell counts the
/// lines of a command from 1.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.join(" ")
}

/// The name that the shell is to call itself, as in its messages.
fn name_of(shell: &Shell) -> Vec<u8> {
    shell.path.rsplit('/').next().unwrap_or_default().into()
}
