//! Output as a model reads it: short, and exact about what is missing.

use super::output::Stretch;
use super::results::Shown;
use super::sections::readable;
use super::state::State;
use crate::config::TextSettings;
use glass_adapt::Tool;
use glass_vt::text::{Budget, Compressor, Page};
use regex::Regex;
use std::time::{Duration, Instant};
use tonic::Status;

/// Most characters of output in an answer.
pub(super) const CHARS_MAX: u32 = 400_000;

/// Longest notice of what was not kept: two numbers of 20 digits and the words.
const NOTICE_CHARS_MAX: usize = 100;

/// How long a command is read that writes faster than we do.
const CATCH_UP_WAIT: Duration = Duration::from_secs(10);

/// How output is to be shown.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub budget: Budget,
    pub only: Option<Regex>,
    /// Whose events are shown as text.
    pub events: Option<Tool>,
}

impl Look {
    /// As configured, but so many characters at most where a call says that.
    pub(super) fn new(settings: &TextSettings, max_chars: Option<u32>) -> Look {
        let mut budget = Budget::from(settings);
        let chars = max_chars.unwrap_or(settings.characters_max).min(CHARS_MAX);
        budget.chars_max = chars as usize;
        Look {
            budget,
            only: None,
            events: None,
        }
    }

    fn compressor(&self, offset: u64) -> Compressor {
        let compressor = Compressor::new(&self.budget, offset);
        match self.only.clone() {
            Some(regex) => compressor.matching(Box::new(move |row| regex.is_match(row))),
            None => compressor,
        }
    }

    /// Output that is here as a whole.
    pub(super) fn at(&self, bytes: &[u8]) -> Shown {
        if let Some(tool) = self.events {
            let shown = self.compressed(&readable(bytes, tool));
            // Offsets are into what was written, so what is missing from the
            // text could not be asked for.
            if !shown.truncated {
                let next_offset = bytes.len() as u64;
                return Shown {
                    next_offset,
                    ..shown
                };
            }
        }
        self.compressed(bytes)
    }

    fn compressed(&self, bytes: &[u8]) -> Shown {
        let mut compressor = self.compressor(0);
        compressor.push(bytes);
        Shown::new(compressor.finish(), 0)
    }

    /// For each of two parts, with a notice between them.
    fn half(&self) -> Look {
        let mut half = self.clone();
        half.budget.chars_max = half.budget.chars_max.saturating_sub(NOTICE_CHARS_MAX) / 2;
        half
    }
}

/// What a quota removed.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u64,
    end: u64,
}

impl State {
    /// What stands from an offset to the end, shortened.
    pub(super) async fn page(
        &self,
        shell_id: u32,
        from: u64,
        look: &Look,
    ) -> Result<Shown, Status> {
        let (page, hole) = self.until_hole(shell_id, from, None, look).await?;
        let Some(first) = hole else {
            return Ok(Shown::new(page, 0));
        };
        // Of the parts between two holes, the first and the last are shown.
        let half = look.half();
        let mut dropped = first.end - first.start;
        let mut at = first.end;
        let tail = loop {
            let (page, hole) = self.until_hole(shell_id, at, None, &half).await?;
            let Some(hole) = hole else {
                break page;
            };
            dropped += hole.end - at;
            at = hole.end;
        };
        let (mut page, _) = self
            .until_hole(shell_id, from, Some(first.start), &half)
            .await?;
        if look.budget.chars_max < NOTICE_CHARS_MAX {
            // No room in the text; the fields have it.
            page.end = tail.end;
            return Ok(Shown::new(page, dropped));
        }
        if !page.text.is_empty() && !page.text.ends_with('\n') {
            page.text.push('\n');
        }
        let lost = format!(
            "[... {dropped} bytes were not kept, offset={}]\n",
            first.start
        );
        page.text.push_str(&lost);
        page.text.push_str(&tail.text);
        page.elisions.extend(tail.elisions);
        page.end = tail.end;
        Ok(Shown::new(page, dropped))
    }

    /// What stands from an offset to the next hole, or to `until`.
    async fn until_hole(
        &self,
        shell_id: u32,
        from: u64,
        until: Option<u64>,
        look: &Look,
    ) -> Result<(Page, Option<Hole>), Status> {
        let mut compressor = look.compressor(from);
        let mut at = from;
        let deadline = Instant::now() + CATCH_UP_WAIT;
        loop {
            let most = until.map_or(super::output::PIECE_BYTES_MAX, |until| {
                until.saturating_sub(at).min(super::output::PIECE_BYTES_MAX)
            });
            if most == 0 {
                return Ok((compressor.finish(), None));
            }
            let piece = self.piece(shell_id, at, most, 0).await?;
            if piece.at > at {
                let hole = Hole {
                    start: at,
                    end: piece.at,
                };
                return Ok((compressor.finish(), Some(hole)));
            }
            if piece.bytes.is_empty() || Instant::now() > deadline {
                return Ok((compressor.finish(), None));
            }
            for stretch in piece.stretches() {
                match stretch {
                    Stretch::Written(bytes) => compressor.push(bytes),
                    Stretch::Named(name, length) => compressor.push_for(name, length),
                }
            }
            at = piece.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Look;
    use crate::config::TextSettings;

    #[test]
    fn a_look_keeps_to_its_budget_and_its_pattern() {
        let text: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        let usual = TextSettings::default();
        let shown = Look::new(&usual, Some(2_000)).at(text.as_bytes());
        assert!(shown.output.chars().count() <= 2_000);
        assert!(shown.truncated);
        assert_eq!(shown.next_offset, text.len() as u64);
        let mut only = Look::new(&usual, None);
        only.only = Some(regex::Regex::new("99$").expect("a pattern"));
        let shown = only.at(b"98\n99\n100\n");
        assert!(shown.output.contains("99\n") && !shown.output.contains("100\n"));
        let nothing = Look::new(&usual, Some(0)).at(text.as_bytes());
        assert_eq!((nothing.output.as_str(), nothing.truncated), ("", true));
    }
}
