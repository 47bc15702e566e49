//! Drawing: the prompt and the line, over what is there of them.

use super::layout::Layout;
use super::prompt::expand;
use super::{Console, PASTES_ON, PLAIN, State};
use crate::mirror;

impl Console {
    pub(super) fn leave_row(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_midway) {
            out.extend_from_slice(b"\r\n");
        }
    }

    pub(super) fn prompt(&mut self, out: &mut Vec<u8>) {
        self.leave_row(out);
        self.fresh_prompt(out);
        out.extend_from_slice(PASTES_ON);
        self.state = State::Prompt;
        if !self.editor.text().is_empty() {
            self.paint(out);
        }
    }

    /// A prompt on a row of its own, with nothing behind it.
    pub(super) fn fresh_prompt(&mut self, out: &mut Vec<u8>) {
        mirror::marker(b"A", out);
        (self.row, self.top) = (0, 0);
        let empty = Layout::of(&self.prompt_text(), ("", ""), "", 0, self.columns());
        self.paint_layout(&empty, out);
        mirror::marker(b"B", out);
    }

    pub(super) fn prompt_text(&self) -> String {
        let template = self.manner.template.as_deref();
        template.map_or_else(String::new, |template| expand(template, &self.cwd))
    }

    pub(super) fn columns(&self) -> usize {
        usize::from(self.size.columns)
    }

    pub(super) fn rows(&self) -> usize {
        usize::from(self.size.rows)
    }

    pub(super) fn layout(&self, style: &str) -> Layout {
        let end = if style.is_empty() { "" } else { PLAIN };
        let (text, cursor) = (self.editor.text(), self.editor.cursor());
        Layout::of(
            &self.prompt_text(),
            (style, end),
            text,
            cursor,
            self.columns(),
        )
    }

    pub(super) fn paint(&mut self, out: &mut Vec<u8>) {
        let layout = self.layout("");
        self.paint_layout(&layout, out);
    }

    /// Draws prompt and line over what is there of them.
    pub(super) fn paint_layout(&mut self, layout: &Layout, out: &mut Vec<u8>) {
        up(self.row, out);
        // Whatever a command left switched on ends here.
        out.extend_from_slice(b"\r\x1b[m\x1b[J");
        let (cursor, height, rows) = (layout.cursor(), layout.height(), self.rows());
        let lowest = height.saturating_sub(rows);
        // No further than the cursor needs.
        let needed = (cursor.row + 1).saturating_sub(rows);
        self.top = self.top.clamp(needed.min(lowest), cursor.row.min(lowest));
        let window = self.top..(self.top + rows).min(height);
        let last = layout.print(window, out);
        up(last.saturating_sub(cursor.row), out);
        out.push(b'\r');
        if cursor.column > 0 {
            out.extend_from_slice(format!("\x1b[{}C", cursor.column).as_bytes());
        }
        self.row = cursor.row - self.top;
    }

    /// Draws the line for the last time, and goes to the row behind it.
    pub(super) fn finish_line(&mut self, style: &str, mark: &str, out: &mut Vec<u8>) {
        self.editor.go_to_end();
        let layout = self.layout(style);
        self.paint_layout(&layout, out);
        out.extend_from_slice(mark.as_bytes());
        // Behind a full row the cursor is on the next already.
        if !mark.is_empty() || !layout.is_full() {
            out.extend_from_slice(b"\r\n");
        }
        (self.row, self.top) = (0, 0);
    }
}

pub(super) fn up(rows: usize, out: &mut Vec<u8>) {
    if rows > 0 {
        out.extend_from_slice(format!("\x1b[{rows}A").as_bytes());
    }
}

/// Whether output leaves the cursor somewhere in a row. Sequences are taken not to
/// move it.
pub(super) fn ends_midway(shown: &[u8], was_midway: bool) -> bool {
    let Some(end) = memchr::memrchr2(b'\n', b'\r', shown) else {
        return was_midway || has_text(shown);
    };
    has_text(&shown[end + 1..])
}

fn has_text(bytes: &[u8]) -> bool {
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            0x1b => {
                if rest.next() == Some(&b'[') {
                    rest.find(|byte| (0x40..=0x7e).contains(*byte));
                }
            }
            0x00..=0x1f | 0x7f => {}
            _ => return true,
        }
    }
    false
}
