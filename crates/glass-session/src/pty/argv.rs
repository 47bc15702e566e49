//! How an interactive shell is started that is not made to mark its commands, and
//! how every one is shown.

use glass_model::{Shell, ShellKind, Startup};

/// What an interactive shell is started with.
pub(super) fn argv(shell: &Shell, startup: Startup) -> Vec<Vec<u8>> {
    let flags: &[&str] = match (shell.kind, startup) {
        (ShellKind::Bash | ShellKind::Zsh | ShellKind::Posix, Startup::Login) => &["-l"],
        (ShellKind::Fish | ShellKind::Nu, Startup::Login) => &["--login"],
        (ShellKind::Bash, Startup::Nothing) => &["--noprofile", "--norc"],
        (ShellKind::Zsh, Startup::Nothing) => &["-f"],
        (ShellKind::Fish, Startup::Nothing) => &["--no-config"],
        (ShellKind::Nu, Startup::Nothing) => &["--no-config-file"],
        // A POSIX shell reads nothing more unless $ENV says so.
        (_, Startup::Rc) | (ShellKind::Posix | ShellKind::Other, _) => &[],
    };
    let words = std::iter::once(shell.path.as_str()).chain(flags.iter().copied());
    words.map(|word| word.as_bytes().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::argv;
    use glass_model::{Shell, ShellKind, Startup};

    #[test]
    fn a_shell_reads_the_start_files_that_were_asked_for() {
        let check = |name: &str, startup, expected: &[&str]| {
            let shell = Shell {
                kind: ShellKind::of_program(name),
                path: format!("/bin/{name}"),
            };
            let words = argv(&shell, startup);
            let flags: Vec<&str> = words[1..]
                .iter()
                .map(|word| std::str::from_utf8(word).expect("words are text"))
                .collect();
            assert_eq!(flags, expected, "{name} {startup:?}");
        };
        check("bash", Startup::Login, &["-l"]);
        check("bash", Startup::Rc, &[]);
        check("bash", Startup::Nothing, &["--noprofile", "--norc"]);
        check("zsh", Startup::Nothing, &["-f"]);
        check("fish", Startup::Login, &["--login"]);
        check("fish", Startup::Nothing, &["--no-config"]);
        check("dash", Startup::Login, &["-l"]);
        check("nu", Startup::Login, &["--login"]);
        check("nu", Startup::Nothing, &["--no-config-file"]);
        check("xonsh", Startup::Login, &[]);
    }
}
