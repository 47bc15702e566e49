//! What tools wrote that were made to speak in events: the sections that their
//! agents read.

use super::{Output, PIECE_BYTES_MAX};
use glass_session::{LookupError, Sections};
use glass_vt::text::{Budget, Compressor, Page};

/// Most output that is made readable, in bytes: as much as a tool keeps of what it
/// hears. Agents read of more than that as it was written.
const EVENTS_BYTES_MAX: usize = 64 << 10;

impl Output {
    /// The text, and how many bytes are gone; by sections, where an agent reads
    /// those.
    pub(super) async fn shown(
        &self,
        sections: Option<Sections>,
        chars_max: usize,
    ) -> Result<(Page, u64), LookupError> {
        if let Some(sections) = sections
            && let Some(page) = self.by_sections(sections, chars_max).await?
        {
            return Ok((page, 0));
        }
        self.read(chars_max).await
    }

    /// None where something would be missing: offsets are into what was written,
    /// so what is left out of sections could not be asked for.
    async fn by_sections(
        &self,
        mut sections: Sections,
        chars_max: usize,
    ) -> Result<Option<Page>, LookupError> {
        let (mut at, mut heard) = (0, 0);
        let mut text = Vec::new();
        loop {
            let (piece, start) = self.piece(at, PIECE_BYTES_MAX).await?;
            heard += piece.bytes.len();
            if start > at || heard > EVENTS_BYTES_MAX {
                return Ok(None);
            }
            if piece.bytes.is_empty() {
                break;
            }
            sections.push(&piece.bytes, &mut text);
            at = piece.next_offset;
        }
        sections.finish(&mut text);
        let budget = Budget {
            chars_max,
            ..self.engine.text_budget().clone()
        };
        let mut compressor = Compressor::new(&budget, 0);
        compressor.push(&text);
        let page = compressor.finish();
        Ok(page.elisions.is_empty().then_some(Page { end: at, ..page }))
    }
}
