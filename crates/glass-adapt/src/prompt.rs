//! Whether output ends with a question that somebody has to type an answer to.
//!
//! Only the last line counts, and only while it is not terminated: a program
//! that waits leaves its cursor behind the question. The questions are those of
//! git, ssh, sudo, gpg, npm, pip and their like, in English. Finding one is a
//! guess about text: it may be shown, and nothing must be done because of it.

/// Longest line that is looked at, in characters. Questions are shorter.
const LINE_CHARS_MAX: usize = 512;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PromptKind {
    /// A password or a code that stands for one.
    Password,
    /// A user's name.
    Username,
    /// Yes or no.
    Confirm,
    /// Whether an unknown host is to be trusted.
    HostKey,
    /// What unlocks a key.
    Passphrase,
}

impl PromptKind {
    /// Whether the answer must not be shown while it is typed.
    pub fn is_secret(self) -> bool {
        matches!(self, PromptKind::Password | PromptKind::Passphrase)
    }
}

/// A question at the end of some output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What is asked for.
    pub kind: PromptKind,
    /// The question, without control characters.
    pub text: String,
}

/// The question that this output ends with.
pub fn find(tail_of_output: &str) -> Option<Prompt> {
    let line = tail_of_output.rsplit(['\n', '\r']).next()?;
    // A long line is no question, and need not be looked through.
    if line.len() > 4 * LINE_CHARS_MAX {
        return None;
    }
    let text = visible(line);
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LINE_CHARS_MAX {
        return None;
    }
    let kind = kind_of(&text.to_lowercase())?;
    Some(Prompt {
        kind,
        text: text.to_owned(),
    })
}

/// A line without escape sequences and control characters.
fn visible(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.next_if_eq(&'[').is_some() {
                // Parameters, then one final character.
                while chars.next_if(|c| !('@'..='~').contains(c)).is_some() {}
            }
            chars.next();
        } else if !c.is_control() {
            text.push(c);
        }
    }
    text
}

fn kind_of(line: &str) -> Option<PromptKind> {
    if is_host_key(line) {
        return Some(PromptKind::HostKey);
    }
    if let Some(question) = line.strip_suffix(':') {
        let question = question.trim_end();
        let kinds = [
            ("passphrase", PromptKind::Passphrase),
            ("pin", PromptKind::Passphrase),
            ("password", PromptKind::Password),
            ("verification code", PromptKind::Password),
            ("one-time password", PromptKind::Password),
            ("username", PromptKind::Username),
            ("login", PromptKind::Username),
        ];
        let found = kinds.iter().find(|(noun, _)| asks_for(question, noun));
        if let Some((_, kind)) = found {
            return Some(*kind);
        }
    }
    is_confirm(line).then_some(PromptKind::Confirm)
}

fn is_host_key(line: &str) -> bool {
    line.contains("continue connecting (yes/no") && line.ends_with('?')
        || line.contains("type 'yes', 'no' or the fingerprint") && line.ends_with(':')
}

/// Whether a question (without its colon) asks for this: the noun, some words
/// that usually stand before it, and what it is for.
fn asks_for(question: &str, noun: &str) -> bool {
    let Some(at) = question.find(noun) else {
        return false;
    };
    let (before, behind) = (&question[..at], &question[at + noun.len()..]);
    let is_for = behind.is_empty()
        || behind.starts_with(" for ")
        || behind.starts_with(" (")
        || behind == " again";
    is_for && before.split_whitespace().all(is_usual) && ends_word(before)
}

fn ends_word(text: &str) -> bool {
    text.is_empty() || text.ends_with(' ')
}

/// Words before the noun: `[sudo]`, `ann@host's`, `(ann@host)`, `Enter new`.
fn is_usual(word: &str) -> bool {
    const USUAL: [&str; 14] = [
        "enter", "the", "your", "a", "new", "old", "current", "same", "again", "retype", "repeat",
        "unix", "please", "host",
    ];
    let enclosed = |from: char, to: char| word.starts_with(from) && word.ends_with(to);
    USUAL.contains(&word)
        || enclosed('[', ']')
        || enclosed('(', ')')
        || word.contains('@') && word.ends_with("'s")
}

/// Whether the line ends with a choice between yes and no.
fn is_confirm(line: &str) -> bool {
    const CHOICES: [&str; 12] = [
        "[y/n]", "(y/n)", "[yes/no]", "(yes/no)", "(y/n/q)", "[y/n/q]", "(y)", "(yes)", "(no)",
        "[y]", "[yes]", "[no]",
    ];
    let line = line.trim_end_matches([' ', ':', '?', '>']);
    CHOICES.iter().any(|choice| line.ends_with(choice)) && line.len() > "[yes/no]".len()
}

#[cfg(test)]
mod tests {
    use super::{PromptKind, find};
    use PromptKind::{Confirm, HostKey, Passphrase, Password, Username};

    fn check(output: &str, kind: PromptKind) {
        let found = find(output).map(|prompt| prompt.kind);
        assert_eq!(found, Some(kind), "{output:?}");
        assert_eq!(find(&format!("{output}\n")), None, "{output:?} is over");
    }

    #[test]
    fn questions_of_known_tools_are_found() {
        for (output, kind) in [
            ("Username for 'https://github.com': ", Username),
            (
                "Cloning into 'a'...\nPassword for 'https://a@b': ",
                Password,
            ),
            ("ann@host's password: ", Password),
            ("(ann@host) Password: ", Password),
            ("(ann@host) Verification code: ", Password),
            ("[sudo] password for ann: ", Password),
            ("Password:", Password),
            (
                "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ",
                Passphrase,
            ),
            ("Enter passphrase (empty for no passphrase): ", Passphrase),
            ("Enter same passphrase again: ", Passphrase),
            (
                "Enter PIN for ED25519-SK key /home/ann/.ssh/id: ",
                Passphrase,
            ),
            (
                "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
                HostKey,
            ),
            ("Please type 'yes', 'no' or the fingerprint: ", HostKey),
            (
                "Need to install the following packages:\nx\nOk to proceed? (y) ",
                Confirm,
            ),
            ("Is this OK? (yes) ", Confirm),
            ("Proceed (Y/n)? ", Confirm),
            ("Do you want to continue? [Y/n] ", Confirm),
            ("rm: remove? [y/N]: ", Confirm),
            ("\x1b[1mProceed?\x1b[0m (y/N) \x1b[K", Confirm),
            ("old\rOverwrite it? [y/N] ", Confirm),
        ] {
            check(output, kind);
        }
    }

    #[test]
    fn other_ends_of_output_are_no_questions() {
        for output in [
            "",
            "$ ",
            "done",
            "Password: \nok",
            "{\"password\":",
            "reset password for ann failed:",
            "wrong password: ",
            "login.c: in function main:",
            "compiling (y)es",
            "[y/n]",
            "a_password:",
        ] {
            assert_eq!(find(output), None, "{output:?}");
        }
        assert_eq!(find(&format!("{}password:", " a".repeat(4000))), None);
    }

    #[test]
    fn the_text_has_no_control_characters() {
        let prompt = find("x\n\x1b[31mPassword\x07:\x1b[0m ").expect("a question");
        assert_eq!(prompt.text, "Password:");
        assert!(prompt.kind.is_secret());
    }
}
