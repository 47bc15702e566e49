//! Sizes and names of files.

use super::{Finding, Tree};

/// Lines above which a file says why it is long.
const LINES_WITHOUT_REASON_MAX: usize = 500;

/// Lines above which a file is split, whatever it says.
const LINES_MAX: usize = 800;

/// How files of other languages end.
const OTHER_LANGUAGES: &[&str] = &[".py", ".ts", ".tsx", ".mjs", ".cjs", ".js", ".css"];

/// How a file begins that the build makes; nobody reads it.
const GENERATED: &str = "// Generated from ";

/// How a long file begins its reason.
const REASON: &str = "//! Long because";

/// Lines of the doorway.
const MAIN_LINES_MAX: usize = 40;

const MAIN: &str = "crates/shellglass/src/main.rs";

/// Finds files that are too long, or that hide their name.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let lines = file.text.lines().count();
        let mut found = |message: String| findings.push(Finding::new(&file.path, 0, message));
        if file.path.ends_with("/mod.rs") {
            found("a module's file has the module's name, not mod.rs".to_owned());
        }
        if lines > LINES_MAX {
            found(format!("{lines} lines; split it (at most {LINES_MAX})"));
        } else if lines > LINES_WITHOUT_REASON_MAX && !file.text.contains(REASON) {
            found(format!("{lines} lines need a line `{REASON} …`"));
        }
        if file.path == MAIN && lines > MAIN_LINES_MAX {
            found(format!(
                "{lines} lines; the doorway has at most {MAIN_LINES_MAX}"
            ));
        }
    }
    for file in &tree.files {
        let lines = file.text.lines().count();
        let is_ours = OTHER_LANGUAGES.iter().any(|end| file.path.ends_with(end))
            && !file.text.starts_with(GENERATED);
        if is_ours && lines > LINES_MAX {
            let message = format!("{lines} lines; split it (at most {LINES_MAX})");
            findings.push(Finding::new(&file.path, 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::Tree;

    fn findings(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn long_files_explain_themselves_and_longer_ones_are_split() {
        let reason = "//! Long because the table is one.\n";
        assert_eq!(findings("a.rs", &"x\n".repeat(500)), 0);
        assert_eq!(findings("a.rs", &"x\n".repeat(501)), 1);
        assert_eq!(
            findings("a.rs", &format!("{reason}{}", "x\n".repeat(600))),
            0
        );
        assert_eq!(
            findings("a.rs", &format!("{reason}{}", "x\n".repeat(800))),
            1
        );
        for (lines, count) in [(800, 0), (801, 1)] {
            assert_eq!(findings("tests/a.py", &"x\n".repeat(lines)), count);
            assert_eq!(findings("tests/a.svg", &"x\n".repeat(lines)), 0);
            let made = format!("// Generated from a contract.\n{}", "x\n".repeat(lines));
            assert_eq!(findings("web/src/a.ts", &made), 0);
        }
    }

    #[test]
    fn a_module_has_its_own_name() {
        assert_eq!(findings("crates/a/src/b/mod.rs", ""), 1);
        assert_eq!(findings("crates/a/src/b.rs", ""), 0);
    }

    #[test]
    fn the_doorway_is_short() {
        assert_eq!(
            findings("crates/shellglass/src/main.rs", &"x\n".repeat(41)),
            1
        );
    }
}
