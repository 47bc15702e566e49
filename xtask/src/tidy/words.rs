//! Words that do not belong in a repository: paths of one machine, and promises
//! without a reason.

use super::{Finding, Tree};

/// Folders that exist on somebody's machine only. Put together here, so that
/// this file does not find itself.
const MACHINE_FOLDERS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// What marks a promise.
const PROMISES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];

/// Words that a reason has at least.
const REASON_WORDS_MIN: usize = 4;

/// Finds such words in every text file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != "Cargo.lock") {
        for (index, line) in file.text.lines().enumerate() {
            let mut found = |message| findings.push(Finding::new(&file.path, index + 1, message));
            if MACHINE_FOLDERS
                .iter()
                .any(|folder| names_folder(line, folder))
            {
                found("names a folder of one machine");
            }
            if PROMISES
                .iter()
                .any(|word| promises_without_reason(line, word))
            {
                found("a promise needs its reason: a colon and a sentence");
            }
        }
    }
    findings
}

/// Whether an absolute path in `line` begins with `folder`.
fn names_folder(line: &str, folder: &str) -> bool {
    let continues_path = |c: char| c.is_alphanumeric() || "._-~}/*$".contains(c);
    line.match_indices(folder).any(|(start, _)| {
        !line[..start]
            .chars()
            .next_back()
            .is_some_and(continues_path)
    })
}

fn promises_without_reason(line: &str, word: &str) -> bool {
    let Some((before, after)) = line.split_once(word) else {
        return false;
    };
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    if before.chars().next_back().is_some_and(is_part) || after.starts_with(is_part) {
        return false;
    }
    let reason = after.strip_prefix(':').unwrap_or("");
    reason.split_whitespace().count() < REASON_WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::{MACHINE_FOLDERS, PROMISES, check};
    use crate::tidy::Tree;

    fn findings(line: &str) -> usize {
        check(&Tree::of(&[("a.md", line)])).len()
    }

    #[test]
    fn a_folder_of_one_machine_is_found() {
        let folder = MACHINE_FOLDERS[0];
        assert_eq!(findings(&format!("see {folder}x")), 1);
        assert_eq!(findings(&format!("see frame{folder}x")), 0);
    }

    #[test]
    fn a_promise_needs_its_reason() {
        let word = PROMISES[0];
        assert_eq!(findings(&format!("// {word}: later")), 1);
        assert_eq!(
            findings(&format!(
                "// {word}: drop this once tonic closes idle streams."
            )),
            0
        );
        assert_eq!(findings(&format!("MY{word}S")), 0);
    }
}
