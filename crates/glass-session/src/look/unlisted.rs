//! What is not told of among the processes inside a terminal multiplexer: what is
//! there in every pane, and programs that a setting names.

use glass_spawn::activity::{Running, Source};

/// Programs that wait in panes for somebody to type.
const SHELLS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "fish", "nu", "ksh", "pwsh", "tcsh",
];

/// Whether a process is left out. What the session itself started never is.
pub(super) fn is_unlisted(process: &Running, names: &[String]) -> bool {
    process.source != Source::Direct
        && (is_waiting_shell(&process.command)
            || names.iter().any(|name| is_called(&process.command, name)))
}

/// Whether it is a shell that executes neither a file nor a line.
fn is_waiting_shell(command: &str) -> bool {
    let is_option = |word: &str| word.starts_with('-') && word != "-c";
    let mut words = command.split(' ').skip(1);
    SHELLS.contains(&program(command)) && words.all(is_option)
}

/// Whether the program has this name, or one that begins so: there is a
/// `gitstatusd-linux-x86_64`.
fn is_called(command: &str, name: &str) -> bool {
    let rest = program(command).strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The name of the program: a login shell has a hyphen before it, and a server that
/// says what it does, as `sshd:`, a colon after it.
fn program(command: &str) -> &str {
    let word = command.split(' ').next().unwrap_or_default();
    let name = word.rsplit('/').next().unwrap_or_default();
    name.trim_start_matches('-').trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use super::is_unlisted;
    use glass_spawn::activity::{Running, Source};

    fn is_left_out(command: &str, source: Source) -> bool {
        let names = ["sleep", "gitstatusd", "sshd"].map(str::to_owned);
        let process = Running {
            pid: 7,
            command: command.to_owned(),
            source,
        };
        is_unlisted(&process, &names)
    }

    #[test]
    fn shells_and_what_is_named_are_left_out_inside_a_multiplexer() {
        for command in [
            "bash",
            "-zsh",
            "/usr/bin/fish -i",
            "sleep 5",
            "/opt/gitstatusd-linux-x86_64 -s -1",
            "sshd: me@pts/1",
        ] {
            assert!(is_left_out(command, Source::Tmux), "{command}");
            assert!(!is_left_out(command, Source::Direct), "{command}");
        }
    }

    #[test]
    fn what_a_shell_executes_is_a_command() {
        for command in ["bash build.sh", "sh -c make", "sleepy", "vim", ""] {
            assert!(!is_left_out(command, Source::Zellij), "{command}");
        }
    }
}
