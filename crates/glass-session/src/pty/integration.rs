//! How an interactive shell comes to tell us what it does: a script that it
//! reads when it starts, beside the user's own files and without a trace in
//! them or in the environment.
//!
//! The nonce that its markers carry is in a file that the script removes; in the
//! shell it is a variable that is never exported.

use super::nu::quote as nu_quote;
use crate::context::{make_private, set_variable, variable_name};
use crate::driver::quote;
use crate::habits::Habits;
use glass_model::{Session, Shell, ShellKind, Startup};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

const BASH: &str = include_str!("../../shell/terminal.bash");
const ZSH: &str = include_str!("../../shell/terminal.zsh");
const ZSHENV: &str = include_str!("../../shell/terminal.zshenv");
const FISH: &str = include_str!("../../shell/terminal.fish");
const NU: &str = include_str!("../../shell/terminal.nu");

/// Where a terminal's script is, and where commands are handed over.
pub(super) const ROOM: &str = "terminal";

/// Why a session's shell is not made to mark its commands; none where it is.
pub(super) fn silence(session: &Session, habits: &Habits) -> Option<&'static str> {
    match session.is_elsewhere() {
        true => Some("the shell is on another host"),
        false => habits.silence(&session.shell),
    }
}

/// What a shell with integration is started with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Injected {
    pub(super) argv: Vec<Vec<u8>>,
    pub(super) env: Vec<Vec<u8>>,
}

/// Writes the script into `dir` and says how the shell comes to read it. The
/// shell must be one of which there is no [`silence`].
pub(super) fn inject(
    shell: &Shell,
    startup: Startup,
    dir: &Path,
    nonce: &str,
    mut env: Vec<Vec<u8>>,
) -> std::io::Result<Injected> {
    make_private(dir)?;
    let mut words: Vec<Vec<u8>> = vec![shell.path.clone().into_bytes()];
    let mut word = |text: &str| words.push(text.as_bytes().to_vec());
    let startup_name = name(startup);
    match shell.kind {
        ShellKind::Bash => {
            let file = dir.join("start.bash");
            let head = posix_head(&file, dir, nonce, startup_name, "__glass");
            write_script(&file, &[&head, BASH.as_bytes()])?;
            if startup == Startup::Rc {
                word("--init-file");
                words.push(file.as_os_str().as_bytes().to_vec());
            } else {
                // In POSIX mode a shell reads $ENV and nothing else; the script
                // leaves that mode at once.
                word(if startup == Startup::Login {
                    "-l"
                } else {
                    "--norc"
                });
                words.insert(1, b"--posix".to_vec());
                hide(&mut env, "ENV", "SHELLGLASS_ENV");
                set_bytes(&mut env, "ENV", file.as_os_str().as_bytes());
                keep_history(&mut env);
            }
        }
        ShellKind::Zsh => {
            let home = dir.join("zsh");
            make_private(&home)?;
            let file = home.join(".zshenv");
            let head = posix_head(&file, dir, nonce, startup_name, "_glass");
            let parts = [&head, ZDOTDIR.as_bytes(), ZSH.as_bytes(), ZSHENV.as_bytes()];
            write_script(&file, &parts)?;
            hide(&mut env, "ZDOTDIR", "SHELLGLASS_ZDOTDIR");
            set_bytes(&mut env, "ZDOTDIR", home.as_os_str().as_bytes());
            if startup == Startup::Login {
                word("-l");
            }
        }
        ShellKind::Nu => {
            let file = dir.join("start.nu");
            write_script(&file, &[&nu_head(&file, dir, nonce), NU.as_bytes()])?;
            match startup {
                Startup::Login => word("--login"),
                Startup::Nothing => word("--no-config-file"),
                Startup::Rc => {}
            }
            word("--execute");
            let path = nu_quote(file.as_os_str().as_bytes());
            words.push([b"source ".to_vec(), path].concat());
        }
        _ => {
            let file = dir.join("start.fish");
            write_script(&file, &[&fish_head(&file, dir, nonce), FISH.as_bytes()])?;
            match startup {
                Startup::Login => word("--login"),
                Startup::Nothing => word("--no-config"),
                Startup::Rc => {}
            }
            word("--init-command");
            let path = quote(ShellKind::Fish, file.as_os_str().as_bytes());
            words.push([b"source ".to_vec(), path].concat());
        }
    }
    Ok(Injected { argv: words, env })
}

/// Gives the user's own `ZDOTDIR` back before anything of theirs is read.
const ZDOTDIR: &str = r#"if [[ -n "${SHELLGLASS_ZDOTDIR+x}" ]]; then
  'builtin' 'export' ZDOTDIR="$SHELLGLASS_ZDOTDIR"
  'builtin' 'unset' SHELLGLASS_ZDOTDIR
else
  'builtin' 'unset' ZDOTDIR
fi
"#;

/// Removes what may still be there of the script: whoever reads it later would
/// know the nonce.
pub(super) fn remove_scripts(dir: &Path) {
    for name in ["start.bash", "zsh/.zshenv", "start.fish", "start.nu"] {
        // The script has removed itself, as a rule.
        drop(std::fs::remove_file(dir.join(name)));
    }
    remove_folder(dir);
}

/// Removes the folder that zsh was told of, once it has read what was there. Says
/// whether it is gone.
pub(super) fn remove_folder(dir: &Path) -> bool {
    match std::fs::remove_dir(dir.join("zsh")) {
        Ok(()) => true,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn name(startup: Startup) -> &'static str {
    match startup {
        Startup::Login => "login",
        Startup::Rc => "rc",
        Startup::Nothing => "none",
    }
}

fn posix_head(file: &Path, dir: &Path, nonce: &str, startup: &str, prefix: &str) -> Vec<u8> {
    let quoted = |path: &Path| quote(ShellKind::Posix, path.as_os_str().as_bytes());
    let mut head = Vec::new();
    head.extend_from_slice(b"'command' 'rm' '-f' '--' ");
    head.extend(quoted(file));
    head.extend_from_slice(
        format!("\n{prefix}_nonce={nonce}\n{prefix}_startup={startup}\n").as_bytes(),
    );
    head.extend_from_slice(format!("{prefix}_dir=").as_bytes());
    head.extend(quoted(dir));
    head.push(b'\n');
    head
}

fn fish_head(file: &Path, dir: &Path, nonce: &str) -> Vec<u8> {
    let quoted = |path: &Path| quote(ShellKind::Fish, path.as_os_str().as_bytes());
    let mut head = format!("set -g __glass_nonce {nonce}\nset -g __glass_dir ").into_bytes();
    head.extend(quoted(dir));
    head.extend_from_slice(b"\ncommand rm -f -- ");
    head.extend(quoted(file));
    head.push(b'\n');
    head
}

fn nu_head(file: &Path, dir: &Path, nonce: &str) -> Vec<u8> {
    let quoted = |path: &Path| nu_quote(path.as_os_str().as_bytes());
    // Not nu's own `rm`, which may be told to keep what it removes.
    let mut head = b"^rm -f -- ".to_vec();
    head.extend(quoted(file));
    head.extend(format!("\nconst __glass_nonce = \"{nonce}\"\n").into_bytes());
    head.extend_from_slice(b"const __glass_dir = ");
    head.extend(quoted(dir));
    head.push(b'\n');
    head
}

pub(super) fn write_script(path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    // A restarted attempt may have left one.
    drop(std::fs::remove_file(path));
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))
}

fn value<'a>(env: &'a [Vec<u8>], name: &str) -> Option<&'a [u8]> {
    let entry = env
        .iter()
        .find(|entry| variable_name(entry) == name.as_bytes())?;
    entry.get(name.len() + 1..)
}

fn set_bytes(env: &mut Vec<Vec<u8>>, name: &str, value: &[u8]) {
    env.retain(|entry| variable_name(entry) != name.as_bytes());
    env.push([name.as_bytes(), b"=", value].concat());
}

/// Keeps a variable under another name, for the script to put it back.
fn hide(env: &mut Vec<Vec<u8>>, name: &str, other: &str) {
    match value(env, name).map(<[u8]>::to_vec) {
        Some(value) => set_bytes(env, other, &value),
        None => env.retain(|entry| variable_name(entry) != other.as_bytes()),
    }
}

/// A shell that starts in POSIX mode would write its history elsewhere.
fn keep_history(env: &mut Vec<Vec<u8>>) {
    if value(env, "HISTFILE").is_some() {
        return;
    }
    if let Some(home) = value(env, "HOME").map(<[u8]>::to_vec) {
        set_bytes(env, "HISTFILE", &[&home[..], b"/.bash_history"].concat());
        set_variable(env, "SHELLGLASS_HISTFILE", "1");
    }
}

#[cfg(test)]
mod tests {
    use super::{hide, inject, keep_history, remove_scripts, value};
    use glass_model::{Shell, ShellKind, Startup};

    fn env(entries: &[&str]) -> Vec<Vec<u8>> {
        let bytes = |entry: &&str| entry.as_bytes().to_vec();
        entries.iter().map(bytes).collect()
    }

    #[test]
    fn what_the_user_has_set_is_kept_for_the_script() {
        let mut set = env(&["ENV=/a b", "X=1"]);
        hide(&mut set, "ENV", "SHELLGLASS_ENV");
        assert_eq!(value(&set, "SHELLGLASS_ENV"), Some(&b"/a b"[..]));
        let mut unset = env(&["SHELLGLASS_ENV=stale"]);
        hide(&mut unset, "ENV", "SHELLGLASS_ENV");
        assert_eq!(value(&unset, "SHELLGLASS_ENV"), None);
        let mut own = env(&["HOME=/h", "HISTFILE=/x"]);
        keep_history(&mut own);
        assert_eq!(value(&own, "HISTFILE"), Some(&b"/x"[..]));
        assert_eq!(value(&own, "SHELLGLASS_HISTFILE"), None);
    }

    #[test]
    fn the_nonce_is_in_no_argument_and_no_variable() {
        let dir = tempfile::tempdir().expect("a directory");
        for (kind, path) in [
            (ShellKind::Bash, "/bin/bash"),
            (ShellKind::Zsh, "/bin/zsh"),
            (ShellKind::Fish, "/bin/fish"),
            (ShellKind::Nu, "/bin/nu"),
        ] {
            for startup in [Startup::Login, Startup::Rc, Startup::Nothing] {
                let shell = Shell {
                    kind,
                    path: path.to_owned(),
                };
                let room = dir.path().join("it's here");
                let injected = inject(&shell, startup, &room, "secretsecretsecret", env(&["A=1"]));
                let injected = injected.expect("the directory can be written");
                let all = [injected.argv.concat(), injected.env.concat()].concat();
                let all = String::from_utf8_lossy(&all).into_owned();
                assert!(!all.contains("secretsecret"), "{all}");
                remove_scripts(&room);
                assert!(!room.join("start.bash").exists());
            }
        }
    }
}
