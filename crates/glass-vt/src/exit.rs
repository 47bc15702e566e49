//! How a command ended, in words.
//!
//! The words say what is known and nothing more. The exit code is repeated as
//! it is, never replaced.

use std::fmt::Write as _;

/// What is known of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit<'a> {
    /// The exit code, where it is known.
    pub code: Option<i32>,
    /// The signal that ended it, also where a shell said 128 + n.
    pub signal: Option<ExitSignal<'a>>,
    /// What ended it from outside, if anything did.
    pub cause: Cause<'a>,
    /// What the sandbox refused while it ran.
    pub denials: &'a [String],
    /// Whether it failed for want of a terminal.
    pub wants_terminal: bool,
}

/// A signal that ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitSignal<'a> {
    /// Its number.
    pub number: i32,
    /// Its name, such as `SIGSEGV`.
    pub name: &'a str,
    /// Whether the kernel writes a core dump for it, where it may.
    pub core_dump_possible: bool,
}

/// What ended a command from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause<'a> {
    /// Nothing did.
    #[default]
    Itself,
    /// Its time ran out.
    Timeout,
    /// Somebody cancelled it.
    Cancelled,
    /// The kernel killed it for want of memory.
    OutOfMemory,
    /// It never ran, for this reason.
    NeverRan(&'a str),
}

/// Denials that are named; more are counted.
const DENIALS_NAMED_MAX: usize = 5;

/// One line about an end.
pub fn explain(exit: &Exit<'_>) -> String {
    let mut text = match exit.code {
        Some(code) => format!("exit code {code}"),
        None => "exit code unknown".to_owned(),
    };
    let reason = match exit.cause {
        Cause::Timeout => Some("its time ran out and it was ended".to_owned()),
        Cause::Cancelled => Some("it was cancelled".to_owned()),
        Cause::OutOfMemory => Some("the kernel killed it: out of memory".to_owned()),
        Cause::NeverRan(reason) => Some(format!("it did not run: {reason}")),
        Cause::Itself => exit.signal.map(of_signal).or_else(|| of_code(exit.code)),
    };
    if let Some(reason) = reason {
        text.push_str(": ");
        text.push_str(&reason);
    }
    add_denials(exit.denials, &mut text);
    if exit.wants_terminal {
        text.push_str("; it wants a terminal, which it has when it is run with tty");
    }
    text
}

fn of_signal(signal: ExitSignal<'_>) -> String {
    let ExitSignal { number, name, .. } = signal;
    let mut text = format!("ended by {name} (signal {number})");
    let meaning = match number {
        4 => "it executed an illegal instruction",
        6 => "it aborted itself",
        7 | 11 => "it used memory that is not its own",
        8 => "it calculated what cannot be, such as a division by zero",
        9 => "somebody killed it, or the kernel did for want of memory",
        13 => "nobody read what it wrote",
        24 => "it used up its CPU time",
        25 => "a file became too large",
        31 => "it made a system call that is not allowed",
        _ => "",
    };
    if !meaning.is_empty() {
        text.push_str(", ");
        text.push_str(meaning);
    }
    if signal.core_dump_possible {
        text.push_str("; a core dump is possible");
    }
    text
}

/// What shells mean with a code of their own. A command can use these codes
/// too, so the words are careful.
fn of_code(code: Option<i32>) -> Option<String> {
    let meaning = match code? {
        126 => "a command was found that could not be executed",
        127 => "a command was not found",
        _ => return None,
    };
    Some(format!("usually, {meaning}"))
}

fn add_denials(denials: &[String], text: &mut String) {
    if denials.is_empty() {
        return;
    }
    let named = &denials[..denials.len().min(DENIALS_NAMED_MAX)];
    text.push_str("; the sandbox denied ");
    text.push_str(&named.join(", "));
    let more = denials.len() - named.len();
    if more > 0 {
        write!(text, " and {more} more").expect("a String takes everything");
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, Exit, ExitSignal, explain};

    fn check(exit: Exit<'_>, expected: &str) {
        assert_eq!(explain(&exit), expected);
    }

    fn code(code: i32) -> Exit<'static> {
        Exit {
            code: Some(code),
            ..Exit::default()
        }
    }

    fn signal(number: i32, name: &str, core_dump_possible: bool) -> Option<ExitSignal<'_>> {
        Some(ExitSignal {
            number,
            name,
            core_dump_possible,
        })
    }

    #[test]
    fn plain_codes_stand_for_themselves() {
        check(code(0), "exit code 0");
        check(code(2), "exit code 2");
        check(Exit::default(), "exit code unknown");
    }

    #[test]
    fn codes_of_the_shell_are_explained() {
        check(code(127), "exit code 127: usually, a command was not found");
        check(
            code(126),
            "exit code 126: usually, a command was found that could not be executed",
        );
    }

    #[test]
    fn signals_are_named() {
        let crash = Exit {
            signal: signal(11, "SIGSEGV", true),
            ..code(139)
        };
        check(
            crash,
            "exit code 139: ended by SIGSEGV (signal 11), it used memory that is not its own; \
             a core dump is possible",
        );
        let term = Exit {
            signal: signal(15, "SIGTERM", false),
            ..code(143)
        };
        check(term, "exit code 143: ended by SIGTERM (signal 15)");
    }

    #[test]
    fn what_ended_it_from_outside_comes_first() {
        let killed = Exit {
            signal: signal(9, "SIGKILL", false),
            cause: Cause::Timeout,
            ..code(137)
        };
        check(killed, "exit code 137: its time ran out and it was ended");
        let memory = Exit {
            cause: Cause::OutOfMemory,
            ..killed
        };
        check(memory, "exit code 137: the kernel killed it: out of memory");
        let never = Exit {
            cause: Cause::NeverRan("no such directory"),
            ..Exit::default()
        };
        check(
            never,
            "exit code unknown: it did not run: no such directory",
        );
    }

    #[test]
    fn denials_are_named_up_to_a_few() {
        let denials: Vec<String> = (0..7).map(|n| format!("writing /{n}")).collect();
        let exit = Exit {
            denials: &denials,
            ..code(1)
        };
        check(
            exit,
            "exit code 1; the sandbox denied writing /0, writing /1, writing /2, writing /3, \
             writing /4 and 2 more",
        );
    }
}
