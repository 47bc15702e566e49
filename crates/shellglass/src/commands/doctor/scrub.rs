//! Makes a report one that can be pasted: no home directory, no name of a
//! person or a machine, no secret.

use super::check::Check;
use glass_redact::{Detector, Known, Redactor, Rules};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Shortest name that is looked for: shorter ones are parts of words.
const NAME_CHARS_MIN: usize = 3;

/// Names that tell nothing.
const COMMON: [&str; 3] = ["root", "localhost", "shellglass"];

/// What is not to be seen.
pub(super) struct Scrub {
    /// Paths, and what is shown instead; the longest first.
    paths: Vec<(String, &'static str)>,
    /// Names, and what is shown instead.
    names: Vec<(String, &'static str)>,
    detector: Arc<Detector>,
}

impl Scrub {
    /// What this process knows of its user and its machine.
    pub(super) fn of_this_process() -> Scrub {
        let mut known = Known::new();
        let variables: Vec<(Vec<u8>, Vec<u8>)> = std::env::vars_os()
            .map(|(name, value)| (name.into_vec(), value.into_vec()))
            .collect();
        known.add_environment(
            variables
                .iter()
                .map(|(name, value)| (&name[..], &value[..])),
        );
        let home = std::env::home_dir();
        let real = home.as_ref().and_then(|home| home.canonicalize().ok());
        let doctor = format!("shellglass-doctor-{}", std::process::id());
        let temporary = std::env::temp_dir().join(doctor);
        let mut users: Vec<String> = ["USER", "LOGNAME", "SUDO_USER"]
            .iter()
            .filter_map(|name| std::env::var(name).ok())
            .collect();
        let last = home.as_ref().and_then(|home| home.file_name());
        users.extend(last.map(|name| name.to_string_lossy().into_owned()));
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        Scrub::new(
            [(Some(temporary), "DIR"), (real, "~"), (home, "~")],
            users,
            host,
            Detector::new(Rules::builtin(), &known),
        )
    }

    fn new(
        paths: [(Option<PathBuf>, &'static str); 3],
        users: Vec<String>,
        host: String,
        detector: Detector,
    ) -> Scrub {
        let text = |(path, shown): (Option<PathBuf>, _)| {
            let path = path?.to_string_lossy().into_owned();
            (path.len() > 1).then_some((path, shown))
        };
        let mut paths: Vec<_> = paths.into_iter().filter_map(text).collect();
        paths.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let users = users.into_iter().map(|name| (name, "USER"));
        let names = users.chain([(host, "HOST")]);
        let is_telling = |(name, _): &(String, &str)| {
            name.chars().count() >= NAME_CHARS_MIN && !COMMON.contains(&name.as_str())
        };
        Scrub {
            paths,
            names: names.filter(is_telling).collect(),
            detector: Arc::new(detector),
        }
    }

    /// The same check as one that can be shown to anybody.
    pub(super) fn check(&self, check: Check) -> Check {
        Check {
            name: self.text(&check.name),
            detail: self.text(&check.detail),
            fix: check.fix.map(|fix| self.text(&fix)),
            ..check
        }
    }

    fn text(&self, text: &str) -> String {
        // Secrets go first: they are known as they were written.
        let bytes = Redactor::redact_all(&self.detector, text.as_bytes());
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        for (path, shown) in &self.paths {
            text = replace(&text, path, shown, |before, after| {
                !is_part(before) && !is_part(after)
            });
        }
        for (name, shown) in &self.names {
            text = replace(&text, name, shown, |before, after| {
                !is_part(before) && !is_part(after)
            });
        }
        // What a program printed must not move the cursor of whoever reads this.
        let plain = |c: char| match c.is_control() {
            true => ' ',
            false => c,
        };
        text.chars().map(plain).collect()
    }
}

fn is_part(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Replaces a word wherever its neighbours let it be one.
fn replace(
    text: &str,
    word: &str,
    shown: &str,
    is_word: impl Fn(Option<char>, Option<char>) -> bool,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, behind) = (&rest[..at], &rest[at + word.len()..]);
        let last = before.chars().last().or(out.chars().last());
        out.push_str(before);
        out.push_str(match is_word(last, behind.chars().next()) {
            true => shown,
            false => word,
        });
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::super::check::Check;
    use super::Scrub;
    use glass_redact::Detector;

    fn check(text: &str, expected: &str) {
        let scrub = Scrub::new(
            [
                (Some("/tmp/shellglass-doctor-7".into()), "DIR"),
                (Some("/home/maria".into()), "~"),
                (None, "~"),
            ],
            vec!["maria".to_owned(), "root".to_owned(), "x".to_owned()],
            "wombat".to_owned(),
            Detector::builtin(),
        );
        let shown = scrub.check(Check::good("g", "n", text)).detail;
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_report_names_nobody() {
        check("/home/maria/.config/x", "~/.config/x");
        check("/home/maria2/x", "/home/maria2/x");
        check(
            "/media/maria/disk of maria@wombat",
            "/media/USER/disk of USER@HOST",
        );
        check("/tmp/shellglass-doctor-7/run", "DIR/run");
        check("root is x in mariana", "root is x in mariana");
    }

    #[test]
    fn a_report_has_no_secrets_and_moves_no_cursor() {
        check("a\u{1b}[2Jb\nc", "a [2Jb c");
        let key = concat!("AKIA", "Q4ZT7X2PLM9KD3WV");
        let scrubbed = Scrub::of_this_process()
            .check(Check::good("g", "n", key))
            .detail;
        assert!(!scrubbed.contains("Q4ZT7X2PLM9KD3WV"), "{scrubbed}");
    }
}
