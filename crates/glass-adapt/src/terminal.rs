//! Whether a command that failed did so because it has no terminal.
//!
//! Two witnesses: what it said last, and what it is. Both can be wrong, and so this
//! is a hint to whoever asks again and decides nothing.

/// What programs say that find no terminal, in lower case.
const COMPLAINTS: [&str; 20] = [
    "not a tty",
    "not a terminal",
    "isn't a tty",
    "isn't a terminal",
    "is not from a terminal",
    "output is not to a terminal",
    "must be run from a terminal",
    "must be run in a terminal",
    "must be a terminal",
    "requires a terminal",
    "requires a tty",
    "a terminal is required",
    "no tty present",
    "the input device is not a tty",
    "inappropriate ioctl for device",
    "term environment variable not set",
    "error opening terminal",
    "failed to open terminal",
    "cannot open /dev/tty",
    "open /dev/tty: no such device or address",
];

/// Programs that do nothing useful without one.
const FULL_SCREEN: [&str; 25] = [
    "alsamixer",
    "atop",
    "btop",
    "dialog",
    "fzf",
    "gitui",
    "htop",
    "k9s",
    "lazygit",
    "mc",
    "nano",
    "ncdu",
    "nmtui",
    "nvim",
    "pico",
    "ranger",
    "screen",
    "tig",
    "tmux",
    "vi",
    "view",
    "vim",
    "vimdiff",
    "whiptail",
    "zellij",
];

/// Words before a command that are not the command.
const BEFORE: [&str; 6] = ["command", "env", "exec", "nohup", "sudo", "time"];

/// Lines at the end of what it said that are looked at.
const LINES_MAX: usize = 20;

/// Whether a command that failed wants a terminal, by what it said last on standard
/// error.
pub fn is_wanted(command: &str, said: &[u8]) -> bool {
    complains(said) || is_full_screen(command)
}

fn complains(said: &[u8]) -> bool {
    let said = String::from_utf8_lossy(said).to_lowercase();
    let mut last = said.lines().rev().take(LINES_MAX);
    last.any(|line| COMPLAINTS.iter().any(|complaint| line.contains(complaint)))
}

/// Whether the first program of a plain command line is one that draws.
fn is_full_screen(command: &str) -> bool {
    let is_variable = |word: &&str| word.contains('=') && !word.starts_with('=');
    let mut words = command.split_ascii_whitespace();
    let program = words.find(|word| !is_variable(word) && !BEFORE.contains(word));
    let name = program.and_then(|program| program.rsplit('/').next());
    name.is_some_and(|name| FULL_SCREEN.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::is_wanted;

    #[test]
    fn what_complains_or_draws_wants_one() {
        for (command, said) in [
            (
                "sudo -A true",
                "sudo: a terminal is required to read the password\n",
            ),
            ("docker run -it x", "the input device is not a TTY\n"),
            (
                "tput cols",
                "tput: No value for $TERM\nTERM environment variable not set.\n",
            ),
            ("FOO=1 /usr/bin/vim notes.txt", ""),
            ("sudo htop", ""),
        ] {
            assert!(is_wanted(command, said.as_bytes()), "{command}");
        }
    }

    #[test]
    fn other_failures_do_not() {
        for (command, said) in [
            ("false", ""),
            ("grep vim file", ""),
            ("cargo test", "error: test failed\n"),
            ("", ""),
        ] {
            assert!(!is_wanted(command, said.as_bytes()), "{command}");
        }
        let long_ago = "not a tty\n".to_owned() + &"a line\n".repeat(100);
        assert!(!is_wanted("x", long_ago.as_bytes()));
    }
}
