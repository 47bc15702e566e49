//! What programs say when they are refused something, in the C locale and in
//! the words of some runtimes.

/// What kind of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// EROFS.
    ReadOnly,
    /// EACCES.
    Permission,
    /// EBUSY.
    Busy,
    /// No way to a host, or no way to find its address.
    Network,
    /// EAGAIN, of a call that makes a process or a thread.
    Tasks,
}

/// One line that tells of a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub trouble: Trouble,
    /// Paths or hosts that it may be about, the likeliest first.
    pub subjects: Vec<String>,
}

/// The longest line that is looked at.
const LINE_BYTES_MAX: usize = 4096;

/// The most subjects of one line.
const SUBJECTS_MAX: usize = 8;

const TROUBLES: &[(&str, Trouble)] = &[
    ("read-only file system", Trouble::ReadOnly),
    ("erofs", Trouble::ReadOnly),
    ("permission denied", Trouble::Permission),
    ("eacces", Trouble::Permission),
    ("device or resource busy", Trouble::Busy),
    ("ebusy", Trouble::Busy),
    ("network is unreachable", Trouble::Network),
    ("could not resolve host", Trouble::Network),
    ("temporary failure in name resolution", Trouble::Network),
    ("name or service not known", Trouble::Network),
    ("could not resolve proxy", Trouble::Network),
    ("getaddrinfo eai_again", Trouble::Network),
    ("getaddrinfo enotfound", Trouble::Network),
    ("enetunreach", Trouble::Network),
    ("failed to lookup address information", Trouble::Network),
    ("temporary failure resolving", Trouble::Network),
    ("resource temporarily unavailable", Trouble::Tasks),
    ("eagain", Trouble::Tasks),
    ("can't start new thread", Trouble::Tasks),
    ("cannot fork", Trouble::Tasks),
];

/// One of these is said as well where processes or threads are meant: files and
/// sockets are unavailable for a while, too.
const OF_TASKS: &[&str] = &["fork", "thread", "clone", "spawn", "process"];

/// What a line complains about, if it does.
pub(super) fn complaint(line: &str) -> Option<Complaint> {
    if line.len() > LINE_BYTES_MAX {
        return None;
    }
    // ASCII lower case keeps every offset where it was.
    let lower = line.to_ascii_lowercase();
    let (at, words, trouble) = TROUBLES
        .iter()
        .filter_map(|(words, trouble)| Some((lower.find(words)?, *words, *trouble)))
        .min_by_key(|(at, _, _)| *at)?;
    if trouble == Trouble::Tasks && !OF_TASKS.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let (before, after) = (&line[..at], &line[at + words.len()..]);
    let mut subjects = match trouble {
        Trouble::Network => hosts(before, after),
        _ => paths(before, after),
    };
    subjects.truncate(SUBJECTS_MAX);
    Some(Complaint { trouble, subjects })
}

/// Quoted words first, then the part before the complaint that a colon ends
/// (`bash: line 1: /etc/x: Permission denied`).
fn paths(before: &str, after: &str) -> Vec<String> {
    let mut found = quoted(after);
    found.extend(quoted(before));
    let plain = before.trim_end().trim_end_matches(':');
    if let Some(last) = plain.rsplit(": ").next() {
        found.push(last.trim().to_owned());
        if let Some(word) = last.split_whitespace().next_back() {
            found.push(word.to_owned());
        }
    }
    found.retain(|path| !path.is_empty() && !path.contains('\0'));
    found.dedup();
    found
}

fn hosts(before: &str, after: &str) -> Vec<String> {
    let host = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
        let word = word.trim_end_matches([':', '.', ',']);
        word.contains(['.', ':']) && word.chars().all(plain) || word == "localhost"
    };
    let words = |text: &str| -> Vec<String> {
        let separators = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ')' | '/');
        let words = text.split(separators).filter(host);
        let words = words.map(|word| word.trim_end_matches([':', '.', ',']).to_owned());
        words.filter(|word| word.len() > 2).collect()
    };
    let mut found = words(after);
    found.extend(words(before).into_iter().rev());
    found
}

/// Everything that stands in quotes of any kind.
fn quoted(text: &str) -> Vec<String> {
    const PAIRS: &[(char, char)] = &[('\'', '\''), ('"', '"'), ('‘', '’'), ('`', '\'')];
    let mut found = Vec::new();
    for (open, close) in PAIRS {
        let mut rest = text;
        while let Some(start) = rest.find(*open) {
            let inside = &rest[start + open.len_utf8()..];
            let Some(end) = inside.find(*close) else {
                break;
            };
            found.push(inside[..end].to_owned());
            rest = &inside[end + close.len_utf8()..];
            if found.len() >= SUBJECTS_MAX {
                return found;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Trouble, complaint};

    fn check(line: &str, trouble: Trouble, subject: &str) {
        let found = complaint(line).expect(line);
        assert_eq!(found.trouble, trouble, "{line}");
        assert!(
            found.subjects.iter().any(|s| s == subject),
            "{line}: {found:?}"
        );
    }

    #[test]
    fn programs_are_understood() {
        let read_only = Trouble::ReadOnly;
        check(
            "bash: line 1: /etc/x: Read-only file system",
            read_only,
            "/etc/x",
        );
        check(
            "touch: cannot touch '/etc/x y': Read-only file system",
            read_only,
            "/etc/x y",
        );
        check(
            "mkdir: cannot create directory ‘/x’: Read-only file system",
            read_only,
            "/x",
        );
        check(
            "OSError: [Errno 30] Read-only file system: '/x'",
            read_only,
            "/x",
        );
        check(
            "Error: EROFS: read-only file system, open '/x'",
            read_only,
            "/x",
        );
        check("cat: .env: Permission denied", Trouble::Permission, ".env");
        check(
            "PermissionError: [Errno 13] Permission denied: '/x'",
            Trouble::Permission,
            "/x",
        );
        check(
            "error: could not write config file .git/config: Device or resource busy",
            Trouble::Busy,
            ".git/config",
        );
        check(
            "curl: (6) Could not resolve host: example.com",
            Trouble::Network,
            "example.com",
        );
        check(
            "connect to 10.0.0.1 port 80 failed: Network is unreachable",
            Trouble::Network,
            "10.0.0.1",
        );
    }

    #[test]
    fn a_lack_of_processes_is_told_from_other_waiting() {
        for line in [
            "bash: fork: retry: Resource temporarily unavailable",
            "sh: 1: Cannot fork",
            "RuntimeError: can't start new thread",
            "fork/exec /bin/true: resource temporarily unavailable",
            "Error: spawn /bin/sh EAGAIN",
        ] {
            let found = complaint(line).expect(line);
            assert_eq!(found.trouble, Trouble::Tasks, "{line}");
        }
        let of_a_socket = "read: Resource temporarily unavailable";
        assert_eq!(complaint(of_a_socket), None);
    }

    #[test]
    fn other_lines_say_nothing() {
        for line in ["", "error: no such file", "permission was granted"] {
            assert_eq!(complaint(line), None, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_without_a_panic(a in "\\PC{0,40}", b in "[\u{80}-\u{ffff}'\": ]{0,20}") {
            complaint(&format!("{a}Permission denied{b}"));
            complaint(&format!("{b}Network is unreachable{a}"));
            complaint(&a);
        }
    }
}
