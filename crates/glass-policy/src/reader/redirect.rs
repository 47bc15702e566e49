//! Redirects and here-documents.

use super::{Read, Reader, is_name};
use crate::line::{Obstacle, Redirect, RedirectKind};
use glass_model::ShellKind;

/// A here-document whose body is still to come.
pub(super) struct HereDocument {
    delimiter: String,
    /// `<<-`: tabs before the lines do not count.
    strips_tabs: bool,
    /// Whether its body expands: its delimiter was not quoted.
    expands: bool,
}

impl Reader<'_> {
    /// Whether a redirect stands here, its descriptor included.
    pub(super) fn at_redirect(&mut self) -> bool {
        self.peek();
        let length = self.descriptor_length();
        match self.byte(length) {
            Some(b'<' | b'>') => self.byte(length + 1) != Some(b'('),
            // In a POSIX shell `&>` is a background job and a redirect.
            // zsh takes a descriptor before it.
            Some(b'&') if self.is_zsh() || length == 0 && self.shell == ShellKind::Bash => {
                self.byte(length + 1) == Some(b'>') && self.byte(length + 2) != Some(b'(')
            }
            _ => false,
        }
    }

    /// Digits or `{name}` before an operator.
    fn descriptor_length(&self) -> usize {
        let rest = &self.source.as_bytes()[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 || rest.first() != Some(&b'{') {
            return digits;
        }
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let name = rest[1..].iter().take_while(is_part).count();
        let closed = rest.get(name + 1) == Some(&b'}');
        if closed && is_name(&self.source[self.at + 1..self.at + 1 + name]) {
            name + 2
        } else {
            0
        }
    }

    pub(super) fn redirect(&mut self) -> Read<Redirect> {
        let length = self.descriptor_length();
        let descriptor = self.source[self.at..self.at + length].to_owned();
        self.bump(length);
        let (kind, operator) = self.operator();
        let reads = self.byte(0) == Some(b'<');
        self.bump(operator);
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.bump(1);
        }
        let start = self.at;
        let target = self.word()?;
        if self.at == start {
            return Err("a redirect has no target");
        }
        // `>&` and `<&` before anything but a descriptor name a file.
        let kind = match kind {
            RedirectKind::Duplicate if is_descriptor(&target.value) => kind,
            RedirectKind::Duplicate if reads => RedirectKind::Read,
            RedirectKind::Duplicate => RedirectKind::Write,
            kind => kind,
        };
        match kind {
            RedirectKind::HereDocument => {
                self.obstacle(Obstacle::HereDocument, "<<");
                self.pending.push(HereDocument {
                    delimiter: target.value.clone(),
                    strips_tabs: operator == 3,
                    expands: !target.quoted,
                });
            }
            RedirectKind::HereString => self.obstacle(Obstacle::HereDocument, "<<<"),
            _ => {}
        }
        Ok(Redirect {
            descriptor,
            kind,
            target,
        })
    }

    /// The operator that stands here, and its length.
    fn operator(&self) -> (RedirectKind, usize) {
        const OPERATORS: [(&str, RedirectKind); 12] = [
            ("<<<", RedirectKind::HereString),
            ("<<-", RedirectKind::HereDocument),
            ("<<", RedirectKind::HereDocument),
            ("<>", RedirectKind::ReadWrite),
            ("<&", RedirectKind::Duplicate),
            ("<", RedirectKind::Read),
            ("&>>", RedirectKind::Write),
            ("&>", RedirectKind::Write),
            (">>", RedirectKind::Write),
            (">|", RedirectKind::Write),
            (">&", RedirectKind::Duplicate),
            (">", RedirectKind::Write),
        ];
        let (text, kind) = OPERATORS
            .into_iter()
            .find(|(text, _)| self.at_text(text))
            .unwrap_or((">", RedirectKind::Write));
        let mut length = text.len();
        if self.is_zsh() && text.contains('>') && kind != RedirectKind::ReadWrite {
            if text == ">>" && self.byte(length) == Some(b'&') {
                length += 1;
            }
            // `>!`, `>>|`, `&>!` and their kin write over what is there.
            if matches!(self.byte(length), Some(b'!' | b'|')) {
                return (RedirectKind::Write, length + 1);
            }
        }
        (kind, length)
    }

    /// The bodies of the here-documents of the line that has just ended.
    pub(super) fn here_documents(&mut self) -> Read<()> {
        for document in std::mem::take(&mut self.pending) {
            let start = self.at;
            let end = self.skip_body(&document);
            if document.expands {
                let body = self.source[start..end].to_owned();
                self.nested(&body, |reader| reader.expanding_text())?;
            }
        }
        Ok(())
    }

    /// Goes behind the line that ends the document, and says where the body
    /// ended.
    fn skip_body(&mut self, document: &HereDocument) -> usize {
        loop {
            let start = self.at;
            let rest = &self.source[start..];
            let line = rest.split('\n').next().unwrap_or(rest);
            self.bump(line.len() + 1);
            let text = match document.strips_tabs {
                true => line.trim_start_matches('\t'),
                false => line,
            };
            if text == document.delimiter || self.byte(0).is_none() {
                // A body without an end goes on to the end of the line.
                return if text == document.delimiter {
                    start
                } else {
                    self.at
                };
            }
        }
    }
}

fn is_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}
