//! Brings the three questions together: what does it run, can it be proved
//! harmless, is it known to be dangerous. The strictest answer wins.

use crate::danger::{self, Look, Looked};
use crate::knowledge::{Check, Program, knowledge};
use crate::limits::{PREFIX_WORDS_MAX, PROVABLE_BYTES_MAX, REASONS_MAX, WRAPPERS_MAX};
use crate::line::{Line, SimpleCommand, Word};
use crate::programs;
use crate::remember::prefix_of;
use crate::rules::{Layer, Rule, RuleSet};
use crate::unwrap::{Inner, base_name, inner};
use crate::{reader, reading, second, text};
use glass_model::{CommandReading, Decision, Reason, ShellKind, Verdict};

/// A command line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    text: String,
    shell: ShellKind,
    line: Line,
}

impl Command {
    /// Reads a line of this shell's language. What cannot be read is a command
    /// too, about which little is known.
    pub fn parse(text: &str, shell: ShellKind) -> Command {
        // Of other languages we only know that they are others.
        let line = match shell {
            ShellKind::Bash | ShellKind::Zsh | ShellKind::Posix => reader::read(text, shell),
            ShellKind::Fish | ShellKind::Nu | ShellKind::Other => Line {
                failure: Some("its shell's language is not read"),
                ..Line::default()
            },
        };
        Command {
            text: text.to_owned(),
            shell,
            line,
        }
    }

    /// The line as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the reader understood.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// The same, as the wire has it.
    pub fn reading(&self) -> CommandReading {
        reading::reading(&self.line)
    }

    /// How many steps it takes to read it and the scripts in it: at most twice
    /// [`STEPS_MAX`](crate::limits::STEPS_MAX), and one leap more for each.
    pub fn steps(&self) -> u32 {
        let looked = self.look(&mut |_, _| {});
        self.line.steps.saturating_add(looked.steps)
    }

    /// Whether everything that it can be seen to run was looked at. What was not
    /// may be anything.
    pub fn is_seen_whole(&self) -> bool {
        !self.look(&mut |_, _| {}).missed
    }

    /// Looks at everything that can be seen to run, through wrappers. Says how far
    /// that came.
    pub(crate) fn look(&self, see: &mut dyn FnMut(&[Word], &str)) -> Looked {
        Look::at(&self.line, &self.text, self.shell, see)
    }
}

/// What a part was found to be.
enum Judgement {
    /// A rule allows it.
    Allowed(Reason),
    /// Nothing allows it, but a rule could.
    Unlisted(Reason),
    /// Something about it must be asked about, whatever the rules.
    Refused(Reason),
}

/// May this command run?
pub fn decide(command: &Command, rules: &RuleSet) -> Decision {
    let mut reasons = obstacles(command);
    let mut judgements = Vec::new();
    for simple in &command.line.commands {
        judgements.push(judge(simple, rules));
    }
    reasons.extend(
        dangers(command, rules)
            .into_iter()
            .map(|(_, reason)| reason),
    );
    if command.line.commands.is_empty() && command.line.failure.is_none() {
        reasons.push(ask(&command.text, "there is nothing to run"));
    }
    let proved = reasons.is_empty()
        && judgements
            .iter()
            .all(|judgement| matches!(judgement, Judgement::Allowed(_)));
    if proved && !second_opinion(command) {
        reasons.push(ask(
            &command.text,
            "two readers do not agree on what it runs",
        ));
    }
    let would_allow = would_allow(command, &reasons, &judgements);
    let mut allowed = Vec::new();
    for judgement in judgements {
        match judgement {
            Judgement::Allowed(reason) => allowed.push(reason),
            Judgement::Unlisted(reason) | Judgement::Refused(reason) => reasons.push(reason),
        }
    }
    if reasons.is_empty() {
        reasons = allowed;
    }
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.verdict));
    reasons.dedup();
    let verdict = reasons.iter().map(|reason| reason.verdict).max();
    reasons.truncate(REASONS_MAX);
    Decision {
        verdict: verdict.unwrap_or(Verdict::Ask),
        reasons,
        would_allow,
    }
}

/// Is this command known to be dangerous, or does a rule that somebody wrote
/// speak against it? Doubt alone is no reason here: everything else is allowed.
pub fn decide_known(command: &Command, rules: &RuleSet) -> Decision {
    let mut reasons = dangers(command, rules);
    reasons.retain(|(layer, reason)| reason.verdict == Verdict::Deny || *layer != Layer::BuiltIn);
    let mut reasons: Vec<Reason> = reasons.into_iter().map(|(_, reason)| reason).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.verdict));
    reasons.dedup();
    let verdict = reasons.iter().map(|reason| reason.verdict).max();
    reasons.truncate(REASONS_MAX);
    Decision {
        verdict: verdict.unwrap_or(Verdict::Allow),
        reasons,
        would_allow: Vec::new(),
    }
}

fn second_opinion(command: &Command) -> bool {
    command.text.len() <= PROVABLE_BYTES_MAX
        && second::agrees(&command.text, command.shell, &command.line)
}

/// What the small grammar does not have.
fn obstacles(command: &Command) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some((c, oddity)) = text::first_oddity(&command.text) {
        let code = u32::from(c);
        reasons.push(ask("", &format!("it has {} (U+{code:04X})", oddity.name())));
    }
    if let Some(failure) = command.line.failure {
        reasons.push(ask("", &format!("it cannot be read: {failure}")));
    }
    let mut known = Vec::new();
    for (obstacle, text) in &command.line.obstacles {
        if !known.contains(obstacle) {
            known.push(*obstacle);
            reasons.push(ask(text, &format!("it has {}", obstacle.name())));
        }
    }
    for redirect in &command.line.redirects {
        if !redirect.is_harmless() {
            reasons.push(ask(&redirect.text(), "it redirects to or from a file"));
        }
    }
    reasons
}

fn ask(part: &str, why: &str) -> Reason {
    Reason {
        verdict: Verdict::Ask,
        part: part.to_owned(),
        rule: None,
        why: why.to_owned(),
    }
}

/// Can this command be proved harmless?
fn judge(command: &SimpleCommand, rules: &RuleSet) -> Judgement {
    if let Some(redirect) = command
        .redirects
        .iter()
        .find(|redirect| !redirect.is_harmless())
    {
        let part = format!("{} {}", command.text, redirect.text());
        return Judgement::Refused(ask(part.trim(), "it redirects to or from a file"));
    }
    if command.words.is_empty() {
        return Judgement::Refused(ask(&command.text, "no rule covers it"));
    }
    if !command.assignments.is_empty() {
        return Judgement::Refused(ask(&command.text, "an assignment changes what it does"));
    }
    judge_words(&command.words, &command.text, rules, 0)
}

fn judge_words(words: &[Word], part: &str, rules: &RuleSet, depth: usize) -> Judgement {
    let allows = |(_, rule): &(Layer, &Rule)| rule.verdict == Verdict::Allow && rule.covers(words);
    let Some((layer, rule)) = rules.rules().find(allows) else {
        return Judgement::Unlisted(ask(part, "no rule allows it"));
    };
    let reason = Reason {
        verdict: Verdict::Allow,
        part: part.to_owned(),
        rule: Some(rule_name(layer, rule)),
        why: rule.reason.clone(),
    };
    if let Err(why) = known_arguments(words) {
        return Judgement::Refused(Reason {
            verdict: Verdict::Ask,
            why,
            ..reason
        });
    }
    match program_of(words).is_some_and(|program| program.check == Check::Wrapper) {
        true => judge_wrapped(words, part, rules, depth, reason),
        false => Judgement::Allowed(reason),
    }
}

fn program_of(words: &[Word]) -> Option<&'static Program> {
    let values: Vec<&str> = words
        .iter()
        .take(PREFIX_WORDS_MAX)
        .map(|word| word.value.as_str())
        .collect();
    knowledge().program(&values)
}

/// Whether an *allow* rule may speak for these arguments. Of a program that we
/// know nothing about, plain words are as harmless as its rule says.
fn known_arguments(words: &[Word]) -> Result<(), String> {
    if let Some(program) = program_of(words) {
        return programs::check(program, words);
    }
    match words
        .iter()
        .find(|word| word.expands || word.begins_openly())
    {
        Some(word) => Err(format!("`{}` may become any word", word.raw)),
        None => Ok(()),
    }
}

/// A wrapper is as harmless as what it runs.
fn judge_wrapped(
    words: &[Word],
    part: &str,
    rules: &RuleSet,
    depth: usize,
    reason: Reason,
) -> Judgement {
    let plain = words.iter().all(Word::is_literal);
    match inner(words).as_slice() {
        [Inner::Words(inner)] if depth < WRAPPERS_MAX && plain => {
            match judge_words(inner, part, rules, depth + 1) {
                Judgement::Allowed(_) => Judgement::Allowed(reason),
                other => other,
            }
        }
        _ => Judgement::Refused(ask(part, "what it runs cannot be told")),
    }
}

fn rule_name(layer: Layer, rule: &Rule) -> String {
    format!("{}: {}", layer.name(), rule.prefix.join(" "))
}

/// What rules and knowledge say against it, in everything that can be seen.
fn dangers(command: &Command, rules: &RuleSet) -> Vec<(Layer, Reason)> {
    let mut reasons = Vec::new();
    let strict: Vec<(Layer, &Rule)> = rules
        .rules()
        .filter(|(_, rule)| rule.verdict != Verdict::Allow)
        .collect();
    // A line may hold thousands of the same; the strict ones are never left out
    // for the mild.
    let mut left = [REASONS_MAX; 4];
    let mut push = |layer: Layer, verdict: Verdict, part: &str, rule: &str, why: &str| {
        let is_ours = layer == Layer::BuiltIn;
        let strictness = usize::from(verdict == Verdict::Deny) * 2 + usize::from(is_ours);
        let left = &mut left[strictness];
        if *left > 0 {
            *left -= 1;
            let reason = Reason {
                verdict,
                part: part.to_owned(),
                rule: Some(format!("{}: {rule}", layer.name())),
                why: why.to_owned(),
            };
            reasons.push((layer, reason));
        }
    };
    command.look(&mut |words, part| {
        for (layer, rule) in strict.iter().filter(|(_, rule)| rule.covers_loosely(words)) {
            push(
                *layer,
                rule.verdict,
                part,
                &rule.prefix.join(" "),
                &rule.reason,
            );
        }
        for danger in danger::of_command(words) {
            let name = danger.programs.join(", ");
            push(
                Layer::BuiltIn,
                danger.verdict(),
                part,
                &name,
                &danger.reason,
            );
        }
    });
    let fed = command
        .line
        .commands
        .iter()
        .filter(|simple| is_fed_shell(simple));
    for simple in fed {
        let why = "Runs whatever it reads from the pipe.";
        push(Layer::BuiltIn, Verdict::Ask, &simple.text, "shells", why);
    }
    let own = command
        .line
        .commands
        .iter()
        .flat_map(|simple| &simple.redirects);
    for redirect in own.chain(&command.line.redirects) {
        if let Some(danger) = danger::of_redirect(redirect) {
            let text = redirect.text();
            push(
                Layer::BuiltIn,
                danger.verdict(),
                &text,
                "redirects",
                &danger.reason,
            );
        }
    }
    reasons
}

/// Whether a shell without a script gets its commands from a pipe.
fn is_fed_shell(command: &SimpleCommand) -> bool {
    let name = command.words.first().map(base_name).unwrap_or_default();
    let is_shell = knowledge()
        .wrapper(name)
        .is_some_and(|wrapper| wrapper.shell);
    let mut arguments = command.words.iter().skip(1);
    command.piped && is_shell && arguments.all(|word| word.value.starts_with('-'))
}

/// The prefixes that rules would need for this command to be allowed; none
/// where something else stands in the way.
fn would_allow(
    command: &Command,
    reasons: &[Reason],
    judgements: &[Judgement],
) -> Vec<Vec<String>> {
    if !reasons.is_empty() {
        return Vec::new();
    }
    let mut prefixes = Vec::new();
    for (simple, judgement) in command.line.commands.iter().zip(judgements) {
        match judgement {
            Judgement::Allowed(_) => {}
            Judgement::Refused(_) => return Vec::new(),
            Judgement::Unlisted(_) if known_arguments(&simple.words).is_err() => return Vec::new(),
            Judgement::Unlisted(_) => match prefix_of(&simple.words) {
                Some(prefix) if !prefixes.contains(&prefix) => prefixes.push(prefix),
                Some(_) => {}
                None => return Vec::new(),
            },
        }
    }
    prefixes
}
