//! Finding shells on this machine.

use glass_model::{Shell, ShellKind};
use rustix::fs::{Access, AtFlags, CWD};
use std::path::Path;

/// Shells that are offered when nothing else is asked for, best first.
const KNOWN: [&str; 6] = ["bash", "zsh", "fish", "nu", "dash", "sh"];

/// A shell that is not there.
#[derive(Debug, thiserror::Error)]
#[error("there is no shell '{name}' on this machine")]
pub struct NoShell {
    /// What was asked for.
    pub name: String,
}

/// The shell of this name or path; without one `$SHELL`, then bash, then sh.
pub(crate) fn find(asked: &str, env: &[Vec<u8>]) -> Result<Shell, NoShell> {
    if !asked.is_empty() {
        return locate(asked, env).ok_or_else(|| NoShell {
            name: asked.to_owned(),
        });
    }
    let from_env = variable(env, "SHELL").unwrap_or_default();
    [from_env.as_str(), "bash", "sh"]
        .into_iter()
        .filter(|name| !name.is_empty())
        .find_map(|name| locate(name, env))
        .ok_or_else(|| NoShell {
            name: "sh".to_owned(),
        })
}

/// The shells that this machine has, by path.
pub(crate) fn all(env: &[Vec<u8>]) -> Vec<Shell> {
    KNOWN.iter().filter_map(|name| locate(name, env)).collect()
}

fn locate(name: &str, env: &[Vec<u8>]) -> Option<Shell> {
    let kind_of = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        ShellKind::of_program(name)
    };
    if name.contains('/') {
        let usable = name.starts_with('/') && executable(name);
        return usable.then(|| Shell {
            kind: kind_of(name),
            path: name.to_owned(),
        });
    }
    let path = variable(env, "PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    path.split(':')
        .filter(|dir| dir.starts_with('/'))
        .map(|dir| format!("{dir}/{name}"))
        .find(|candidate| executable(candidate))
        .map(|path| Shell {
            kind: kind_of(&path),
            path,
        })
}

fn executable(path: &str) -> bool {
    Path::new(path).is_file()
        && rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// The value of a variable in an environment, if it is text.
pub(crate) fn variable(env: &[Vec<u8>], name: &str) -> Option<String> {
    let found = env
        .iter()
        .rev()
        .find(|entry| crate::context::variable_name(entry) == name.as_bytes())?;
    String::from_utf8(found[name.len() + 1..].to_vec()).ok()
}
