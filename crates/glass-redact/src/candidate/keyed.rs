//! The value of a name that says that it is a secret: `DB_PASSWORD=…`,
//! `"token": "…"`, `--api-key …`, `<password>…</password>`.
//!
//! Nothing is held back until the value begins.

mod value;

use super::{Context, Step};
use crate::limits::NAME_BYTES_MAX;
use crate::rules::RuleId;
use value::Value;

/// A name, and then its value.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    phase: Phase,
    /// Bytes since the literal, without the value.
    gap: usize,
    name: Name,
    /// What stands before the name on its line, and the name.
    text: (Vec<u8>, Vec<u8>),
}

/// What the name was like.
#[derive(Clone, Copy, Debug, Default)]
struct Name {
    rule: RuleId,
    /// `--name`.
    is_flag: bool,
    /// `<name>`.
    is_tag: bool,
    /// `NAME`.
    is_upper: bool,
    /// First on its line, or exported.
    is_first: bool,
    /// In the query of an address.
    is_query: bool,
    /// Behind `name:`, with its value on the next line.
    is_entry: bool,
    /// Behind `define(`, with its value behind a comma.
    is_definition: bool,
    /// Whether a value may follow a space.
    is_spaced: bool,
    /// Whether its rule was looked for.
    is_known: bool,
}

#[derive(Clone, Debug)]
enum Phase {
    /// In the name.
    Name,
    /// Between the name and what divides it from the value.
    Gap { has_quote: bool, has_space: bool },
    /// In the word `value`, after so many letters.
    ValueWord(usize),
    /// Behind `=` or `:`.
    Separator {
        sign: u8,
        has_space: bool,
        is_escaped: bool,
    },
    /// In the value.
    Value(Value),
}

/// Where a value begins.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// At this byte.
    At(u8),
    /// Behind this quote.
    Behind(u8),
}

impl Keyed {
    /// Begins behind a literal.
    pub(crate) fn new() -> Keyed {
        Keyed {
            phase: Phase::Name,
            gap: 0,
            name: Name::default(),
            text: (Vec::new(), Vec::new()),
        }
    }

    pub(super) fn is_in_name(&self) -> bool {
        matches!(self.phase, Phase::Name)
    }

    pub(super) fn held_from(&self) -> Option<u64> {
        match &self.phase {
            Phase::Value(value) => Some(value.start),
            _ => None,
        }
    }

    pub(super) fn step(&mut self, byte: Option<u8>, context: &Context<'_>) -> Step {
        if let Phase::Value(value) = &mut self.phase {
            return match value.step(byte, context) {
                value::Outcome::Step(step) => step,
                value::Outcome::Scheme => self.enter(Phase::Separator {
                    sign: b' ',
                    has_space: true,
                    is_escaped: false,
                }),
                value::Outcome::Type => {
                    // Only `=` makes the next word a value.
                    self.name.is_flag = false;
                    self.name.is_spaced = false;
                    self.enter(Phase::Gap {
                        has_quote: false,
                        has_space: true,
                    })
                }
            };
        }
        self.gap += 1;
        let Some(byte) = byte.filter(|_| self.gap <= NAME_BYTES_MAX) else {
            return Step::nothing();
        };
        match self.phase {
            Phase::Name if is_name(byte) => Step::Open,
            Phase::Name if !divides(byte) => Step::nothing(),
            Phase::Name => {
                self.read_name(context);
                self.gap = 0;
                self.cross(byte, false, false, context)
            }
            Phase::Gap {
                has_quote,
                has_space,
            } => self.cross(byte, has_quote, has_space, context),
            Phase::ValueWord(count) => match b"value".get(count) {
                Some(expected) if byte.eq_ignore_ascii_case(expected) => {
                    self.enter(Phase::ValueWord(count + 1))
                }
                Some(_) => Step::nothing(),
                None => {
                    self.name.is_entry = false;
                    self.cross(byte, true, false, context)
                }
            },
            Phase::Separator {
                sign,
                has_space,
                is_escaped,
            } => self.separate(byte, sign, has_space, is_escaped, context),
            Phase::Value(_) => Step::Open,
        }
    }

    pub(super) fn skim(&self, bytes: &[u8], context: &Context<'_>) -> usize {
        match &self.phase {
            Phase::Value(value) => value.skim(bytes, context),
            _ => 0,
        }
    }

    /// Reads the name that ends where we are. Its rule is looked for when there
    /// is a value: most names have none.
    fn read_name(&mut self, context: &Context<'_>) {
        let line = context.history.line();
        let length = line.iter().rev().take_while(|byte| is_name(**byte)).count();
        let (before, name) = line.split_at(line.len() - length);
        let dashes = name.iter().take_while(|byte| **byte == b'-').count();
        let name = &name[dashes..];
        let trimmed = before.trim_ascii_end();
        let mut letters = name.iter().filter(|byte| byte.is_ascii_alphabetic());
        let entries = [&b"name:"[..], b"\"name\": \"", b"\"name\":\"", b"name: \""];
        self.name = Name {
            rule: 0,
            is_known: false,
            is_flag: dashes > 0,
            is_tag: before.last() == Some(&b'<'),
            is_upper: letters.all(u8::is_ascii_uppercase),
            is_first: matches!(
                trimmed,
                b"" | b"export" | b"declare -x" | b"set" | b"+" | b"-"
            ),
            is_query: matches!(before.last(), Some(b'?' | b'&')),
            is_entry: entries.iter().any(|entry| trimmed.ends_with(entry)),
            is_definition: before.ends_with(b"define('") || before.ends_with(b"define(\""),
            is_spaced: context.detector.may_be_spaced(name),
        };
        self.text = (before.to_vec(), name.to_vec());
    }

    fn enter(&mut self, phase: Phase) -> Step {
        self.phase = phase;
        Step::Open
    }

    /// Between the name and its value.
    fn cross(&mut self, byte: u8, has_quote: bool, has_space: bool, context: &Context<'_>) -> Step {
        let takes_space = self.name.is_flag || self.name.is_spaced;
        match byte {
            b'=' | b':' => self.enter(Phase::Separator {
                sign: byte,
                has_space,
                is_escaped: false,
            }),
            b'>' if self.name.is_tag => self.enter(Phase::Separator {
                sign: b'>',
                has_space,
                is_escaped: false,
            }),
            // `define('NAME', '…')` and `["--name", "…"]`.
            b',' if has_quote && (self.name.is_definition || self.name.is_flag) => {
                self.enter(Phase::Separator {
                    sign: b',',
                    has_space,
                    is_escaped: false,
                })
            }
            b' ' | b'\t' => self.enter(Phase::Gap {
                has_quote,
                has_space: true,
            }),
            b'\n' | b'\r' | b',' if self.name.is_entry => self.enter(Phase::Gap {
                has_quote,
                has_space: true,
            }),
            b'v' | b'V' if self.name.is_entry || (has_quote && has_space) => {
                self.enter(Phase::ValueWord(1))
            }
            b'"' | b'\'' if takes_space && has_space => {
                self.begin(Start::Behind(byte), b' ', true, context)
            }
            b'"' | b'\'' | b'`' | b']' | b'\\' | b'?' => self.enter(Phase::Gap {
                has_quote: true,
                has_space,
            }),
            b'-' => Step::nothing(),
            _ if takes_space && has_space => self.begin(Start::At(byte), b' ', true, context),
            _ => Step::nothing(),
        }
    }

    /// Behind the sign that divides name and value.
    fn separate(
        &mut self,
        byte: u8,
        sign: u8,
        has_space: bool,
        is_escaped: bool,
        context: &Context<'_>,
    ) -> Step {
        let previous = context.history.tail().last().copied().unwrap_or(b'\n');
        let is_adjacent = previous == sign;
        match byte {
            b'"' | b'\'' | b'`' if is_escaped => {
                self.begin(Start::Behind(b'\\'), sign, has_space, context)
            }
            b'"' | b'\'' | b'`' => self.begin(Start::Behind(byte), sign, has_space, context),
            // Escaped more than once: JSON in JSON in a log.
            b'\\' if is_escaped => Step::Open,
            _ if is_escaped => Step::nothing(),
            b' ' | b'\t' => self.enter(Phase::Separator {
                sign,
                has_space: true,
                is_escaped: false,
            }),
            b'\\' => self.enter(Phase::Separator {
                sign,
                has_space,
                is_escaped: true,
            }),
            b':' | b'~' if is_adjacent => Step::nothing(),
            b'=' if is_adjacent && sign == b'=' => Step::nothing(),
            b'=' if is_adjacent && sign == b':' => self.enter(Phase::Separator {
                sign: b'=',
                has_space: true,
                is_escaped: false,
            }),
            b'>' if is_adjacent && sign == b'=' => self.enter(Phase::Separator {
                sign: b'>',
                has_space: true,
                is_escaped: false,
            }),
            b'\n' | b'\r' => Step::nothing(),
            _ if sign == b',' => Step::nothing(),
            _ => self.begin(Start::At(byte), sign, has_space, context),
        }
    }

    /// The value begins, at this byte or behind this quote.
    fn begin(&mut self, start: Start, sign: u8, has_space: bool, context: &Context<'_>) -> Step {
        if !self.name.is_known {
            let (before, name) = &self.text;
            let Some(rule) = context.detector.find_keyed(name, before) else {
                return Step::nothing();
            };
            let is_bare = sign == b' ' && !self.name.is_flag;
            if is_bare && !context.detector.rule(rule).spaced {
                return Step::nothing();
            }
            self.name.rule = rule;
            self.name.is_known = true;
        }
        let is_variable = self.name.is_upper && sign == b'=' && !has_space;
        let mut value = Value {
            rule: self.name.rule,
            start: context.position,
            quote: None,
            is_variable,
            is_whole_line: is_variable && self.name.is_first,
            is_query: self.name.is_query,
        };
        match start {
            Start::Behind(quote) => {
                value.start += 1;
                value.quote = Some(quote);
                self.enter(Phase::Value(value))
            }
            // Its first byte may end it: there may be no value at all.
            Start::At(byte) => {
                self.phase = Phase::Value(value);
                self.step(Some(byte), context)
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Whether it may stand behind a name that has a value.
fn divides(byte: u8) -> bool {
    b"=:\"'`]\\?> \t\r\n".contains(&byte)
}
