//! Everything that redactors of the same stream kind share.

use crate::automaton::{Automaton, Literal, State};
use crate::candidate::KnownValue;
use crate::escapes::ESC;
use crate::known::Known;
use crate::limits::KNOWN_PREFIX_BYTES;
use crate::rules::{Rule, RuleId, RuleKind, Rules};
use regex::bytes::Regex;
use std::collections::HashMap;
use std::sync::Arc;

/// Rules and known values, ready to be looked for. Build it once for a session
/// and share it: a redactor for each of its streams costs little.
#[derive(Debug)]
pub struct Detector {
    rules: Arc<Rules>,
    automaton: Automaton,
    /// What each literal of the automaton begins.
    triggers: Vec<Trigger>,
    forms: Vec<Form>,
    /// What stands in `[REDACTED:…]`: the rules' names, then the values'.
    names: Vec<Vec<u8>>,
}

/// What a literal begins.
#[derive(Debug)]
pub(crate) enum Trigger {
    /// An escape sequence.
    Escape,
    /// Percent-encoded text.
    Percent,
    /// A rule's candidate.
    Rule {
        /// Which rule.
        rule: RuleId,
        /// The literal as it must be written.
        literal: Vec<u8>,
    },
    /// A name. All keyed rules have this one candidate.
    Name,
    /// Known values that begin so.
    Known(Vec<usize>),
}

/// One way to write a known value.
pub(crate) struct Form {
    pub bytes: Vec<u8>,
    /// The number of its name.
    pub label: RuleId,
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Form of {} bytes", self.bytes.len())
    }
}

impl Form {
    /// What the automaton looks for.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().min(KNOWN_PREFIX_BYTES)]
    }
}

impl Detector {
    /// A detector for these rules and values.
    pub fn new(rules: Arc<Rules>, known: &Known) -> Detector {
        let mut names: Vec<Vec<u8>> = rules.rules.iter().map(|rule| rule.name.clone()).collect();
        let mut forms = Vec::new();
        for (name, bytes) in known.forms() {
            let label = match names.last() {
                Some(last) if last == name.as_bytes() => names.len() - 1,
                _ => {
                    names.push(name.as_bytes().to_vec());
                    names.len() - 1
                }
            };
            let label = RuleId::try_from(label).expect("rules and values are bounded");
            forms.push(Form { bytes, label });
        }
        let (literals, triggers) = triggers(&rules, &forms);
        Detector {
            rules,
            automaton: Automaton::new(&literals),
            triggers,
            forms,
            names,
        }
    }

    /// A detector for the built-in rules alone.
    pub fn builtin() -> Detector {
        Detector::new(Rules::builtin(), &Known::new())
    }

    /// Appends what stands in the place of a secret.
    pub(crate) fn name(&self, label: RuleId, out: &mut Vec<u8>) {
        if let Some(name) = self.names.get(usize::from(label)) {
            out.extend_from_slice(b"[REDACTED:");
            out.extend_from_slice(name);
            out.push(b']');
        }
    }

    #[inline]
    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    #[inline]
    pub(crate) fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    #[inline]
    pub(crate) fn trigger(&self, literal: u16) -> &Trigger {
        &self.triggers[usize::from(literal)]
    }

    #[inline]
    pub(crate) fn rule(&self, rule: RuleId) -> &Rule {
        &self.rules.rules[usize::from(rule)]
    }

    pub(crate) fn form(&self, form: usize) -> &Form {
        &self.forms[form]
    }

    /// Whether a literal that ends here may begin anything, as far as `seen`
    /// tells: most do not, and this costs less than trying.
    #[inline]
    pub(crate) fn may_begin(&self, state: State, seen: &[u8]) -> bool {
        self.automaton
            .ends(state)
            .iter()
            .any(|literal| match self.trigger(*literal) {
                Trigger::Rule { rule, literal } => {
                    let Some(at) = seen.len().checked_sub(literal.len() + BOUNDARY_BYTES) else {
                        return true;
                    };
                    let (line, end) = seen[at..].split_at(BOUNDARY_BYTES);
                    let rule = self.rule(*rule);
                    end == literal
                        && (rule.before.is_some() || is_apart(literal, line))
                        && (!rule.is_behind_space || line[BOUNDARY_BYTES - 1].is_ascii_whitespace())
                }
                _ => true,
            })
    }

    /// The forms that begin with a literal of the automaton.
    pub(crate) fn forms_of(&self, literal: u16) -> &[usize] {
        match self.trigger(literal) {
            Trigger::Known(forms) => forms,
            _ => &[],
        }
    }

    /// The first keyed rule for this name behind this text.
    pub(crate) fn find_keyed(&self, name: &[u8], before: &[u8]) -> Option<RuleId> {
        let keys = self.rules.keys.as_ref()?;
        if !keys.is_match(name) {
            return None;
        }
        let matches = |pattern: &Regex, text: &[u8]| pattern.is_match(text);
        let at = self.rules.rules.iter().position(|rule| {
            rule.key.as_ref().is_some_and(|key| matches(key, name))
                && !rule
                    .except
                    .as_ref()
                    .is_some_and(|except| matches(except, name))
                && rule
                    .before
                    .as_ref()
                    .is_none_or(|pattern| matches(pattern, before))
        })?;
        RuleId::try_from(at).ok()
    }

    /// Whether this is a name whose value may stand behind a space.
    pub(crate) fn may_be_spaced(&self, name: &[u8]) -> bool {
        self.rules.spaced.iter().any(|one| one == name)
    }

    /// Known values whose first bytes are the last of `recent`.
    pub(crate) fn known_at(&self, literal: u16, recent: &[u8], end: u64) -> Vec<KnownValue> {
        let forms = self.forms_of(literal).iter();
        forms
            .filter(|form| recent.ends_with(self.form(**form).prefix()))
            .map(|form| {
                let matched = self.form(*form).prefix().len();
                KnownValue {
                    form: *form,
                    matched,
                    start: end - matched as u64,
                    percent: None,
                }
            })
            .collect()
    }
}

fn triggers(rules: &Rules, forms: &[Form]) -> (Vec<Literal>, Vec<Trigger>) {
    let mut literals = vec![Literal {
        bytes: vec![ESC],
        is_held: false,
    }];
    let mut triggers = vec![Trigger::Escape];
    let mut add = |bytes: &[u8], is_held: bool, trigger: Trigger| {
        literals.push(Literal {
            bytes: bytes.to_vec(),
            is_held,
        });
        triggers.push(trigger);
    };
    let mut keywords: Vec<&Vec<u8>> = Vec::new();
    for (number, rule) in rules.rules.iter().enumerate() {
        let number = RuleId::try_from(number).expect("rules are bounded");
        for literal in &rule.literals {
            if rule.kind == RuleKind::Keyed {
                keywords.push(literal);
                continue;
            }
            let trigger = Trigger::Rule {
                rule: number,
                literal: literal.clone(),
            };
            add(literal, false, trigger);
        }
    }
    keywords.sort();
    keywords.dedup();
    for keyword in keywords {
        add(keyword, false, Trigger::Name);
    }
    let mut prefixes: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (number, form) in forms.iter().enumerate() {
        prefixes
            .entry(form.prefix().to_ascii_lowercase())
            .or_default()
            .push(number);
    }
    let mut prefixes: Vec<_> = prefixes.into_iter().collect();
    prefixes.sort();
    if !prefixes.is_empty() {
        add(b"%", false, Trigger::Percent);
    }
    for (prefix, forms) in prefixes {
        add(&prefix, true, Trigger::Known(forms));
    }
    (literals, triggers)
}

/// How far [`is_apart`] looks back.
const BOUNDARY_BYTES: usize = 6;

/// Whether a literal may begin behind this: not inside another word, but right
/// behind `\n` or `%3D`, which stand for something else.
#[inline]
pub(crate) fn is_apart(literal: &[u8], line: &[u8]) -> bool {
    if !literal[0].is_ascii_alphanumeric() {
        return true;
    }
    match line {
        [] => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., b'\\', b'u', _, _, _, _] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
    }
}
