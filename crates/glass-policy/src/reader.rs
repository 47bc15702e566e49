//! Reads a command line as the shell would: every simple command that it can
//! run, nested ones included.
//!
//! Invariant: reading ends for every input, after at most [`STEPS_MAX`] steps
//! and [`NESTING_MAX`] levels; what is not understood fails the reading, and a
//! failed reading is never allowed.

mod compound;
mod expansion;
mod redirect;
mod word;

use crate::limits::{COMMANDS_MAX, LINE_BYTES_MAX, NESTING_MAX, STEPS_MAX};
use crate::line::{Line, Obstacle, Redirect, SimpleCommand, Word};
use glass_model::ShellKind;
use redirect::HereDocument;

/// Why a line cannot be read.
type Read<T> = Result<T, &'static str>;

/// Reads a line of this shell's language.
pub fn read(text: &str, shell: ShellKind) -> Line {
    read_after(text, shell, 0)
}

/// The same, when so many of the steps are used up already.
pub fn read_after(text: &str, shell: ShellKind, steps: u32) -> Line {
    if text.len() > LINE_BYTES_MAX {
        return Line {
            failure: Some("it is longer than what is read"),
            steps,
            ..Line::default()
        };
    }
    let mut reader = Reader::new(text, shell, 0, steps);
    let failure = reader.whole().err();
    let mut line = reader.line;
    line.failure = failure;
    line.steps = reader.steps;
    line
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    shell: ShellKind,
    depth: usize,
    steps: u32,
    /// Where line continuations were taken out, in order.
    cuts: Vec<usize>,
    /// Here-documents whose bodies begin after the next newline.
    pending: Vec<HereDocument>,
    /// Whether a pipe of this line is the standard input here.
    piped: bool,
    line: Line,
}

/// What began like a simple command.
enum Simple {
    /// And is one.
    Command,
    /// And is a function's definition.
    Function,
}

/// What a second attempt begins with again.
struct Mark {
    at: usize,
    cuts: usize,
    commands: usize,
    redirects: usize,
    obstacles: usize,
    pending: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, shell: ShellKind, depth: usize, steps: u32) -> Reader<'a> {
        Reader {
            source,
            at: 0,
            shell,
            depth,
            steps,
            cuts: Vec::new(),
            pending: Vec::new(),
            piped: false,
            line: Line::default(),
        }
    }

    fn whole(&mut self) -> Read<()> {
        self.list()?;
        if self.steps > STEPS_MAX {
            return Err("it takes too long to read");
        }
        match self.peek() {
            None => Ok(()),
            Some(b')') => Err("a `)` has no beginning"),
            Some(b';') => Err("a command is missing before `;`"),
            Some(_) => Err("a keyword has no beginning"),
        }
    }

    /// Commands up to something that is not one.
    fn list(&mut self) -> Read<usize> {
        let mut count = 0;
        loop {
            self.skip_lines()?;
            if self.peek().is_none() || self.at_closer() {
                return Ok(count);
            }
            self.and_or()?;
            count += 1;
            self.skip_blanks();
            match self.peek() {
                None | Some(b'\n') => {}
                Some(b';') if matches!(self.byte(1), Some(b';' | b'&')) => return Ok(count),
                Some(b';') if self.is_zsh() && self.byte(1) == Some(b'|') => return Ok(count),
                Some(b';') => self.bump(1),
                Some(b'&') => self.background(),
                Some(_) if self.at_closer() => return Ok(count),
                Some(_) => return Err("a separator is missing between two commands"),
            }
        }
    }

    fn background(&mut self) {
        self.obstacle(Obstacle::Background, "&");
        self.bump(1);
        if self.is_zsh() && matches!(self.byte(0), Some(b'|' | b'!')) {
            self.bump(1);
        }
    }

    fn and_or(&mut self) -> Read<()> {
        loop {
            self.pipeline()?;
            self.skip_blanks();
            if !(self.at_text("&&") || self.at_text("||")) {
                return Ok(());
            }
            self.bump(2);
            self.skip_lines()?;
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        let outer = self.piped;
        let mut prefixed = false;
        loop {
            self.skip_blanks();
            if self.at_keyword("!") {
                self.bump(1);
            } else if self.at_keyword("time") {
                self.obstacle(Obstacle::Time, "time");
                self.bump(4);
                self.skip_blanks();
                if self.at_keyword("-p") {
                    self.bump(2);
                }
            } else {
                break;
            }
            prefixed = true;
        }
        if prefixed && matches!(self.peek(), None | Some(b'\n' | b';')) {
            return Ok(());
        }
        self.command()?;
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.byte(1) == Some(b'|') {
                break;
            }
            self.bump(1);
            if self.peek() == Some(b'&') && self.shell != ShellKind::Posix {
                self.bump(1);
            }
            self.skip_lines()?;
            self.piped = true;
            self.command()?;
        }
        self.piped = outer;
        Ok(())
    }

    fn simple(&mut self) -> Read<()> {
        if self.line.commands.len() >= COMMANDS_MAX {
            return Err("it has too many commands");
        }
        let slot = self.line.commands.len();
        self.line.commands.push(SimpleCommand::default());
        let mut command = SimpleCommand {
            piped: self.piped,
            ..SimpleCommand::default()
        };
        let end = self.simple_parts(&mut command);
        if matches!(end, Ok(Simple::Function)) {
            self.line.commands.truncate(slot);
            return self.function_body();
        }
        let words = command.assignments.iter().chain(&command.words);
        let raws: Vec<&str> = words.map(|word| word.raw.as_str()).collect();
        command.text = raws.join(" ");
        let empty = command.text.is_empty() && command.redirects.is_empty();
        // Also what was read of a command that fails: its redirects are known.
        self.line.commands[slot] = command;
        match end {
            Ok(_) if empty => Err("a command is missing"),
            end => end.map(|_| ()),
        }
    }

    fn simple_parts(&mut self, command: &mut SimpleCommand) -> Read<Simple> {
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')') => return Ok(Simple::Command),
                Some(b'&' | b'<' | b'>' | b'{' | b'0'..=b'9') if self.at_redirect() => {
                    let redirect = self.redirect()?;
                    command.redirects.push(redirect);
                }
                Some(b'&') => return Ok(Simple::Command),
                Some(b'(') => {
                    let first = command.words.first();
                    let named = first.is_some_and(|word| !word.quoted && !word.expands);
                    if !named || command.words.len() > 1 || !command.assignments.is_empty() {
                        return Err("a `(` stands where no command can begin");
                    }
                    return Ok(Simple::Function);
                }
                Some(_) => self.simple_word(command)?,
            }
        }
    }

    fn simple_word(&mut self, command: &mut SimpleCommand) -> Read<()> {
        let word = self.word()?;
        // A line continuation may stand between a descriptor and its operator.
        let is_number = !word.quoted && word.raw.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && matches!(self.peek(), Some(b'<' | b'>')) && self.at_redirect() {
            let redirect = self.redirect()?;
            command.redirects.push(Redirect {
                descriptor: word.raw,
                ..redirect
            });
            return Ok(());
        }
        if command.words.is_empty() && is_assignment(&word) {
            self.obstacle(Obstacle::Assignment, &word.raw);
            command.assignments.push(word);
            return Ok(());
        }
        // In zsh a `}` ends a group wherever it stands.
        if self.is_zsh() && word.raw == "}" {
            return Err("a `}` stands among the words of a command");
        }
        command.words.push(word);
        Ok(())
    }

    /// The next byte, after any line continuation.
    fn peek(&mut self) -> Option<u8> {
        while self.at_text("\\\n") {
            if self.cuts.last().is_none_or(|last| *last < self.at) {
                self.cuts.push(self.at);
            }
            self.bump(2);
        }
        self.byte(0)
    }

    /// The byte so far ahead; none once the steps are used up, so that every
    /// loop ends.
    fn byte(&self, ahead: usize) -> Option<u8> {
        if self.steps > STEPS_MAX {
            return None;
        }
        self.source.as_bytes().get(self.at + ahead).copied()
    }

    fn bump(&mut self, count: usize) {
        self.at = (self.at + count).min(self.source.len());
        // Long leaps cost something too: what they skip may be copied.
        let cost = u32::try_from(count / 16).unwrap_or(u32::MAX);
        self.steps = self.steps.saturating_add(cost.saturating_add(1));
    }

    fn at_text(&self, text: &str) -> bool {
        self.steps <= STEPS_MAX && self.source.as_bytes()[self.at..].starts_with(text.as_bytes())
    }

    /// Whether this word, and not a longer one, stands here.
    fn at_keyword(&self, word: &str) -> bool {
        self.at_text(word) && self.byte(word.len()).is_none_or(is_metacharacter)
    }

    /// Whether a word that ends a list stands here.
    fn at_closer(&mut self) -> bool {
        const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];
        self.peek() == Some(b')')
            || CLOSERS.iter().any(|word| self.at_keyword(word))
            || self.at_text(";;")
    }

    /// Blanks and a comment, but no newline.
    fn skip_blanks(&mut self) {
        let start = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.bump(1);
        }
        let begins_word = self.at == 0
            || self.at > start
            || is_metacharacter(self.source.as_bytes()[self.at - 1]);
        if self.byte(0) == Some(b'#') && begins_word {
            let rest = &self.source.as_bytes()[self.at..];
            let length = rest.iter().position(|byte| *byte == b'\n');
            if self.is_zsh() {
                self.obstacle(Obstacle::Comment, "#");
            }
            self.bump(length.unwrap_or(rest.len()));
        }
    }

    /// Blanks, comments, newlines and the here-documents after them.
    fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.byte(0) != Some(b'\n') {
                return Ok(());
            }
            self.bump(1);
            self.here_documents()?;
        }
    }

    fn expect(&mut self, keyword: &str, missing: &'static str) -> Read<()> {
        self.skip_blanks();
        let there = match keyword {
            ")" => self.peek() == Some(b')'),
            _ => self.at_keyword(keyword),
        };
        if !there {
            return Err(missing);
        }
        self.bump(keyword.len());
        Ok(())
    }

    fn enter(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err("it is nested too deeply");
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn obstacle(&mut self, obstacle: Obstacle, text: &str) {
        if self.line.obstacles.len() < COMMANDS_MAX {
            self.line.obstacles.push((obstacle, text.to_owned()));
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            at: self.at,
            cuts: self.cuts.len(),
            commands: self.line.commands.len(),
            redirects: self.line.redirects.len(),
            obstacles: self.line.obstacles.len(),
            pending: self.pending.len(),
            depth: self.depth,
        }
    }

    fn go_back(&mut self, mark: &Mark) {
        self.at = mark.at;
        self.cuts.truncate(mark.cuts);
        self.line.commands.truncate(mark.commands);
        self.line.redirects.truncate(mark.redirects);
        self.line.obstacles.truncate(mark.obstacles);
        self.pending.truncate(mark.pending);
        self.depth = mark.depth;
    }

    /// What stands from `start` to here, without line continuations.
    fn raw_since(&self, start: usize) -> String {
        let source = self.source.as_bytes();
        let mut raw = Vec::with_capacity(self.at - start);
        let mut from = start;
        let first = self.cuts.partition_point(|cut| *cut < start);
        for cut in self.cuts[first..].iter().take_while(|cut| **cut < self.at) {
            raw.extend_from_slice(&source[from..*cut]);
            from = cut + 2;
        }
        raw.extend_from_slice(&source[from.min(self.at)..self.at]);
        // Once the steps are used up, a word may end inside a character.
        String::from_utf8(raw)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn is_zsh(&self) -> bool {
        self.shell == ShellKind::Zsh
    }
}

fn is_metacharacter(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
    )
}

/// Whether the word is `NAME=…`, `NAME+=…` or `NAME[…]=…`, its name unquoted.
pub(crate) fn is_assignment(word: &Word) -> bool {
    let Some((name, _)) = word.raw.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let (name, subscript) = match name.split_once('[') {
        Some((name, subscript)) => (name, Some(subscript)),
        None => (name, None),
    };
    is_name(name) && subscript.is_none_or(|text| text.ends_with(']'))
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}
