//! Whether somebody has to type an answer in a terminal, and whether it will be
//! seen.
//!
//! A program that reads lines and has switched the echo off waits for a secret:
//! that is the terminal's own word, which output cannot forge. With the echo on,
//! only the words of known questions count, which is a guess, and so it is told
//! and nothing is done. A shell at its prompt edits its line itself and reads no
//! lines in this sense.

use super::Task;
use crate::view::Shown;
use rustix::termios::LocalModes;
use std::time::{Duration, Instant};

/// A program that has written nothing for so long may wait for an answer.
const QUIET: Duration = Duration::from_millis(150);

/// How often a secret that is asked for is looked at again: it is answered without
/// a byte of output.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is kept of the output, in bytes: the line that asks.
const TAIL_BYTES_MAX: usize = 1024;

/// Characters of a question that are told.
const TOLD_CHARS_MAX: usize = 200;

/// What is known of a question.
#[derive(Debug, Default)]
pub(super) struct Question {
    tail: Vec<u8>,
    due: Option<Instant>,
    told: Option<Asked>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    is_hidden: bool,
    text: String,
}

impl Question {
    /// Something was written.
    pub(super) fn wrote(&mut self, bytes: &[u8], now: Instant) {
        let rest = &bytes[bytes.len().saturating_sub(TAIL_BYTES_MAX)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(TAIL_BYTES_MAX);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend_from_slice(rest);
        self.due = Some(now + QUIET);
    }

    /// Somebody has come who knows nothing.
    pub(super) fn tell_again(&mut self, now: Instant) {
        self.told = None;
        self.due = Some(now + QUIET);
    }

    /// When it is looked for next.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// What is to be told, if that has changed. Modes are absent where there is
    /// no terminal any more.
    fn look(&mut self, modes: Option<LocalModes>, now: Instant) -> Option<String> {
        let asked = modes.and_then(|modes| self.asked(modes));
        let is_hidden = asked.as_ref().is_some_and(|asked| asked.is_hidden);
        self.due = is_hidden.then(|| now + LOOK_EVERY);
        if asked == self.told {
            return None;
        }
        self.told = asked;
        Some(match &self.told {
            None => String::new(),
            Some(asked) => {
                let kind = if asked.is_hidden { "hidden" } else { "shown" };
                format!("{kind} {}", asked.text)
            }
        })
    }

    fn asked(&self, modes: LocalModes) -> Option<Asked> {
        if !modes.contains(LocalModes::ICANON) {
            return None;
        }
        let shown = glass_vt::text::clean(&self.tail);
        let line = shown.rsplit('\n').next().unwrap_or_default();
        let is_hidden = !modes.contains(LocalModes::ECHO);
        if !is_hidden {
            glass_adapt::prompt::find(line)?;
        }
        let text = line.trim().chars().take(TOLD_CHARS_MAX).collect();
        Some(Asked { is_hidden, text })
    }
}

impl Task {
    /// Looks whether somebody is asked, and tells everybody who looks.
    pub(super) fn look_for_question(&mut self) {
        let modes = rustix::termios::tcgetattr(self.master.get_ref()).ok();
        let modes = modes.map(|modes| modes.local_modes);
        if let Some(value) = self.question.look(modes, Instant::now()) {
            self.clients.tell(&Shown::Property {
                name: "question",
                value,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LocalModes, Question, TAIL_BYTES_MAX};
    use proptest::prelude::*;
    use std::time::Instant;

    const LINES: LocalModes = LocalModes::ICANON;

    fn look(question: &mut Question, modes: LocalModes) -> Option<String> {
        question.look(Some(modes), Instant::now())
    }

    #[test]
    fn a_secret_is_asked_for_by_the_terminals_word_alone() {
        let mut question = Question::default();
        question.wrote(b"hello\r\nanything at all \x1b[1m>\x1b[0m ", Instant::now());
        let hidden = Some("hidden anything at all >".to_owned());
        assert_eq!(look(&mut question, LINES), hidden);
        assert_eq!(look(&mut question, LINES), None, "told once");
        assert!(question.due().is_some(), "its end is looked for");
        assert_eq!(
            look(&mut question, LINES | LocalModes::ECHO),
            Some(String::new())
        );
        assert!(question.due().is_none());
    }

    #[test]
    fn a_known_question_is_told_and_a_shells_prompt_is_none() {
        let mut question = Question::default();
        question.wrote(b"\r\nPassword: ", Instant::now());
        assert_eq!(
            look(&mut question, LocalModes::empty()),
            None,
            "a shell edits"
        );
        let shown = Some("shown Password:".to_owned());
        assert_eq!(look(&mut question, LINES | LocalModes::ECHO), shown);
        question.tell_again(Instant::now());
        assert_eq!(look(&mut question, LINES | LocalModes::ECHO), shown);
        question.wrote(b"\r\nworking", Instant::now());
        assert_eq!(
            look(&mut question, LINES | LocalModes::ECHO),
            Some(String::new())
        );
    }

    proptest! {
        #[test]
        fn what_is_kept_is_bounded(
            pieces in proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..3000), 0..8),
        ) {
            let mut question = Question::default();
            for piece in &pieces {
                question.wrote(piece, Instant::now());
                prop_assert!(question.tail.len() <= TAIL_BYTES_MAX);
            }
            let all: Vec<u8> = pieces.concat();
            prop_assert!(all.ends_with(&question.tail));
            let _ = look(&mut question, LINES);
        }
    }
}
