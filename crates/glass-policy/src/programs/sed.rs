//! `sed`: a script can write files and run commands, so it is read. What is
//! not understood is refused.

use super::{Refusal, open, unknown};
use crate::line::Word;
use std::iter::Peekable;
use std::str::Chars;

const FLAGS: &str = "nErsuz";

const LONG: &[&str] = &[
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--separate",
    "--null-data",
    "--zero-terminated",
    "--unbuffered",
    "--posix",
    "--sandbox",
    "--help",
    "--version",
];

/// Checks flags, scripts and operands.
pub(super) fn check(words: &[Word]) -> Result<(), Refusal> {
    let mut rest = words.iter();
    let mut scripts: Vec<&str> = Vec::new();
    let mut operands: Vec<&Word> = Vec::new();
    let mut only_operands = false;
    while let Some(word) = rest.next() {
        let flag = word.value.strip_prefix('-').filter(|flag| !flag.is_empty());
        let Some(flag) = flag.filter(|_| !only_operands) else {
            if word.begins_openly() && !only_operands {
                return Err(open(word));
            }
            operands.push(word);
            continue;
        };
        if word.pattern_at.is_some() {
            return Err(open(word));
        }
        if flag == "-" {
            only_operands = true;
        } else if let Some(script) = word.value.strip_prefix("--expression=") {
            scripts.push(script);
        } else if !LONG.contains(&word.value.as_str())
            && let Some(script) = short(word, flag)?
        {
            match (script, rest.next()) {
                ("", Some(next)) if next.pattern_at.is_none() => scripts.push(&next.value),
                _ => return Err(unknown(word)),
            }
        }
    }
    if scripts.is_empty() {
        match operands.first() {
            Some(script) if script.pattern_at.is_none() => scripts.push(&script.value),
            Some(script) => return Err(open(script)),
            None => return Err("there is no script".to_owned()),
        }
    }
    // Several are one script of as many lines.
    script(&scripts.join("\n"))
}

/// A cluster of short flags; the text behind an `e` that ends it.
fn short<'a>(word: &Word, cluster: &'a str) -> Result<Option<&'a str>, Refusal> {
    for (index, letter) in cluster.char_indices() {
        if letter == 'e' {
            return Ok(Some(&cluster[index + 1..]));
        }
        if !FLAGS.contains(letter) {
            return Err(unknown(word));
        }
    }
    Ok(None)
}

/// Whether a script only prints.
fn script(source: &str) -> Result<(), Refusal> {
    let mut script = source.chars().peekable();
    loop {
        skip(&mut script, |c| {
            c.is_ascii_whitespace() || c == ';' || c == '}'
        });
        if script.peek().is_none() {
            return Ok(());
        }
        addresses(&mut script).ok_or_else(|| refusal(source))?;
        command(&mut script).ok_or_else(|| refusal(source))?;
    }
}

fn refusal(text: &str) -> Refusal {
    format!("the script `{text}` is not known to only print")
}

fn skip(script: &mut Peekable<Chars<'_>>, what: impl Fn(char) -> bool) {
    while script.next_if(|c| what(*c)).is_some() {}
}

/// None, one or two addresses.
fn addresses(script: &mut Peekable<Chars<'_>>) -> Option<()> {
    loop {
        match script.peek()? {
            '0'..='9' | '$' | '+' | '~' | ',' | ' ' | '\t' | '!' => {
                script.next();
            }
            '/' => {
                script.next();
                regex(script, '/')?;
                skip(script, |c| c == 'I' || c == 'M');
            }
            '\\' => {
                script.next();
                let delimiter = script.next().filter(|c| is_delimiter(*c))?;
                regex(script, delimiter)?;
                skip(script, |c| c == 'I' || c == 'M');
            }
            _ => return Some(()),
        }
    }
}

/// One command that only prints or edits what will be printed.
fn command(script: &mut Peekable<Chars<'_>>) -> Option<()> {
    match script.next()? {
        '{' => Some(()),
        '=' | 'p' | 'P' | 'd' | 'D' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' | 'z' => end(script),
        'q' | 'Q' | 'l' => {
            skip(script, |c| c == ' ');
            skip(script, |c| c.is_ascii_digit());
            end(script)
        }
        's' => {
            let delimiter = script.next().filter(|c| is_delimiter(*c))?;
            regex(script, delimiter)?;
            text(script, delimiter)?;
            skip(script, |c| {
                matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M') || c.is_ascii_digit()
            });
            end(script)
        }
        'y' => {
            let delimiter = script.next().filter(|c| is_delimiter(*c))?;
            text(script, delimiter)?;
            text(script, delimiter)?;
            end(script)
        }
        _ => None,
    }
}

/// Only plain marks: with letters as delimiters, nobody reads a script right.
fn is_delimiter(c: char) -> bool {
    c.is_ascii_punctuation() && c != '\\'
}

/// What must follow a command.
fn end(script: &mut Peekable<Chars<'_>>) -> Option<()> {
    skip(script, |c| c == ' ' || c == '\t');
    match script.peek() {
        None | Some(';' | '\n' | '}') => Some(()),
        Some(_) => None,
    }
}

/// To behind the delimiter that ends a regular expression. Versions differ
/// about a delimiter in brackets, so it is refused there.
fn regex(script: &mut Peekable<Chars<'_>>, delimiter: char) -> Option<()> {
    loop {
        match script.next()? {
            '\n' => return None,
            '\\' => {
                script.next().filter(|c| *c != '\n')?;
            }
            c if c == delimiter => return Some(()),
            '[' => bracket(script, delimiter)?,
            _ => {}
        }
    }
}

/// From behind a `[` to behind its `]`.
fn bracket(script: &mut Peekable<Chars<'_>>, delimiter: char) -> Option<()> {
    script.next_if_eq(&'^');
    script.next_if_eq(&']');
    loop {
        match script.next()? {
            ']' => return Some(()),
            '\n' => return None,
            c if c == delimiter => return None,
            '\\' => {
                script.next().filter(|c| *c != '\n' && *c != ']')?;
            }
            '[' => {
                let Some(kind) = script.next_if(|c| matches!(c, ':' | '.' | '=')) else {
                    continue;
                };
                while script.next().filter(|c| *c != '\n' && *c != delimiter)? != kind {}
                script.next().filter(|c| *c == ']')?;
            }
            _ => {}
        }
    }
}

/// To behind the delimiter that ends a replacement.
fn text(script: &mut Peekable<Chars<'_>>, delimiter: char) -> Option<()> {
    loop {
        match script.next()? {
            '\n' => return None,
            '\\' => {
                script.next().filter(|c| *c != '\n')?;
            }
            c if c == delimiter => return Some(()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::script;

    #[test]
    fn scripts_that_only_print_are_known() {
        for text in [
            "5p",
            "1,5p",
            "$p",
            "/a/,/b/p",
            "/a/!p",
            "10q;5,8p",
            "s/^- //gp",
            "s|a|b|p",
            "/x/{=;p}",
            "1~2p",
            "y/abc/xyz/;p",
            "\\,a,p",
            "s/[0-9]*/x/p",
            "s/[[:space:]]*$//p",
            "s/a/[b/p",
            "/a/I,+3p",
            "n;p",
        ] {
            assert!(script(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn scripts_that_write_or_run_are_not() {
        for text in [
            "w out",
            "1w out",
            "s/a/b/w out",
            "s/a/b/gw out",
            "s/a/b/e",
            "e",
            "e id",
            "1e id",
            "r /etc/passwd",
            "R x",
            "W x",
            "sxaxbxe",
            "s/x/y/;s/a/b/w /dev/stdout",
            "1!{s/^/x/w out\n}",
            "s/[/]/x/e",
            "s/[]/]/;s/w out/p/",
            "s/[[:alpha:]/]/;s/w out/p/",
            "p;e",
            "p\ne id",
            "F",
            "a text",
            "i\\\ntext",
            "s/a\\",
            "s/a/b",
            "p x",
            "b end",
            "s/a/b/\nw x",
        ] {
            assert!(script(text).is_err(), "{text}");
        }
    }
}
