//! Compound commands. None of them but the group and the subshell is in the
//! small grammar; they are read for what they run.

use super::{Read, Reader};
use crate::line::Obstacle;

impl Reader<'_> {
    pub(super) fn command(&mut self) -> Read<()> {
        self.skip_blanks();
        if self.peek() == Some(b'(') || self.at_compound() {
            self.enter()?;
            self.compound()?;
            self.leave();
            return self.compound_redirects();
        }
        if self.at_keyword("coproc") && !self.is_posix() {
            return self.coprocess();
        }
        if self.at_keyword("function") {
            return self.function();
        }
        self.simple()
    }

    fn is_posix(&self) -> bool {
        self.shell == glass_model::ShellKind::Posix
    }

    fn at_compound(&self) -> bool {
        const KEYWORDS: [&str; 8] = ["{", "if", "while", "until", "for", "select", "case", "[["];
        KEYWORDS.iter().any(|word| self.at_keyword(word))
    }

    fn compound(&mut self) -> Read<()> {
        if self.peek() == Some(b'(') {
            return self.parentheses();
        }
        if self.at_keyword("{") {
            self.bump(1);
            self.some_commands()?;
            return self.expect("}", "a `}` is missing");
        }
        if self.at_keyword("[[") {
            return self.conditional();
        }
        let keyword = ["if", "while", "until", "for", "select", "case"]
            .into_iter()
            .find(|word| self.at_keyword(word))
            .unwrap_or("case");
        self.obstacle(Obstacle::Compound, keyword);
        self.bump(keyword.len());
        match keyword {
            "if" => self.condition(),
            "while" | "until" => {
                self.some_commands()?;
                self.body()
            }
            "case" => self.case(),
            _ => self.loop_over_words(),
        }
    }

    fn compound_redirects(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if !self.at_redirect() {
                return Ok(());
            }
            let redirect = self.redirect()?;
            self.line.redirects.push(redirect);
        }
    }

    fn some_commands(&mut self) -> Read<()> {
        match self.list()? {
            0 => Err("a command is missing"),
            _ => Ok(()),
        }
    }

    /// A subshell or `((…))`; what begins like arithmetic and does not end
    /// like it is a subshell in a subshell.
    fn parentheses(&mut self) -> Read<()> {
        if self.byte(1) == Some(b'(') && self.is_posix() {
            // Some of these shells have arithmetic here, and some do not.
            self.obstacle(Obstacle::Arithmetic, "((");
        } else if self.byte(1) == Some(b'(') {
            let mark = self.mark();
            self.bump(2);
            if self.arithmetic(super::expansion::Quotes::Quote).is_ok() {
                return Ok(());
            }
            self.go_back(&mark);
        }
        self.bump(1);
        self.some_commands()?;
        self.expect(")", "a `)` is missing")
    }

    fn condition(&mut self) -> Read<()> {
        self.some_commands()?;
        self.expect("then", "a `then` is missing")?;
        self.some_commands()?;
        loop {
            if self.at_keyword("elif") {
                self.bump(4);
                self.some_commands()?;
                self.expect("then", "a `then` is missing")?;
                self.some_commands()?;
            } else if self.at_keyword("else") {
                self.bump(4);
                self.some_commands()?;
            } else {
                return self.expect("fi", "a `fi` is missing");
            }
        }
    }

    fn body(&mut self) -> Read<()> {
        self.expect("do", "a `do` is missing")?;
        self.some_commands()?;
        self.expect("done", "a `done` is missing")
    }

    fn loop_over_words(&mut self) -> Read<()> {
        self.skip_blanks();
        if self.at_text("((") {
            self.bump(2);
            self.arithmetic(super::expansion::Quotes::Quote)?;
        } else {
            self.word()?;
            self.skip_lines()?;
            if self.at_keyword("in") {
                self.bump(2);
                self.words_to_separator()?;
            }
        }
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.bump(1);
        }
        self.skip_lines()?;
        if self.at_keyword("{") {
            self.bump(1);
            self.some_commands()?;
            return self.expect("}", "a `}` is missing");
        }
        self.body()
    }

    fn words_to_separator(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n' | b';') | None => return Ok(()),
                _ => self.some_word()?,
            }
        }
    }

    /// A word, and at least one byte of it, so that loops over words end.
    fn some_word(&mut self) -> Read<()> {
        let start = self.at;
        self.word()?;
        match self.at > start {
            true => Ok(()),
            false => Err("a word is missing"),
        }
    }

    fn case(&mut self) -> Read<()> {
        self.skip_blanks();
        self.some_word()?;
        self.skip_lines()?;
        self.expect("in", "an `in` is missing")?;
        loop {
            self.skip_lines()?;
            if self.at_keyword("esac") {
                self.bump(4);
                return Ok(());
            }
            self.case_item()?;
        }
    }

    fn case_item(&mut self) -> Read<()> {
        if self.peek() == Some(b'(') {
            self.bump(1);
        }
        loop {
            self.skip_blanks();
            self.some_word()?;
            self.skip_blanks();
            match self.peek() {
                Some(b'|') => self.bump(1),
                Some(b')') => break,
                _ => return Err("a pattern of `case` has no `)`"),
            }
        }
        self.bump(1);
        self.list()?;
        self.skip_blanks();
        if self.at_text(";;&") {
            self.bump(3);
        } else if self.at_text(";;") || self.at_text(";&") || self.at_text(";|") {
            self.bump(2);
        } else if !self.at_keyword("esac") {
            return Err("an `esac` is missing");
        }
        Ok(())
    }

    /// `[[ … ]]`: its operators are skipped, its words are read.
    fn conditional(&mut self) -> Read<()> {
        self.obstacle(Obstacle::Conditional, "[[");
        self.bump(2);
        loop {
            self.skip_lines()?;
            if self.at_keyword("]]") {
                self.bump(2);
                return Ok(());
            }
            match self.peek() {
                None => return Err("a `]]` is missing"),
                Some(b'(' | b')' | b'|' | b'&' | b';') => self.bump(1),
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => self.bump(1),
                Some(_) => self.some_word()?,
            }
        }
    }

    fn coprocess(&mut self) -> Read<()> {
        self.obstacle(Obstacle::Coprocess, "coproc");
        self.bump(6);
        self.skip_blanks();
        let mark = self.mark();
        let named = self.word().is_ok();
        self.skip_blanks();
        if !named || !(self.peek() == Some(b'(') || self.at_compound()) {
            self.go_back(&mark);
        }
        self.enter()?;
        self.command()?;
        self.leave();
        Ok(())
    }

    fn function(&mut self) -> Read<()> {
        self.bump(8);
        self.skip_blanks();
        if self.at_keyword("{") {
            return Err("a function has no name");
        }
        self.some_word()?;
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            return self.function_body();
        }
        self.function_command()
    }

    /// From the parentheses of a function's definition on.
    pub(super) fn function_body(&mut self) -> Read<()> {
        self.bump(1);
        self.skip_blanks();
        if self.peek() != Some(b')') {
            return Err("a `(` stands where no command can begin");
        }
        self.bump(1);
        self.function_command()
    }

    fn function_command(&mut self) -> Read<()> {
        self.obstacle(Obstacle::Function, "a function's definition");
        self.skip_lines()?;
        if !(self.peek() == Some(b'(') || self.at_compound()) {
            return Err("a function has no body");
        }
        self.enter()?;
        self.command()?;
        self.leave();
        Ok(())
    }
}
