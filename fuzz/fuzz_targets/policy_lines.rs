//! Command lines: any text, in any of the languages that are read.
#![no_main]

use glass_model::{ShellKind, Verdict};
use glass_policy::{Command, RuleSet, decide, limits, prefix_of, text};
use libfuzzer_sys::fuzz_target;

// The first byte chooses the shell.
fuzz_target!(|input: &[u8]| {
    let Some((shell, bytes)) = input.split_first() else {
        return;
    };
    let Ok(line) = std::str::from_utf8(bytes) else {
        return;
    };
    let shell = match shell % 3 {
        0 => ShellKind::Bash,
        1 => ShellKind::Zsh,
        _ => ShellKind::Posix,
    };
    let command = Command::parse(line, shell);
    let reading = command.reading();
    assert!(reading.simple_commands.len() <= limits::COMMANDS_MAX);
    let decision = decide(&command, &RuleSet::new());
    assert!(decision.reasons.len() <= limits::REASONS_MAX);
    if decision.verdict == Verdict::Allow {
        assert!(!reading.parsing_failed && !reading.has_command_substitution);
        assert!(command.line().obstacles.is_empty());
        assert_eq!(text::first_oddity(line), None);
    }
    // Reading is bounded work, whatever stands there; one leap may go beyond.
    let leap = limits::LINE_BYTES_MAX as u32 / 16 + 1;
    assert!(command.steps() <= 2 * (limits::STEPS_MAX + leap));
    for simple in &command.line().commands {
        let prefix = prefix_of(&simple.words).unwrap_or_default();
        assert!(prefix.len() <= limits::PREFIX_WORDS_MAX);
        assert!(decision.would_allow.iter().all(|prefix| !prefix.is_empty()));
    }
});
