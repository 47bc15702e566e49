//! What is known of a command line before it runs, and what was decided.

/// May it run? The order is from the most to the least lenient, so that the
/// strictest of several is their maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Without a question.
    Allow,
    /// If a person says so.
    Ask,
    /// No.
    Deny,
}

impl Verdict {
    /// As the wire and the rules have it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

/// How an argument was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentKind {
    /// Plainly.
    Word,
    /// With quotes or escapes, and nothing that expands.
    Quoted,
    /// With a pattern that becomes file names.
    Pattern,
    /// With a variable, a substitution or arithmetic in it.
    Expansion,
}

impl ArgumentKind {
    /// As the wire has it.
    pub fn name(self) -> &'static str {
        match self {
            ArgumentKind::Word => "word",
            ArgumentKind::Quoted => "string",
            ArgumentKind::Pattern => "glob",
            ArgumentKind::Expansion => "expansion",
        }
    }
}

/// One argument of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// How it was written.
    pub kind: ArgumentKind,
    /// Its text without quotes; as written, where it expands.
    pub value: String,
}

/// A command that a line can execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutableCommand {
    /// Its name without quotes.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Assignments and words as written, without redirects.
    pub full_text: String,
}

/// What a command line is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandReading {
    /// Whether the line could not be read; then the rest is what was seen.
    pub parsing_failed: bool,
    /// Everything that it can execute, nested ones included, as written.
    pub simple_commands: Vec<String>,
    /// The same, but for lone assignments, with typed arguments.
    pub executable_commands: Vec<ExecutableCommand>,
    /// Whether it reads from a file or a here-document.
    pub has_input_redirect: bool,
    /// Whether it writes to a file.
    pub has_output_redirect: bool,
    /// Whether it has a command or process substitution.
    pub has_command_substitution: bool,
}

/// Why a part of a line was decided as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What this reason alone asks for.
    pub verdict: Verdict,
    /// The part of the line.
    pub part: String,
    /// The rule, as its layer and its prefix; none where no rule spoke.
    pub rule: Option<String>,
    /// Why, for people and models.
    pub why: String,
}

/// What was decided about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// May it run?
    pub verdict: Verdict,
    /// Why, the strictest first.
    pub reasons: Vec<Reason>,
    /// The prefixes that allow rules would need; empty where no rule can.
    pub would_allow: Vec<Vec<String>>,
}
