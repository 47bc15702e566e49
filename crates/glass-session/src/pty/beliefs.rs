//! What a terminal's shell has told us of itself: pure, and from its own markers
//! alone.
//!
//! Invariant: a command that began ends exactly once, however often a marker
//! comes, and whichever is missing. A code is the shell's word or absent.

use glass_vt::{Body, Marker};

/// What is shown between a prompt and a command that is kept, in bytes.
const ECHO_BYTES_MAX: usize = 4096;

/// What the shell does, as far as it has told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// It has not said anything yet.
    #[default]
    Starting,
    /// It shows a prompt, or is about to.
    Prompting,
    /// A command runs.
    Running,
}

/// Something that is so from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// The shell tells what it does.
    Ready,
    /// It shows a prompt.
    Prompt,
    /// It has taken the command of this number, which was handed over.
    Taken(u32),
    /// It has put a line aside that a person had begun.
    Draft,
    /// A command began. Its text is absent where the shell keeps it to itself.
    Began {
        command: Option<String>,
        taken: Option<u32>,
    },
    /// It ended.
    Ended { code: Option<i32> },
    /// The command of this number was taken, and a prompt came without it
    /// having begun.
    Passed(u32),
    /// The shell is there now.
    Cwd(String),
}

/// The state of one shell.
#[derive(Clone, Debug, Default)]
pub(super) struct Beliefs {
    doing: Doing,
    ready: bool,
    line: Option<String>,
    taken: Option<u32>,
    echo: Option<Vec<u8>>,
    /// Whether the kernel alone says that a command runs.
    witnessed: bool,
}

impl Beliefs {
    /// What is known of a shell that told its story to somebody else.
    pub(super) fn adopted(doing: Doing) -> Beliefs {
        Beliefs {
            doing,
            ready: true,
            ..Beliefs::default()
        }
    }

    pub(super) fn doing(&self) -> Doing {
        self.doing
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready
    }

    /// The kernel says so, and the shell's own word is lost.
    pub(super) fn is_at_prompt(&mut self) {
        self.doing = Doing::Prompting;
    }

    /// Whether the shell has said what it is about to run.
    pub(super) fn has_line(&self) -> bool {
        self.line.is_some()
    }

    /// Whether the kernel alone says that a command runs.
    pub(super) fn is_witnessed(&self) -> bool {
        self.witnessed && self.doing == Doing::Running
    }

    /// The kernel says that a command runs, and the shell's own word is lost: gives
    /// what of it is not.
    pub(super) fn witness(&mut self) -> (Option<String>, Option<u32>) {
        self.doing = Doing::Running;
        self.witnessed = true;
        self.echo = None;
        (self.line.take(), self.taken.take())
    }

    /// Notes what the terminal shows while a line is read.
    pub(super) fn shown(&mut self, bytes: &[u8]) {
        if let Some(echo) = &mut self.echo {
            let room = ECHO_BYTES_MAX.saturating_sub(echo.len());
            echo.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// What follows from a marker of the shell's own.
    pub(super) fn take(&mut self, marker: Marker) -> Vec<Fact> {
        match marker.body {
            Body::PromptStart => self.prompt(),
            Body::PromptEnd => {
                self.echo = Some(Vec::new());
                Vec::new()
            }
            Body::CommandLine { command } => {
                self.line = Some(command);
                Vec::new()
            }
            Body::OutputStart { .. } => self.began(),
            Body::Finished { code } if self.doing == Doing::Running => {
                self.doing = Doing::Prompting;
                vec![Fact::Ended { code }]
            }
            Body::Cwd { path, .. } if path.starts_with('/') => vec![Fact::Cwd(path)],
            Body::Property { name, value } => self.property(&name, value),
            _ => Vec::new(),
        }
    }

    fn property(&mut self, name: &str, value: String) -> Vec<Fact> {
        match name {
            "Ready" if !self.ready => {
                self.ready = true;
                vec![Fact::Ready]
            }
            "Taken" => {
                self.taken = value.parse().ok();
                self.taken.map(Fact::Taken).into_iter().collect()
            }
            "Draft" => vec![Fact::Draft],
            "Last" => {
                let echoed = self.echo.as_deref().map(plain);
                if echoed.is_some_and(|echoed| echoed == value) {
                    self.line = Some(value);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn prompt(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        if self.doing == Doing::Running {
            facts.push(Fact::Ended { code: None });
        }
        facts.extend(self.taken.take().map(Fact::Passed));
        self.doing = Doing::Prompting;
        self.line = None;
        facts.push(Fact::Prompt);
        facts
    }

    fn began(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        if self.is_witnessed() {
            // A helper of its prompt ran, and this is something else.
            facts.push(Fact::Ended { code: None });
        } else if self.doing == Doing::Running {
            // Another part of the same line.
            return facts;
        }
        self.doing = Doing::Running;
        self.witnessed = false;
        self.echo = None;
        let (command, taken) = (self.line.take(), self.taken.take());
        facts.push(Fact::Began { command, taken });
        facts
    }
}

/// A line as it was typed, from what the terminal showed of that.
fn plain(echo: &[u8]) -> String {
    let mut text = Vec::new();
    let mut bytes = echo.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            0x1b => {
                // A control sequence ends with its first letter.
                if bytes.next() == Some(b'[') {
                    bytes.by_ref().find(|byte| (0x40..=0x7e).contains(byte));
                }
            }
            0x08 => drop(text.pop()),
            0x00..=0x1f => {}
            _ => text.push(byte),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Beliefs, Doing, Fact, plain};
    use glass_vt::Nonce;
    use glass_vt::sieve::{Sieve, Sifted};

    const NONCE: &str = "0123456789abcdef";

    /// The facts of a stream, in which `<X>` is a marker of our own.
    fn facts(stream: &str) -> (Vec<Fact>, Doing) {
        let stream = stream
            .replace('<', "\x1b]633;")
            .replace('>', ";0123456789abcdef\x07");
        let mut sieve = Sieve::new(Nonce::new(NONCE).expect("long enough"));
        let mut beliefs = Beliefs::default();
        let mut facts = Vec::new();
        for part in sieve.push(stream.as_bytes()) {
            match part {
                Sifted::Piece(range) => beliefs.shown(&stream.as_bytes()[range]),
                Sifted::Bytes(bytes) => beliefs.shown(&bytes),
                Sifted::Marker(marker) => facts.extend(beliefs.take(marker)),
            }
        }
        (facts, beliefs.doing())
    }

    #[test]
    fn what_the_kernel_saw_ends_with_the_shells_word() {
        let mut beliefs = Beliefs::adopted(Doing::Prompting);
        let marker = |body: &str| {
            let nonce = Nonce::new(NONCE).expect("long enough");
            let stream = format!("\x1b]633;{body};{NONCE}\x07");
            let sifted = Sieve::new(nonce).push(stream.as_bytes());
            match sifted.into_iter().next() {
                Some(Sifted::Marker(marker)) => marker,
                other => panic!("{other:?}"),
            }
        };
        beliefs.take(marker("E;tmux"));
        assert_eq!(beliefs.witness(), (Some("tmux".to_owned()), None));
        assert!(beliefs.is_witnessed());
        assert_eq!(beliefs.take(marker("D;3")), [Fact::Ended { code: Some(3) }]);
        assert!(!beliefs.is_witnessed());
        beliefs.witness();
        // It was a helper of the prompt.
        beliefs.take(marker("E;ls"));
        let ended = Fact::Ended { code: None };
        assert_eq!(beliefs.take(marker("C")), [ended, began("ls")]);
        assert!(!beliefs.is_witnessed());
        assert_eq!(
            beliefs.take(marker("C")),
            [],
            "another part of the same line"
        );
    }

    fn began(command: &str) -> Fact {
        Fact::Began {
            command: Some(command.to_owned()),
            taken: None,
        }
    }

    fn ended(code: i32) -> Fact {
        Fact::Ended { code: Some(code) }
    }

    #[test]
    fn a_command_begins_and_ends_with_its_code() {
        let (facts, doing) = facts("<P;Ready=bash><A>$ <B>ls\r\n<E;ls><C>file\r\n<D;3><A>$ <B>");
        let expected = [
            Fact::Ready,
            Fact::Prompt,
            began("ls"),
            ended(3),
            Fact::Prompt,
        ];
        assert_eq!(facts, expected);
        assert_eq!(doing, Doing::Prompting);
    }

    #[test]
    fn an_empty_line_is_no_command_and_repeated_markers_change_nothing() {
        let (facts, _) = facts("<A>$ <B>\r\n<A>$ <B><D;1><D;1><E;ls><C><C><C><D;0><D;0>");
        let expected = [Fact::Prompt, Fact::Prompt, began("ls"), ended(0)];
        assert_eq!(facts, expected);
    }

    #[test]
    fn a_lost_end_is_an_end_without_a_code() {
        let (facts, _) = facts("<E;a><C>x<A>$ <E;b><C>y<D;1>");
        let lost = Fact::Ended { code: None };
        assert_eq!(
            facts,
            [began("a"), lost, Fact::Prompt, began("b"), ended(1)]
        );
    }

    #[test]
    fn what_the_shell_keeps_to_itself_is_not_the_line_before() {
        let (facts, _) = facts("<E;a><C><D;0><A>$ <B> secret\r\n<C><D;0>");
        let hidden = Fact::Began {
            command: None,
            taken: None,
        };
        assert_eq!(
            facts,
            [began("a"), ended(0), Fact::Prompt, hidden, ended(0)]
        );
    }

    #[test]
    fn a_line_that_is_repeated_is_known_by_what_was_shown() {
        let (again, _) = facts("<A>$ <B>make\x1b[?2004l\r\n<P;Last=make><C>");
        assert_eq!(again, [Fact::Prompt, began("make")]);
        let (other, _) = facts("<A>$ <B> make\r\n<P;Last=make><C>");
        let hidden = Fact::Began {
            command: None,
            taken: None,
        };
        assert_eq!(other, [Fact::Prompt, hidden]);
    }

    #[test]
    fn what_was_handed_over_is_known_by_its_number() {
        let (run, _) = facts("<A>$ <B><P;Taken=7>x\r\n<E;x><C><D;0><A>");
        let begun = Fact::Began {
            command: Some("x".to_owned()),
            taken: Some(7),
        };
        assert_eq!(
            run,
            [Fact::Prompt, Fact::Taken(7), begun, ended(0), Fact::Prompt]
        );
        let (passed, _) = facts("<A>$ <B><P;Taken=7>\r\nerror\r\n<A>");
        let expected = [Fact::Prompt, Fact::Taken(7), Fact::Passed(7), Fact::Prompt];
        assert_eq!(passed, expected);
    }

    #[test]
    fn nonsense_from_the_shell_itself_changes_nothing() {
        let (facts, doing) = facts("<P;Cwd=relative><P;Taken=x><P;Unknown=1><D;1>");
        assert_eq!((facts, doing), (vec![], Doing::Starting));
    }

    #[test]
    fn a_line_is_read_from_its_echo() {
        assert_eq!(plain(b"ec\x08\x08echo hi\x1b[K\x1b[?2004l\r\n"), "echo hi");
        assert_eq!(plain(b"\x1b"), "");
    }
}
