//! Names of signals, as Linux numbers them on the platforms that we build for.

/// Signals by number, from 1 on.
const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// The largest signal number there is.
const SIGNAL_MAX: i32 = 64;

/// The name of a signal; `SIG34` where it has none.
pub fn signal_name(number: i32) -> String {
    let known = usize::try_from(number)
        .ok()
        .and_then(|n| NAMES.get(n.checked_sub(1)?));
    match known {
        Some(name) => (*name).to_owned(),
        None => format!("SIG{number}"),
    }
}

/// The signal that a shell means with this exit code: 128 + n, for an n that
/// is a signal whose default is to end the process. Codes such as 255 are not.
pub fn signal_of_exit_code(code: i32) -> Option<i32> {
    let number = code - 128;
    let ends_a_process = (1..=SIGNAL_MAX).contains(&number)
        && !matches!(number, 17 | 18 | 19 | 20 | 21 | 22 | 23 | 28);
    ends_a_process.then_some(number)
}

/// Whether the kernel writes a core dump for this signal, where it may.
pub fn core_dump_possible(number: i32) -> bool {
    matches!(number, 3 | 4 | 5 | 6 | 7 | 8 | 11 | 24 | 25 | 31)
}

#[cfg(test)]
mod tests {
    use super::{core_dump_possible, signal_name, signal_of_exit_code};

    #[test]
    fn codes_above_128_name_their_signal() {
        assert_eq!(
            signal_of_exit_code(137).map(signal_name).as_deref(),
            Some("SIGKILL")
        );
        assert_eq!(signal_of_exit_code(139).map(core_dump_possible), Some(true));
        for plain in [0, 1, 127, 128, 255, 145] {
            assert_eq!(signal_of_exit_code(plain), None, "{plain}");
        }
        assert_eq!(signal_name(40), "SIG40");
        assert_eq!(signal_name(0), "SIG0");
    }
}
