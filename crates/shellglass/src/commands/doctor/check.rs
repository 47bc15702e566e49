//! What came of one try, and how all of them are shown.

use crate::error::Failure;
use crate::ink::Ink;
use serde::Serialize;
use std::fmt::Write as _;

/// What a try says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    /// It works.
    Ok,
    /// It works, and somebody should look at it.
    Warning,
    /// It does not, and nothing that is configured needs it.
    Missing,
    /// It does not, and the configuration needs it.
    Broken,
}

/// One try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) group: &'static str,
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

impl Check {
    pub(super) fn good(
        group: &'static str,
        name: impl Into<String>,
        detail: impl Into<String>,
    ) -> Check {
        Check {
            group,
            name: name.into(),
            verdict: Verdict::Ok,
            detail: detail.into(),
            fix: None,
        }
    }

    pub(super) fn bad(
        group: &'static str,
        name: impl Into<String>,
        verdict: Verdict,
        detail: impl Into<String>,
        fix: &str,
    ) -> Check {
        Check {
            verdict,
            fix: Some(fix.to_owned()),
            ..Check::good(group, name, detail)
        }
    }

    /// What works and should be looked at all the same.
    pub(super) fn warning(
        group: &'static str,
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: &str,
    ) -> Check {
        Check::bad(group, name, Verdict::Warning, detail, fix)
    }

    /// What the configuration needs and is not to be had.
    pub(super) fn broken(
        group: &'static str,
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: &str,
    ) -> Check {
        Check::bad(group, name, Verdict::Broken, detail, fix)
    }

    pub(super) fn failed(group: &'static str, name: &str, failure: Failure) -> Check {
        Check {
            verdict: Verdict::Broken,
            fix: failure.hint,
            ..Check::good(group, name, failure.message)
        }
    }
}

/// For programs.
pub(super) fn as_json(checks: &[Check]) -> String {
    let text = serde_json::to_string_pretty(checks).expect("checks are plain data");
    text + "\n"
}

/// For people: grouped, with a fix below what needs one, and the sum.
pub(super) fn as_text(checks: &[Check], ink: Ink) -> String {
    let mut text = String::new();
    let mut group = "";
    for check in checks {
        if check.group != group {
            group = check.group;
            let _ = writeln!(text, "{}{group}", if text.is_empty() { "" } else { "\n" });
        }
        let mark = match check.verdict {
            Verdict::Ok => ink.green("ok     "),
            Verdict::Warning => ink.yellow("warning"),
            Verdict::Missing => ink.yellow("missing"),
            Verdict::Broken => ink.red("BROKEN "),
        };
        let _ = writeln!(text, "  {mark} {}: {}", check.name, check.detail);
        if let Some(fix) = &check.fix {
            let _ = writeln!(text, "          fix: {fix}");
        }
    }
    let count = |verdict| {
        checks
            .iter()
            .filter(|check| check.verdict == verdict)
            .count()
    };
    let _ = writeln!(
        text,
        "\n{} ok, {} to look at, {} missing, {} broken",
        count(Verdict::Ok),
        count(Verdict::Warning),
        count(Verdict::Missing),
        count(Verdict::Broken),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::{Check, Verdict, as_json, as_text};
    use crate::ink::Ink;

    #[test]
    fn a_report_has_groups_verdicts_and_fixes() {
        let checks = [
            Check::good("shells", "bash", "warm"),
            Check::bad(
                "shells",
                "fish",
                Verdict::Missing,
                "not there",
                "install it",
            ),
        ];
        let text = as_text(&checks, Ink::plain());
        assert_eq!(
            text,
            "shells\n  ok      bash: warm\n  missing fish: not there\n          fix: install it\n\n\
             1 ok, 0 to look at, 1 missing, 0 broken\n"
        );
        assert!(as_json(&checks).contains("\"verdict\": \"missing\""));
    }
}
