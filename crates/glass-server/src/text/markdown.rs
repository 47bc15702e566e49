//! A command, its output and its end as Markdown, to be put before a model. Pure.
//!
//! Nothing in them can leave its fence: the fence is longer than any row of
//! backticks inside.

use std::fmt::Write as _;

/// Backticks of a fence at least.
const FENCE_MIN: usize = 3;

/// What the Markdown is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be known.
    Context,
    /// To be mended.
    Fix,
    /// To be explained.
    Explain,
}

impl Purpose {
    pub(super) fn named(name: &str) -> Option<Purpose> {
        match name {
            "context" => Some(Purpose::Context),
            "fix" => Some(Purpose::Fix),
            "explain" => Some(Purpose::Explain),
            _ => None,
        }
    }

    fn request(self) -> &'static str {
        match self {
            Purpose::Context => "",
            Purpose::Fix => {
                "This command did not do what it should. Say why, and give one that does."
            }
            Purpose::Explain => "Explain what this command does, and what its output means.",
        }
    }
}

/// What is quoted.
pub(super) struct Quoted<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: &'a str,
    pub(super) output: &'a str,
    pub(super) end: &'a str,
}

impl Quoted<'_> {
    pub(super) fn markdown(&self, purpose: Purpose) -> String {
        let mut text = String::new();
        let request = purpose.request();
        if !request.is_empty() {
            text.push_str(request);
            text.push_str("\n\n");
        }
        let cwd = span(self.cwd);
        writeln!(text, "Command, in {cwd}:\n").expect("a String takes everything");
        fenced("sh", self.command, &mut text);
        if self.output.is_empty() {
            text.push_str("\nIt wrote nothing.\n");
        } else {
            text.push_str("\nOutput:\n\n");
            fenced("text", self.output, &mut text);
        }
        let end = span(self.end);
        writeln!(text, "\nEnd: {end}").expect("a String takes everything");
        text
    }
}

/// The longest row of backticks in a text.
fn longest_row(text: &str) -> usize {
    let rows = text.split(|c| c != '`').map(str::len);
    rows.max().unwrap_or(0)
}

fn fenced(language: &str, content: &str, text: &mut String) {
    let fence = "`".repeat(FENCE_MIN.max(longest_row(content) + 1));
    let newline = if content.ends_with('\n') { "" } else { "\n" };
    writeln!(text, "{fence}{language}\n{content}{newline}{fence}")
        .expect("a String takes everything");
}

/// A text in a line, as code.
fn span(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let ticks = "`".repeat(longest_row(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{space}{text}{space}{ticks}")
}

#[cfg(test)]
mod tests {
    use super::{Purpose, Quoted};
    use proptest::prelude::*;

    fn quoted<'a>(command: &'a str, output: &'a str) -> Quoted<'a> {
        Quoted {
            command,
            cwd: "/w",
            output,
            end: "exit code 1",
        }
    }

    #[test]
    fn a_command_is_quoted_with_its_output_and_its_end() {
        let text = quoted("make all", "no rule\n").markdown(Purpose::Context);
        assert_eq!(
            text,
            "Command, in `/w`:\n\n```sh\nmake all\n```\n\nOutput:\n\n```text\nno rule\n```\n\nEnd: \
             `exit code 1`\n"
        );
        let fix = quoted("make", "").markdown(Purpose::Fix);
        assert!(fix.starts_with("This command did not do"), "{fix}");
        assert!(fix.contains("It wrote nothing."), "{fix}");
        let explain = quoted("make", "").markdown(Purpose::Explain);
        assert!(explain.starts_with("Explain"), "{explain}");
    }

    #[test]
    fn purposes_have_names() {
        assert_eq!(Purpose::named("fix"), Some(Purpose::Fix));
        assert_eq!(Purpose::named("FIX"), None);
    }

    proptest! {
        #[test]
        fn nothing_leaves_its_fence(output in "[a`~ \n#]{1,80}") {
            let text = quoted("true", &output).markdown(Purpose::Context);
            let start = text.find("`text\n").expect("the fence opens");
            let fence_start = text[..start].rfind('\n').expect("a line") + 1;
            let fence = &text[fence_start..=start];
            let body = &text[start + "`text\n".len()..];
            let line = |line: &&str| line.trim_start().starts_with(fence);
            let closing: Vec<&str> = body.lines().filter(line).collect();
            prop_assert_eq!(closing, [fence]);
            prop_assert!(body.starts_with(&output));
        }
    }
}
