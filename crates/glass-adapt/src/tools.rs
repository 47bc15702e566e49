//! What is known about tools. It is data: `data/tools.toml`, whose head says
//! what each key means, with examples that are checked.

use crate::adapt::adapt;
use glass_model::ShellKind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const TEXT: &str = include_str!("../data/tools.toml");

static TOOLS: LazyLock<Vec<Entry>> =
    LazyLock::new(|| parse(TEXT).expect("the built-in entries are checked by the tests"));

/// Why entries cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    /// The text is no list of entries.
    #[error("the entries cannot be read: {0}")]
    Unreadable(String),
    /// An entry that cannot work.
    #[error("entry {number} ('{tool}') {what}")]
    Broken {
        /// Which entry, from 1 on.
        number: usize,
        /// Its tool.
        tool: String,
        /// What is wrong with it.
        what: String,
    },
}

/// What the operands of a command have to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Operands {
    #[default]
    Any,
    None,
    Some,
    Prompt,
}

/// One entry of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) tool: String,
    pub(crate) words: Vec<String>,
    pub(crate) value_flags_before: Vec<String>,
    pub(crate) subcommands: Vec<String>,
    pub(crate) any: Vec<String>,
    pub(crate) unless: Vec<String>,
    pub(crate) operands: Operands,
    pub(crate) not_operands: Vec<String>,
    pub(crate) flags: Vec<String>,
    pub(crate) values: Vec<String>,
    pub(crate) lists: Vec<String>,
    pub(crate) insert: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) reason: String,
    pub(crate) examples: Vec<(String, String)>,
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tool: Vec<Entry>,
}

/// The built-in entries.
pub(crate) fn tools() -> &'static [Entry] {
    &TOOLS
}

/// The names of the tools that are known, as `[adapters] off` has them.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = tools().iter().map(|entry| entry.tool.as_str()).collect();
    names.dedup();
    names
}

/// Whether this is a variable of some entry with its very value: such a one is
/// harmless, whoever sets it.
pub fn sets(name: &str, value: &str) -> bool {
    let known = |entry: &Entry| entry.env.get(name).is_some_and(|known| known == value);
    tools().iter().any(known)
}

/// Every built-in example that does not come true.
pub fn failures() -> Vec<ToolsError> {
    let mut failures = Vec::new();
    for (index, entry) in tools().iter().enumerate() {
        let mut fail = |what: String| failures.push(broken(index, entry, what));
        for (line, wanted) in &entry.examples {
            let adapted = adapt(line, ShellKind::Bash);
            let entry_of = |line: &str| crate::adapt::entry_of(line, ShellKind::Bash);
            if adapted.map(|adapted| adapted.command).as_ref() != Some(wanted) {
                fail(format!("does not make this of `{line}`: {wanted}"));
            } else if entry_of(line) != Some(entry) {
                fail(format!("does not count for `{line}`: another one does"));
            }
        }
        for line in &entry.not_match {
            if crate::adapt::entry_of(line, ShellKind::Bash) == Some(entry) {
                fail(format!("counts for `{line}`, and should not"));
            }
        }
    }
    failures
}

fn parse(text: &str) -> Result<Vec<Entry>, ToolsError> {
    let file: File = toml::from_str(text).map_err(|e| ToolsError::Unreadable(e.to_string()))?;
    for (index, entry) in file.tool.iter().enumerate() {
        if let Some(what) = flaw(entry) {
            return Err(broken(index, entry, what));
        }
    }
    Ok(file.tool)
}

fn broken(index: usize, entry: &Entry, what: String) -> ToolsError {
    ToolsError::Broken {
        number: index + 1,
        tool: entry.tool.clone(),
        what,
    }
}

/// What keeps an entry from working as it says.
fn flaw(entry: &Entry) -> Option<String> {
    let is_plain = |word: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !word.is_empty() && word.chars().all(plain)
    };
    if entry.tool.is_empty() || entry.words.is_empty() || entry.reason.is_empty() {
        return Some("has no name, no words or no reason".to_owned());
    }
    if entry.examples.is_empty() {
        return Some("has no example".to_owned());
    }
    if entry.insert.is_empty() == entry.env.is_empty() {
        return Some("must either insert words or set variables".to_owned());
    }
    let mut words = entry.words.iter().chain(&entry.insert);
    // What is inserted stands in a command line: it must need no quotes.
    let odd = words.find(|word| !is_plain(word))?;
    Some(format!("has a word that is not plain: '{odd}'"))
}

#[cfg(test)]
mod tests {
    use super::{failures, names, parse};

    #[test]
    fn every_example_comes_true() {
        assert_eq!(failures(), []);
    }

    #[test]
    fn tools_have_one_name_each() {
        let names = names();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len(), "{names:?}");
    }

    #[test]
    fn an_entry_that_cannot_work_is_refused() {
        let good = "[[tool]]\ntool = \"a\"\nwords = [\"a\"]\ninsert = [\"-b\"]\nreason = \"c\"\n\
                    examples = [[\"a\", \"a -b\"]]\n";
        assert_eq!(parse(good).map(|entries| entries.len()), Ok(1));
        for (from, to, why) in [
            ("reason = \"c\"", "reason = \"\"", "no reason"),
            ("[\"-b\"]", "[\"-b; id\"]", "not plain"),
            ("[\"-b\"]", "[]", "either insert words or set variables"),
            ("[[\"a\", \"a -b\"]]", "[]", "no example"),
            ("insert", "inset", "cannot be read"),
        ] {
            let error = parse(&good.replace(from, to)).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
