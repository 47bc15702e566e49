//! Every bound is one: what exceeds it is refused or asked about, and what
//! reaches it is not.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

#[path = "common/hostile.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod hostile;
#[path = "common/random.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod random;

use glass_model::{Decision, ShellKind, Verdict};
use glass_policy::limits::{
    COMMANDS_MAX, LINE_BYTES_MAX, NESTING_MAX, PREFIX_WORDS_MAX, PROVABLE_BYTES_MAX, REASONS_MAX,
    RULES_BYTES_MAX, RULES_MAX, STEPS_MAX, WRAPPERS_MAX,
};
use glass_policy::{Command, RuleFile, RuleSet, RulesError, decide, decide_known, prefix_of};

/// Hostile lines that are put together at random, the same in every run.
const MIXTURES: usize = 40;

fn command(line: &str) -> Command {
    Command::parse(line, ShellKind::Bash)
}

fn decided(line: &str) -> Decision {
    decide(&command(line), &RuleSet::new())
}

fn failure(line: &str) -> Option<&'static str> {
    command(line).line().failure
}

/// `echo` with an argument that makes the line so long.
fn echo(bytes: usize) -> String {
    let start = "echo ";
    format!("{start}{}", "x".repeat(bytes - start.len()))
}

#[test]
fn a_line_is_read_up_to_its_longest_and_allowed_up_to_less() {
    for (bytes, is_read, verdict) in [
        (PROVABLE_BYTES_MAX, true, Verdict::Allow),
        (PROVABLE_BYTES_MAX + 1, true, Verdict::Ask),
        (LINE_BYTES_MAX, true, Verdict::Ask),
        (LINE_BYTES_MAX + 1, false, Verdict::Ask),
    ] {
        let line = echo(bytes);
        assert_eq!(failure(&line).is_none(), is_read, "{bytes}");
        assert_eq!(decided(&line).verdict, verdict, "{bytes}");
    }
}

#[test]
fn nesting_has_an_end() {
    for (open, close) in [
        ("( ", " )"),
        ("$( ", " )"),
        ("{ ", "; }"),
        ("if ", "; then x; fi"),
    ] {
        let nested = |deep: usize| format!("{}ls{}", open.repeat(deep), close.repeat(deep));
        assert_eq!(failure(&nested(NESTING_MAX)), None, "{open}");
        let why = failure(&nested(NESTING_MAX + 1));
        assert_eq!(why, Some("it is nested too deeply"), "{open}");
        let decision = decided(&nested(NESTING_MAX + 1));
        assert_ne!(decision.verdict, Verdict::Allow, "{open}");
    }
}

#[test]
fn a_line_has_only_so_many_commands() {
    let most = "ls;".repeat(COMMANDS_MAX);
    assert_eq!(command(&most).reading().simple_commands.len(), COMMANDS_MAX);
    assert_eq!(failure(&most), None);
    let more = "ls;".repeat(COMMANDS_MAX + 1);
    assert_eq!(failure(&more), Some("it has too many commands"));
    assert_eq!(command(&more).reading().simple_commands.len(), COMMANDS_MAX);
    assert_eq!(decided(&more).verdict, Verdict::Ask);
}

#[test]
fn wrappers_are_seen_through_so_deeply_and_allowed_no_deeper() {
    let wrapped = |deep: usize| format!("{}ls", "nice ".repeat(deep));
    let deadly = |deep: usize| format!("{}rm -rf /", "env ".repeat(deep));
    assert_eq!(decided(&deadly(WRAPPERS_MAX)).verdict, Verdict::Deny);
    // Where nobody looks any more, nothing is allowed.
    assert_eq!(decided(&deadly(WRAPPERS_MAX + 1)).verdict, Verdict::Ask);
    assert_eq!(decided(&wrapped(WRAPPERS_MAX + 2)).verdict, Verdict::Ask);
}

#[test]
fn a_decision_has_only_so_many_reasons_and_the_strictest_are_among_them() {
    let mut line: String = (0..REASONS_MAX * 2).map(|n| format!("tool{n}; ")).collect();
    assert_eq!(decided(&line).reasons.len(), REASONS_MAX);
    line += "rm -rf /";
    let decision = decided(&line);
    assert_eq!(decision.reasons.len(), REASONS_MAX);
    assert_eq!(decision.verdict, Verdict::Deny);
    assert_eq!(decision.reasons[0].verdict, Verdict::Deny);
}

#[test]
fn a_rules_file_has_only_so_many_rules_and_bytes() {
    let rule = "[[rule]]\nprefix = [\"a\"]\ndecision = \"ask\"\n";
    let most = RuleFile::parse_unchecked(&rule.repeat(RULES_MAX)).unwrap();
    assert_eq!(most.rules.len(), RULES_MAX);
    let padding = |bytes: usize| format!("#{}\n", "x".repeat(bytes - 2));
    RuleFile::parse_unchecked(&padding(RULES_BYTES_MAX)).unwrap();
    for text in [rule.repeat(RULES_MAX + 1), padding(RULES_BYTES_MAX + 1)] {
        let tried = RuleFile::parse_unchecked(&text);
        assert!(matches!(tried, Err(RulesError::TooLarge)));
    }
    let configuration = padding(RULES_BYTES_MAX + 1);
    let tried = RuleFile::of_configuration(&configuration);
    assert!(matches!(tried, Err(RulesError::TooLarge)));
}

#[test]
fn a_prefix_has_only_so_many_words() {
    for line in [
        "npm run a b c d e f",
        "git remote add x y z",
        "tool a b c d e f",
    ] {
        let command = command(line);
        let words = &command.line().commands[0].words;
        let prefix = prefix_of(words).unwrap();
        assert!((1..=PREFIX_WORDS_MAX).contains(&prefix.len()), "{prefix:?}");
    }
}

/// The work that one line may be: twice the steps, each with one leap beyond.
const WORK_MAX: u32 = 2 * (STEPS_MAX + LINE_BYTES_MAX as u32 / 16 + 1);

/// Reads the longest hostile line, and says how much work that was.
fn work(line: &str) -> u32 {
    assert!(line.len() <= LINE_BYTES_MAX);
    let command = command(line);
    let steps = command.steps();
    assert!(
        steps <= WORK_MAX,
        "{steps} steps: {:?}",
        &line[..line.len().min(80)]
    );
    let reading = command.reading();
    assert!(reading.simple_commands.len() <= COMMANDS_MAX);
    let decision = decide(&command, &RuleSet::new());
    assert_ne!(decision.verdict, Verdict::Allow);
    assert!(decision.reasons.len() <= REASONS_MAX);
    steps
}

/// Each `((` is read as arithmetic first and then, when it turns out to be none,
/// as two subshells, with the substitution in it: each level doubles the work.
fn doubled(levels: usize, words: usize) -> String {
    let (open, close) = ("(( $( ".repeat(levels), " ) ) )".repeat(levels));
    format!("{open}ls {}{close}", "x ".repeat(words))
}

/// As many as nesting allows.
const LEVELS: usize = NESTING_MAX / 3;

#[test]
fn a_line_that_takes_too_many_steps_is_not_read() {
    assert_eq!(failure(&doubled(2, 1000)), None);
    let line = doubled(LEVELS, 30_000);
    assert!(work(&line) > STEPS_MAX, "the bound is what bounds it");
    assert!(failure(&line).is_some());
    assert_eq!(decided(&line).verdict, Verdict::Ask);
}

#[test]
fn the_longest_hostile_lines_are_bounded_work() {
    for (unit, tail) in hostile::UNITS.iter().zip(hostile::TAILS.iter().cycle()) {
        work(&hostile::line(unit, tail, LINE_BYTES_MAX));
    }
    let mut random = random::Random(0x5eed_4321_abcd_0003);
    for _ in 0..MIXTURES {
        work(&hostile::mixture(LINE_BYTES_MAX, |end| random.below(end)));
    }
}

#[test]
fn scripts_of_one_line_are_bounded_together() {
    // Each is little enough by itself.
    let script = doubled(LEVELS, 400);
    assert!(command(&script).steps() < STEPS_MAX);
    let line = format!("sh -c '{script}'; ").repeat(60);
    assert!(work(&line) > STEPS_MAX, "the bound is what bounds them");
}

#[test]
fn nothing_hides_behind_what_is_hard_to_read() {
    let script = doubled(LEVELS, 400);
    let hard = format!("sh -c '{script}'; ").repeat(60);
    let hidden = command(&format!("{hard}sh -c 'rm -rf ~'"));
    assert!(!hidden.is_seen_whole());
    let decision = decide_known(&hidden, &RuleSet::new());
    assert_eq!(decision.verdict, Verdict::Deny);
    let many = command(&format!("{}rm -rf /", "true;".repeat(3000)));
    assert!(!many.is_seen_whole(), "more than is looked at");
    assert!(command("sh -c 'ls; pwd' && make").is_seen_whole());
}
