//! `docs/behaviours.toml`: every behaviour that was asked for, and the tests
//! that drive the real program through it.

use super::source::{code_only, lines_with_word};
use super::{Finding, Tree};
use serde::Deserialize;
use std::collections::BTreeMap;

const PATH: &str = "docs/behaviours.toml";

/// Chapters of the list, and how many rows each has.
const ROWS: &[(&str, u32)] = &[("B1", 12), ("B2", 10), ("B3", 15), ("B4", 11), ("B5", 11)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    behaviour: BTreeMap<String, BTreeMap<String, Row>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The behaviour in one line, for readers of the list.
    #[serde(rename = "what")]
    _what: String,
    status: Status,
    /// `file::function` or `file::title`, below `tests/`.
    #[serde(default)]
    tests: Vec<String>,
    /// What is still missing of a partial row.
    #[serde(default)]
    missing: String,
    #[serde(default)]
    deviations: Vec<Deviation>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Status {
    Done,
    Partial,
    Planned,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deviation {
    what: String,
    reason: String,
}

/// Finds rows that are absent, unknown, or claim more than they show.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.get(PATH) else {
        return vec![Finding::new(PATH, 0, "is missing")];
    };
    let list: List = match toml::from_str(&file.text) {
        Ok(list) => list,
        Err(error) => return vec![Finding::new(PATH, 0, error.to_string())],
    };
    let mut findings = Vec::new();
    for (chapter, count) in ROWS {
        for number in 1..=*count {
            let row = list
                .behaviour
                .get(*chapter)
                .and_then(|rows| rows.get(&number.to_string()));
            match row {
                Some(row) => findings.extend(check_row(tree, &format!("{chapter}.{number}"), row)),
                None => {
                    let message = format!("{chapter}.{number} is missing");
                    findings.push(Finding::new(PATH, 0, message));
                }
            }
        }
    }
    findings.extend(unknown_rows(&list));
    findings
}

fn unknown_rows(list: &List) -> Vec<Finding> {
    let known = |chapter: &str, number: &str| {
        let count = ROWS
            .iter()
            .find(|(name, _)| *name == chapter)
            .map_or(0, |(_, count)| *count);
        (1..=count).any(|known| known.to_string() == number)
    };
    let mut findings = Vec::new();
    for (chapter, rows) in &list.behaviour {
        for number in rows.keys().filter(|number| !known(chapter, number)) {
            let message = format!("{chapter}.{number} is not a row of the list");
            findings.push(Finding::new(PATH, 0, message));
        }
    }
    findings
}

fn check_row(tree: &Tree, name: &str, row: &Row) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |message: String| findings.push(Finding::new(PATH, 0, message));
    if row.status != Status::Planned && row.tests.is_empty() {
        found(format!("{name} claims to work and names no test"));
    }
    if row.status == Status::Partial && row.missing.is_empty() {
        found(format!(
            "{name} is partial and does not say what is missing"
        ));
    }
    for test in row.tests.iter().filter(|test| !test_exists(tree, test)) {
        found(format!("{name} names a test that is not there: {test}"));
    }
    for deviation in &row.deviations {
        if deviation.what.is_empty() || deviation.reason.is_empty() {
            found(format!("{name} deviates without saying how and why"));
        }
    }
    findings
}

/// Whether `file::function` is a function of that file below `tests/`; in
/// JavaScript, where tests have titles, whether it is one.
fn test_exists(tree: &Tree, test: &str) -> bool {
    let Some((file, function)) = test.split_once("::") else {
        return false;
    };
    let Some(file) = tree.get(&format!("tests/{file}")) else {
        return false;
    };
    if file.path.ends_with(".mjs") {
        return file.text.contains(&format!("test('{function}'"));
    }
    let definition = if file.path.ends_with(".py") {
        "def"
    } else {
        "fn"
    };
    let code = if file.path.ends_with(".rs") {
        code_only(&file.text)
    } else {
        file.text.clone()
    };
    !lines_with_word(&code, &format!("{definition} {function}")).is_empty()
}

#[cfg(test)]
mod tests {
    use super::{ROWS, check};
    use crate::tidy::Tree;

    /// A whole list, planned, with these lines for B1.1.
    fn list(first: &str) -> String {
        let mut text = String::new();
        for (chapter, count) in ROWS {
            for number in 1..=*count {
                text.push_str(&format!("[behaviour.{chapter}.{number}]\nwhat = \"x\"\n"));
                let planned = "status = \"planned\"";
                let is_first = *chapter == "B1" && number == 1;
                text.push_str(if is_first { first } else { planned });
                text.push('\n');
            }
        }
        text
    }

    fn check_first(first: &str, expected: &[&str]) {
        let tree = Tree::of(&[
            ("docs/behaviours.toml", &list(first)),
            ("tests/tests/a.rs", "#[test]\nfn a_fact() {}\n"),
            ("tests/clients/b.py", "def test_fact(self):\n"),
        ]);
        let found: Vec<String> = check(&tree).into_iter().map(|f| f.message).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_done_row_names_a_test_that_exists() {
        check_first("status = \"planned\"", &[]);
        check_first("status = \"done\"\ntests = [\"tests/a.rs::a_fact\"]", &[]);
        check_first(
            "status = \"done\"\ntests = [\"clients/b.py::test_fact\"]",
            &[],
        );
        check_first(
            "status = \"done\"",
            &["B1.1 claims to work and names no test"],
        );
        check_first(
            "status = \"done\"\ntests = [\"tests/a.rs::a\"]",
            &["B1.1 names a test that is not there: tests/a.rs::a"],
        );
    }

    #[test]
    fn a_partial_row_says_what_is_missing_and_a_deviation_why() {
        let tests = "status = \"partial\"\ntests = [\"tests/a.rs::a_fact\"]";
        check_first(tests, &["B1.1 is partial and does not say what is missing"]);
        check_first(&format!("{tests}\nmissing = \"hosts\""), &[]);
        check_first(
            "status = \"planned\"\ndeviations = [{ what = \"x\", reason = \"\" }]",
            &["B1.1 deviates without saying how and why"],
        );
    }

    #[test]
    fn an_absent_row_and_an_unknown_one_are_found() {
        let text = list("status = \"planned\"").replace("[behaviour.B2.3]", "[behaviour.B2.30]");
        let found = check(&Tree::of(&[("docs/behaviours.toml", &text)]));
        let found: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(found, ["B2.3 is missing", "B2.30 is not a row of the list"]);
    }
}
