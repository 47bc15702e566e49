//! Random choices that are the same in every run, and how shells are traced.

use glass_model::ShellKind;
use glass_policy::Command;
use std::collections::BTreeMap;

/// Numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// One of these.
    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Commands with their words, and how often each was called.
pub type Calls = BTreeMap<Vec<String>, usize>;

/// The calls that stubs wrote down: words end with US, calls with RS. A newline
/// is written as FS: shells write line by line, and pipelines run at once.
pub fn calls(text: &str) -> Calls {
    let mut calls = Calls::new();
    for call in text.split('\u{1e}').filter(|call| !call.is_empty()) {
        let words = call.strip_suffix('\u{1f}').unwrap().split('\u{1f}');
        *calls
            .entry(words.map(|word| word.replace('\u{1c}', "\n")).collect())
            .or_default() += 1;
    }
    calls
}

/// The calls that we say a line makes; none where it cannot be read.
pub fn claimed(line: &str, shell: ShellKind) -> Option<Calls> {
    let reading = Command::parse(line, shell).reading();
    if reading.parsing_failed || reading.has_command_substitution {
        return None;
    }
    let mut calls = Calls::new();
    for command in reading.executable_commands {
        let arguments = command.arguments.into_iter().map(|argument| argument.value);
        let words = std::iter::once(command.name).chain(arguments);
        *calls.entry(words.collect()).or_default() += 1;
    }
    Some(calls)
}
