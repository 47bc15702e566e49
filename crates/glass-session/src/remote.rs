//! What another host is sent for one command: a script for any POSIX shell, which
//! prepares our driver there, runs it and watches over it.

use crate::context::variable_name;
use crate::driver::{self, Encoded, Request, RequestError, Style};
use glass_model::{Shell, ShellKind, Startup};
use glass_remote::DIRECTORY;
use std::path::Path;

/// How either script comes to where the command is to be.
const ENTER: &str = include_str!("../shell/remote_enter.sh");

/// What the script does, once its variables and functions are there.
const SCRIPT: &str = include_str!("../shell/remote.sh");

/// The same for a command with a terminal.
const TERMINAL_SCRIPT: &str = include_str!("../shell/remote_terminal.sh");

/// A command for another host.
pub(crate) struct Errand<'a> {
    pub(crate) shell: &'a Shell,
    /// What the last command exported there; absent where none did yet.
    pub(crate) env: Option<&'a [Vec<u8>]>,
    /// Variables on top of what the other host gives, as `NAME=VALUE`.
    pub(crate) given: &'a [Vec<u8>],
    /// Where to run it, and whether it runs nowhere else.
    pub(crate) cwd: &'a str,
    pub(crate) is_strict: bool,
    /// Whether it reads what callers write. Then it runs without our driver, whose
    /// request has that place, and no state comes back.
    pub(crate) input: bool,
    pub(crate) request: Request<'a>,
}

impl Errand<'_> {
    /// The whole script. `id` is what the command's processes can be told by.
    pub(crate) fn script(&self, id: &str) -> Result<Vec<u8>, RequestError> {
        let directory = format!("{DIRECTORY}{id}");
        let dir = Path::new(&directory);
        let kind = self.shell.kind;
        let encoded = driver::encode_run(kind, dir, &self.request)?;
        let mut script = b"{\n".to_vec();
        let assignments: [(&str, &[u8]); 7] = [
            ("sg_id", id.as_bytes()),
            ("sg_dir", directory.as_bytes()),
            ("sg_seq", &self.request.seq.to_string().into_bytes()),
            ("sg_shell", self.shell.path.as_bytes()),
            ("sg_cwd", self.cwd.as_bytes()),
            ("sg_strict", if self.is_strict { b"y" } else { b"" }),
            ("sg_input", if self.input { b"y" } else { b"" }),
        ];
        for (name, value) in assignments {
            assign(&mut script, name, value);
        }
        self.variables(&mut script);
        files(&mut script, &encoded, self.request.seq);
        self.start(&mut script, dir);
        script.extend_from_slice(ENTER.as_bytes());
        script.extend_from_slice(SCRIPT.as_bytes());
        script.extend_from_slice(b"}\n");
        Ok(script)
    }

    /// What the other host is to run on a terminal: the script removes itself, and
    /// leaves a word only where `ssh` would leave the end in doubt. Its directory, and what
    /// its processes can be told by, are the relay's.
    pub(crate) fn terminal_script(&self) -> Vec<u8> {
        let mut script = Vec::new();
        let assignments: [(&str, &[u8]); 3] = [
            ("sg_shell", self.shell.path.as_bytes()),
            ("sg_cwd", self.cwd.as_bytes()),
            ("sg_strict", if self.is_strict { b"y" } else { b"" }),
        ];
        for (name, value) in assignments {
            assign(&mut script, name, value);
        }
        self.variables(&mut script);
        script.extend_from_slice(b"sg_start() {\n\"$sg_path\"");
        let argv = driver::plain_argv(self.shell, self.request.command);
        words(&mut script, self.quiet(), &argv.argv[1..]);
        script.extend_from_slice(b"\n}\n");
        script.extend_from_slice(ENTER.as_bytes());
        script.extend_from_slice(TERMINAL_SCRIPT.as_bytes());
        script
    }

    /// What keeps a shell from reading start files: that of a connection may,
    /// whatever it was asked to run.
    fn quiet(&self) -> &'static [&'static str] {
        match self.shell.kind {
            ShellKind::Bash => &["--norc"],
            ShellKind::Zsh => &["-f"],
            ShellKind::Fish => &["--no-config"],
            _ => &[],
        }
    }

    /// Gives the command's shell its variables: those that are known, and no others
    /// but what tells of this connection.
    fn variables(&self, script: &mut Vec<u8>) {
        script.extend_from_slice(b"sg_variables() {\n");
        if self.env.is_some() {
            script.extend_from_slice(FORGET.as_bytes());
        }
        let known = self.env.unwrap_or_default().iter();
        let known = known.filter(|entry| !is_of_connection(variable_name(entry)));
        let given = self.given.iter().filter(|_| self.env.is_none());
        let given = given.filter(|entry| !is_unheard_of(entry));
        let own = self.own_variables();
        for entry in known.chain(given).chain(&own) {
            let name = variable_name(entry);
            let is_name = std::str::from_utf8(name).is_ok_and(driver::is_name) && !is_script(name);
            if let Some(value) = entry.get(name.len() + 1..).filter(|_| is_name) {
                assign(script, &String::from_utf8_lossy(name), value);
                script.extend_from_slice(b"export ");
                script.extend_from_slice(name);
                script.push(b'\n');
            }
        }
        script.extend_from_slice(b":\n}\n");
    }

    /// The command's own, where no driver gives it those.
    fn own_variables(&self) -> Vec<Vec<u8>> {
        if !self.input {
            return Vec::new();
        }
        let call = ("SHELLGLASS_TOOL_CALL_ID", self.request.tool_call_id);
        let own = self.request.env.iter();
        let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
        let entry = |(name, value): (&str, &str)| format!("{name}={value}").into_bytes();
        own.chain([call]).map(entry).collect()
    }

    /// Becomes the shell with our driver, in a session of its own where the host can
    /// make one. Its process number is the session's.
    fn start(&self, script: &mut Vec<u8>, dir: &Path) {
        let argv = match self.input {
            true => driver::plain_argv(self.shell, self.request.command),
            false => driver::argv(self.shell, Startup::Nothing, Style::Once, dir),
        };
        script.extend_from_slice(
            b"sg_start() {\nexec sh -c 'printf \"%s\\n\" \"$$\" >\"$0/pid\"; exec \"$@\"' \
              \"$sg_dir\" ${sg_session:+\"$sg_session\"} \"$sg_path\"",
        );
        let quiet = if self.input { self.quiet() } else { &[] };
        words(script, quiet, &argv.argv[1..]);
        script.extend_from_slice(match argv.stdin_is_control {
            _ if self.input => b" 6>&-\n}\n".as_slice(),
            true => b" <\"$sg_dir/q\" 6>&- 9>/dev/null\n}\n",
            false => b" 8<\"$sg_dir/q\" 6>&- 9>/dev/null\n}\n",
        });
    }
}

/// Words of a command line: those that are ours as they are, and the others quoted.
fn words(script: &mut Vec<u8>, ours: &[&str], others: &[Vec<u8>]) {
    for word in ours {
        script.push(b' ');
        script.extend_from_slice(word.as_bytes());
    }
    for word in others {
        script.push(b' ');
        script.extend(driver::quote(ShellKind::Posix, word));
    }
}

/// Unsets every variable that is exported, but for those of the connection. A value
/// of several lines may look like a name that is none; unsetting that is harmless.
const FORGET: &str = "for sg_one in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do
case $sg_one in SSH_*|XDG_*|PWD|OLDPWD|_|SHLVL) ;; *) command unset \"$sg_one\" ;; esac
done\n";

/// Whether a name may be one of the script's own, which decide where and as what the
/// command runs.
pub(crate) fn is_script(name: &[u8]) -> bool {
    name.starts_with(b"sg_")
}

/// Whether a variable tells of the connection that it came over, and of no other.
fn is_of_connection(name: &[u8]) -> bool {
    name.starts_with(b"SSH_") || name.starts_with(b"XDG_") || name == b"SHELLGLASS_REMOTE_ID"
}

/// Stands in the environment of a session whose host has not told yet what it gives.
pub(crate) const UNHEARD_OF: &[u8] = b"SHELLGLASS_UNHEARD_OF=1";

/// Whether this says that the host has not told yet what it gives.
pub(crate) fn is_unheard_of(entry: &[u8]) -> bool {
    entry == UNHEARD_OF
}

fn assign(script: &mut Vec<u8>, name: &str, value: &[u8]) {
    script.extend_from_slice(name.as_bytes());
    script.push(b'=');
    script.extend(driver::quote(ShellKind::Posix, value));
    script.push(b'\n');
}

/// Writes the request, and the command where it is too long for that.
fn files(script: &mut Vec<u8>, encoded: &Encoded, seq: u64) {
    script.extend_from_slice(b"sg_files() {\nprintf ");
    script.extend(driver::quote(
        ShellKind::Posix,
        &format_of(&encoded.message),
    ));
    script.extend_from_slice(b" >\"$sg_dir/q\"");
    if let Some(text) = &encoded.file {
        script.extend_from_slice(b" && printf %s ");
        script.extend(driver::quote(ShellKind::Posix, text));
        script.extend_from_slice(format!(" >\"$sg_dir/{}\"", driver::command_name(seq)).as_bytes());
    }
    script.extend_from_slice(b"\n}\n");
}

/// The format with which `printf` writes these bytes; a shell cannot hold a NUL.
fn format_of(bytes: &[u8]) -> Vec<u8> {
    let mut format = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            0 => format.extend_from_slice(b"\\000"),
            b'\\' => format.extend_from_slice(b"\\\\"),
            b'%' => format.extend_from_slice(b"%%"),
            byte => format.push(byte),
        }
    }
    format
}

/// What a terminal elsewhere begins with, where it is to begin in a directory. Every
/// login shell must read it alike, so not every directory can be said.
pub(crate) fn terminal_command(directory: &str) -> Option<String> {
    let is_plain = |c: char| !c.is_control() && !matches!(c, '\'' | '\\' | '!');
    directory
        .chars()
        .all(is_plain)
        .then(|| format!("cd -- '{directory}' && exec \"$SHELL\" -l"))
}
