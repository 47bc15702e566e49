//! Colours, only where they are wanted: `--color`, then `NO_COLOR`, then whether
//! somebody looks. What is said reads well without them.

use std::io::IsTerminal;
use std::sync::OnceLock;

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// Where a terminal shows them, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the command line says; set once, before anything is printed.
static ASKED: OnceLock<When> = OnceLock::new();

/// Notes what the command line says.
pub(crate) fn choose(when: When) {
    // Only the first word counts, and there is one.
    let _ = ASKED.set(when);
}

/// What one stream is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ink {
    is_coloured: bool,
}

impl Ink {
    /// Without colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Ink {
        Ink { is_coloured: false }
    }

    /// For a stream of ours.
    pub(crate) fn of(stream: &impl IsTerminal) -> Ink {
        let variable = |name: &str| std::env::var_os(name).map(|it| it.as_encoded_bytes().to_vec());
        let when = ASKED.get().copied().unwrap_or_default();
        Ink {
            is_coloured: decide(when, &variable, stream.is_terminal()),
        }
    }

    /// Whether there are colours.
    pub(crate) fn is_coloured(self) -> bool {
        self.is_coloured
    }

    /// Good.
    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// To be looked at.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Bad.
    pub(crate) fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Beside the point.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self.is_coloured {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

fn decide(when: When, variable: &dyn Fn(&str) -> Option<Vec<u8>>, is_terminal: bool) -> bool {
    let is_unwanted = || variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = || variable("TERM").is_some_and(|value| value == b"dumb");
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => is_terminal && !is_unwanted() && !is_dumb(),
    }
}

#[cfg(test)]
mod tests {
    use super::{When, decide};

    fn check(when: When, name: &str, value: &str, is_terminal: bool, expected: bool) {
        let variable = |asked: &str| (asked == name).then(|| value.as_bytes().to_vec());
        let decided = decide(when, &variable, is_terminal);
        assert_eq!(decided, expected, "{when:?} {name}={value} {is_terminal}");
    }

    #[test]
    fn colours_are_for_terminals_and_for_those_who_want_them() {
        check(When::Auto, "TERM", "xterm", true, true);
        check(When::Auto, "TERM", "xterm", false, false);
        check(When::Auto, "TERM", "dumb", true, false);
        check(When::Auto, "NO_COLOR", "1", true, false);
        // An empty one counts as absent: that is how the convention has it.
        check(When::Auto, "NO_COLOR", "", true, true);
        check(When::Always, "NO_COLOR", "1", false, true);
        check(When::Never, "TERM", "xterm", true, false);
    }
}
