//! A line as the reader understood it: its simple commands in source order,
//! and everything about it that the small grammar does not have.

use glass_model::ArgumentKind;

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// As written, without line continuations.
    pub raw: String,
    /// Without quotes. Where the word expands, the expansion stands in it as
    /// written.
    pub value: String,
    /// Whether quotes or escapes stood in it.
    pub quoted: bool,
    /// Whether something in it expands: a variable, a substitution.
    pub expands: bool,
    /// Where in `value` the first character stands that makes it a pattern
    /// (`*`, `?`, `[`, a brace list).
    pub pattern_at: Option<usize>,
    /// Whether it begins with an unquoted tilde.
    pub tilde: bool,
}

impl Word {
    /// Whether the word is exactly `value`, whatever the shell's state.
    pub fn is_literal(&self) -> bool {
        !self.expands && self.pattern_at.is_none() && !self.tilde
    }

    /// Whether what it becomes could begin with anything, a dash included.
    pub fn begins_openly(&self) -> bool {
        self.pattern_at == Some(0)
    }

    /// How it was written.
    pub fn kind(&self) -> ArgumentKind {
        if self.expands || self.tilde {
            ArgumentKind::Expansion
        } else if self.pattern_at.is_some() {
            ArgumentKind::Pattern
        } else if self.quoted {
            ArgumentKind::Quoted
        } else {
            ArgumentKind::Word
        }
    }
}

/// What a redirect does with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`.
    Read,
    /// `>`, `>>`, `>|`, `&>` and their kind.
    Write,
    /// `<>`.
    ReadWrite,
    /// `<&` and `>&` to a descriptor or `-`.
    Duplicate,
    /// `<<` and `<<-`.
    HereDocument,
    /// `<<<`.
    HereString,
}

/// A redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor as written before the operator; may be empty.
    pub descriptor: String,
    /// What it does.
    pub kind: RedirectKind,
    /// Where to or from.
    pub target: Word,
}

impl Redirect {
    /// Whether nothing is read or written but `/dev/null` and the standard
    /// descriptors.
    pub fn is_harmless(&self) -> bool {
        let standard = |text: &str| matches!(text, "0" | "1" | "2");
        if !(self.descriptor.is_empty() || standard(&self.descriptor)) || !self.target.is_literal()
        {
            return false;
        }
        let target = self.target.value.as_str();
        match self.kind {
            RedirectKind::Read | RedirectKind::Write => target == "/dev/null",
            RedirectKind::Duplicate => standard(target) || target == "-",
            _ => false,
        }
    }

    /// As a person would write it.
    pub fn text(&self) -> String {
        let operator = match self.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::ReadWrite => "<>",
            RedirectKind::Duplicate => ">&",
            RedirectKind::HereDocument => "<<",
            RedirectKind::HereString => "<<<",
        };
        format!("{}{operator}{}", self.descriptor, self.target.raw)
    }
}

/// A simple command: assignments, words, redirects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Assignments and words as written, one blank between them.
    pub text: String,
    /// Assignments before the first word.
    pub assignments: Vec<Word>,
    /// The command's words.
    pub words: Vec<Word>,
    /// Its redirects; those of a group around it are in [`Line::redirects`].
    pub redirects: Vec<Redirect>,
    /// Whether its standard input is a pipe of this line.
    pub piped: bool,
}

/// What the small grammar does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// `&`.
    Background,
    /// `$(…)` or backticks.
    Substitution,
    /// `<(…)`, `>(…)`, `=(…)`.
    ProcessSubstitution,
    /// `$x`, `${x}` and all its kin but `$?`.
    Variable,
    /// `((…))`, `$((…))`, `$[…]`.
    Arithmetic,
    /// `[[ … ]]`.
    Conditional,
    /// `if`, `for`, `while`, `case`, `select`.
    Compound,
    /// A function's definition.
    Function,
    /// `coproc`.
    Coprocess,
    /// `time`.
    Time,
    /// An assignment.
    Assignment,
    /// A here-document or here-string.
    HereDocument,
    /// A pattern with parentheses.
    PatternGroup,
    /// `{a,b}`.
    BraceList,
    /// `$'…'` or `$"…"`.
    DollarQuote,
    /// `!` where an interactive shell would look into its history.
    History,
    /// A comment in zsh, whose interactive shells have none.
    Comment,
    /// A word that this shell would expand in a way of its own.
    OwnExpansion,
}

impl Obstacle {
    /// What it is, for people.
    pub fn name(self) -> &'static str {
        match self {
            Obstacle::Background => "a background job",
            Obstacle::Substitution => "a command substitution",
            Obstacle::ProcessSubstitution => "a process substitution",
            Obstacle::Variable => "a variable, whose value is not known",
            Obstacle::Arithmetic => "arithmetic, which can run commands",
            Obstacle::Conditional => "a conditional expression",
            Obstacle::Compound => "a loop or condition",
            Obstacle::Function => "a function, which can replace any command",
            Obstacle::Coprocess => "a coprocess",
            Obstacle::Time => "the keyword `time`",
            Obstacle::Assignment => "an assignment, which changes what commands do",
            Obstacle::HereDocument => "a here-document",
            Obstacle::BraceList => "a brace list, which becomes several words",
            Obstacle::PatternGroup => "a pattern with parentheses",
            Obstacle::DollarQuote => "a `$'…'` or `$\"…\"` string",
            Obstacle::History => "`!`, which an interactive shell expands",
            Obstacle::Comment => "a comment, which an interactive zsh would run",
            Obstacle::OwnExpansion => "a word that this shell expands in its own way",
        }
    }
}

/// A line, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The simple commands, nested ones after the one that holds them.
    pub commands: Vec<SimpleCommand>,
    /// Redirects of groups and compound commands.
    pub redirects: Vec<Redirect>,
    /// What the small grammar does not have, in source order, with its text.
    pub obstacles: Vec<(Obstacle, String)>,
    /// Why the line could not be read to its end.
    pub failure: Option<&'static str>,
    /// How many steps it took to read.
    pub steps: u32,
}
