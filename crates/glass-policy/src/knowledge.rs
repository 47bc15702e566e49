//! What is known about programs, as data that comes with the crate.

use crate::rules::{Rule, RuleText};
use glass_model::Verdict;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What the arguments of a program may be.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Program {
    pub prefix: Vec<String>,
    pub flags: String,
    pub values: String,
    pub attached: String,
    pub dash_values: Vec<String>,
    pub long: Vec<String>,
    pub long_values: Vec<String>,
    pub long_attached: Vec<String>,
    pub numbers: bool,
    pub operands: Operands,
    pub open_patterns: bool,
    pub free: bool,
    pub refused_text: Vec<String>,
    pub check: Check,
    pub after: Option<Box<Program>>,
}

/// Which words a program takes beside its flags.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Operands {
    #[default]
    Any,
    One,
    None,
    /// Only `+FORMAT`.
    Format,
}

/// How a program's arguments are read.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Check {
    #[default]
    Flags,
    /// Long flags have one dash.
    SingleDash,
    Find,
    Sed,
    Awk,
    Test,
    /// The command inside must be allowed itself.
    Wrapper,
}

/// A dangerous use of some programs, or a dangerous place to write to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Danger {
    pub programs: Vec<String>,
    pub subcommands: Vec<String>,
    pub flags: Vec<String>,
    pub leading: bool,
    pub bundle: String,
    pub words: Vec<String>,
    pub operands: Vec<String>,
    pub writes: Vec<String>,
    decision: String,
    pub reason: String,
    #[serde(rename = "match")]
    pub matches: Vec<String>,
    pub not_match: Vec<String>,
}

impl Danger {
    /// Dangers never allow.
    pub fn verdict(&self) -> Verdict {
        match self.decision.as_str() {
            "deny" => Verdict::Deny,
            _ => Verdict::Ask,
        }
    }
}

/// A program that runs another.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wrapper {
    pub programs: Vec<String>,
    pub values: String,
    pub long_values: Vec<String>,
    pub skip: usize,
    pub assignments: bool,
    pub script_flag: String,
    pub long_script_flag: String,
    pub script_rest: bool,
    pub script_first: bool,
    pub shell: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesData {
    rule: Vec<RuleText>,
    danger: Vec<Danger>,
    wrapper: Vec<Wrapper>,
    arity: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramsData {
    program: Vec<Program>,
}

/// All of it.
pub(crate) struct Knowledge {
    pub rules: Vec<Rule>,
    pub dangers: Vec<Danger>,
    pub wrappers: Vec<Wrapper>,
    pub arity: BTreeMap<String, usize>,
    programs: BTreeMap<String, Vec<Program>>,
}

static KNOWLEDGE: LazyLock<Knowledge> = LazyLock::new(|| {
    let rules: RulesData = toml::from_str(include_str!("../data/rules.toml"))
        .expect("tests read the rules that come with the crate");
    let programs: ProgramsData = toml::from_str(include_str!("../data/programs.toml"))
        .expect("tests read the programs that come with the crate");
    let mut by_name: BTreeMap<String, Vec<Program>> = BTreeMap::new();
    for program in programs.program {
        let name = program.prefix.first().cloned().unwrap_or_default();
        by_name.entry(name).or_default().push(program);
    }
    Knowledge {
        rules: rules.rule.into_iter().map(Rule::from).collect(),
        dangers: rules.danger,
        wrappers: rules.wrapper,
        arity: rules.arity,
        programs: by_name,
    }
});

/// What comes with the crate, read at the first use.
pub(crate) fn knowledge() -> &'static Knowledge {
    &KNOWLEDGE
}

impl Knowledge {
    /// What is known of the program that these words begin with.
    pub fn program(&self, words: &[&str]) -> Option<&Program> {
        let known = self.programs.get(*words.first()?)?;
        let matching = known.iter().filter(|program| {
            program.prefix.len() <= words.len()
                && program.prefix.iter().zip(words).all(|(a, b)| a == b)
        });
        matching.max_by_key(|program| program.prefix.len())
    }

    /// The wrapper of this name.
    pub fn wrapper(&self, name: &str) -> Option<&Wrapper> {
        let named = |wrapper: &&Wrapper| wrapper.programs.iter().any(|known| known == name);
        self.wrappers.iter().find(named)
    }
}

/// Whether `text` is `pattern`, or begins with it where it ends with `*`.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => text.starts_with(beginning),
        None => text == pattern,
    }
}
