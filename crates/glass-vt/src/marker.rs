//! Markers that shells put into a terminal's output: where a prompt begins,
//! what was typed, where output begins, how it ended, which directory.
//!
//! A marker is a claim by whoever wrote the byte stream, and any program can
//! write one. So each says whether it carries the session's nonce
//! ([`Trust`]), and nothing but a trusted marker may change what Shellglass
//! believes.

mod fields;
mod parse;
mod scan;
#[cfg(test)]
mod tests;

pub use scan::{MarkerScanner, OSC_PAYLOAD_BYTES_MAX};

/// Which family of sequences a marker belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `OSC 133`, from FinalTerm: prompts and commands.
    Osc133,
    /// `OSC 633`, from VS Code: the same with escaped values and properties.
    Osc633,
    /// `OSC 7`: the directory as a URL.
    Osc7,
    /// `OSC 9;9`, from ConEmu: the directory as a path.
    Osc9,
    /// `OSC 1337`, from iTerm2: directory, host and more, as `Key=value`.
    Osc1337,
    /// `OSC 3008`, from systemd: contexts that begin and end.
    Osc3008,
}

impl Protocol {
    /// Its number, as written.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Osc133 => "133",
            Protocol::Osc633 => "633",
            Protocol::Osc7 => "7",
            Protocol::Osc9 => "9;9",
            Protocol::Osc1337 => "1337",
            Protocol::Osc3008 => "3008",
        }
    }
}

/// Whether a marker carried the session's nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// It did: our own shell integration wrote it.
    Trusted,
    /// It did not: anybody may have written it.
    Untrusted,
}

/// How sure it is that a marker means what we read into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// We had to guess: raw text where its protocol has no rule for one, a code
    /// that is missing or not a number, a directory on some other host.
    Low,
    /// It has the form that its protocol gives it, from an unknown writer.
    Medium,
    /// It has that form and the session's nonce.
    High,
}

/// What a marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A prompt begins.
    PromptStart,
    /// The prompt ends and the command line begins.
    PromptEnd,
    /// The command line, as the shell read it.
    CommandLine {
        /// Its text.
        command: String,
    },
    /// A command's output begins.
    OutputStart {
        /// The command line, where the marker carries it.
        command: Option<String>,
    },
    /// A command, or an empty command line, is over.
    Finished {
        /// Its exit code; absent where the marker has none.
        code: Option<i32>,
    },
    /// The shell's directory.
    Cwd {
        /// Its path.
        path: String,
        /// The host that it is on, where the marker names one.
        host: Option<String>,
    },
    /// A named value.
    Property {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A context of `OSC 3008` begins.
    ContextStart {
        /// Its id.
        id: String,
        /// Its directory, where given.
        cwd: Option<String>,
        /// Its command line, where given.
        command: Option<String>,
    },
    /// A context of `OSC 3008` ends.
    ContextEnd {
        /// Its id.
        id: String,
        /// The exit code, where given.
        code: Option<i32>,
    },
    /// Known to its protocol and of no use to us, such as a continuation
    /// prompt.
    Other,
}

/// One marker and its place in the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Where its first byte (ESC) stands, from the beginning of the stream.
    pub offset: u64,
    /// How many bytes it has, its terminator included.
    pub bytes: u64,
    /// Its family.
    pub protocol: Protocol,
    /// Its letter or key, as its protocol has it; `cwd` for OSC 7 and 9;9.
    pub kind: &'static str,
    /// What follows the kind, undecoded.
    pub payload: String,
    /// What it says.
    pub body: Body,
    /// Whether our own shell integration wrote it.
    pub trust: Trust,
    /// How sure the reading is.
    pub confidence: Confidence,
}

/// The secret that marks our own markers.
#[derive(Clone, PartialEq, Eq)]
pub struct Nonce(Vec<u8>);

impl Nonce {
    /// Fewest characters of a nonce: 16 hexadecimal digits are 64 bits.
    pub const CHARS_MIN: usize = 16;
    /// Most characters of a nonce.
    pub const CHARS_MAX: usize = 128;

    /// A nonce of letters, digits and dashes. Others, and short ones, are not
    /// taken: an empty nonce would make every marker a trusted one.
    pub fn new(text: &str) -> Option<Nonce> {
        let fits = (Nonce::CHARS_MIN..=Nonce::CHARS_MAX).contains(&text.len());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (fits && text.bytes().all(plain)).then(|| Nonce(text.as_bytes().to_vec()))
    }

    /// Whether this field is the nonce, whole.
    fn is(&self, field: &[u8]) -> bool {
        self.0 == field
    }
}

// A nonce in a log would be a nonce no longer.
impl std::fmt::Debug for Nonce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Nonce(…)")
    }
}
