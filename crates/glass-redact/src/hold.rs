//! What is held back, and how it leaves.

use crate::cut::Cut;
use crate::rules::RuleId;

/// A part of the stream that is a secret. Positions count visible bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its first byte.
    pub from: u64,
    /// Behind its last byte.
    pub to: u64,
    /// What takes its place; nothing, where it continues an earlier one.
    pub label: Option<RuleId>,
    /// Which label names two marks that overlap: the higher one, or the later,
    /// whose literal was longer.
    pub rank: u8,
}

/// Visible bytes in order, and between them escape sequences, which are never
/// part of a secret.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hold {
    base: u64,
    bytes: Vec<u8>,
    /// Each with the position of the visible byte that follows it.
    escapes: Vec<(u64, u8)>,
    marks: Vec<Mark>,
    /// Bytes of escape sequences that have left.
    escaped: u64,
    /// How often something was taken out.
    taken: u64,
    /// What was taken out, where somebody wants to know.
    cuts: Option<Vec<Cut>>,
}

impl Hold {
    /// One that notes what it takes out.
    pub(crate) fn noting() -> Hold {
        Hold {
            cuts: Some(Vec::new()),
            ..Hold::default()
        }
    }

    /// One for a new stream, with the notes of this one.
    pub(crate) fn renewed(&mut self) -> Hold {
        Hold {
            taken: self.taken,
            cuts: self.cuts.take(),
            ..Hold::default()
        }
    }

    /// How often something was taken out.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// What was taken out since this was last asked.
    pub(crate) fn take_cuts(&mut self) -> Vec<Cut> {
        self.cuts.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// How many bytes have left or were taken out, of all kinds.
    pub(crate) fn passed(&self) -> u64 {
        self.base + self.escaped
    }

    /// Takes out bytes that continue a secret. Nothing may be held.
    pub(crate) fn drop_next(&mut self, count: usize) {
        let from = self.passed();
        self.note(from, from + count as u64, None);
        self.skip(count);
    }

    fn note(&mut self, from: u64, to: u64, label: Option<RuleId>) {
        let Some(cuts) = &mut self.cuts else { return };
        match cuts.last_mut() {
            Some(last) if last.to == from && label.is_none() => last.to = to,
            _ => cuts.push(Cut { from, to, label }),
        }
    }

    /// The position behind the last byte.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Whether nothing is held.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes are held, whichever of the two kinds has more.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len().max(self.escapes.len())
    }

    /// Holds more.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Counts bytes that passed by. Nothing may be held.
    pub(crate) fn skip(&mut self, count: usize) {
        debug_assert!(self.bytes.is_empty(), "bytes would change their order");
        self.base += count as u64;
    }

    /// An escape sequence waits for the bytes before it.
    #[inline]
    pub(crate) fn push_escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.bytes.is_empty() {
            out.push(byte);
            self.escaped += 1;
        } else {
            self.escapes.push((self.end(), byte));
        }
    }

    /// The held bytes of a range. What has left already is not there.
    #[inline]
    pub(crate) fn slice(&self, from: u64, to: u64) -> &[u8] {
        let at = |position: u64| {
            let offset = position.saturating_sub(self.base);
            usize::try_from(offset).map_or(self.bytes.len(), |n| n.min(self.bytes.len()))
        };
        let (from, to) = (at(from), at(to));
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Notes a secret.
    pub(crate) fn mark(&mut self, mark: Mark) {
        if mark.from < mark.to {
            self.marks.push(mark);
        }
    }

    /// Lets everything before `limit` leave, except a secret that is not
    /// wholly before it; `u64::MAX` stands for everything.
    #[inline]
    pub(crate) fn release(&mut self, limit: u64, names: &[Vec<u8>], out: &mut Vec<u8>) {
        if self.bytes.is_empty() || limit <= self.base {
            return;
        }
        if self.marks.is_empty() && self.escapes.is_empty() {
            let limit = self.index(limit);
            out.extend_from_slice(&self.bytes[..limit]);
            self.bytes.drain(..limit);
            self.base += limit as u64;
            return;
        }
        let end = self.end();
        if limit == u64::MAX {
            // A mark may reach one byte further than what came.
            self.marks
                .iter_mut()
                .for_each(|mark| mark.to = mark.to.min(end));
        }
        let mut limit = limit.min(end);
        self.marks.sort_by_key(|mark| (mark.from, mark.to));
        // A later mark may begin before this limit too, so from the back.
        for mark in self.marks.iter().rev() {
            if mark.from < limit && mark.to > limit {
                limit = mark.from;
            }
        }
        let mut next = self.base;
        let mut taken = 0;
        while let Some(mut mark) = self.marks.get(taken).copied() {
            if mark.to > limit {
                break;
            }
            taken += 1;
            while let Some(other) = self.marks.get(taken).filter(|other| other.from < mark.to) {
                if other.rank >= mark.rank && other.label.is_some() {
                    (mark.label, mark.rank) = (other.label, other.rank);
                }
                mark.to = mark.to.max(other.to);
                taken += 1;
            }
            if mark.from >= next {
                self.emit(next, mark.from, out);
                self.emit_escapes(mark.from + 1, out);
            }
            if let Some(name) = mark.label.and_then(|label| names.get(usize::from(label))) {
                out.extend_from_slice(b"[REDACTED:");
                out.extend_from_slice(name);
                out.push(b']');
            }
            self.taken += 1;
            mark.from = mark.from.max(next);
            self.take_out(mark, out);
            next = mark.to;
        }
        self.marks.drain(..taken);
        if limit > next {
            self.emit(next, limit, out);
            next = limit;
        }
        self.bytes.drain(..self.index(next));
        self.base = next;
        if self.bytes.is_empty() {
            self.emit_escapes(u64::MAX, out);
        }
    }

    /// Lets the escape sequences inside a secret leave, and notes what stood
    /// between them.
    fn take_out(&mut self, mark: Mark, out: &mut Vec<u8>) {
        let (mut from, mut label) = (mark.from, mark.label);
        while from < mark.to {
            let next = self.escapes.first().map(|(at, _)| *at);
            let to = next.map_or(mark.to, |at| at.min(mark.to));
            if to > from {
                self.note(from + self.escaped, to + self.escaped, label.take());
            }
            if to == mark.to {
                return;
            }
            self.emit_escapes(to + 1, out);
            from = to;
        }
    }

    #[inline]
    fn index(&self, position: u64) -> usize {
        usize::try_from(position.saturating_sub(self.base))
            .map_or(self.bytes.len(), |index| index.min(self.bytes.len()))
    }

    fn emit(&mut self, mut from: u64, to: u64, out: &mut Vec<u8>) {
        while let Some(&(at, _)) = self.escapes.first().filter(|(at, _)| *at < to) {
            out.extend_from_slice(&self.bytes[self.index(from)..self.index(at)]);
            self.emit_escapes(at + 1, out);
            from = from.max(at);
        }
        out.extend_from_slice(&self.bytes[self.index(from)..self.index(to)]);
    }

    /// Those that stand before the visible byte before `to`.
    fn emit_escapes(&mut self, to: u64, out: &mut Vec<u8>) {
        let count = self.escapes.partition_point(|(at, _)| *at < to);
        out.extend(self.escapes.drain(..count).map(|(_, byte)| byte));
        self.escaped += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::{Hold, Mark};

    #[test]
    fn escapes_stay_in_order_and_outlive_secrets() {
        let mut hold = Hold::default();
        let mut out = Vec::new();
        hold.push(b"ab");
        hold.push_escape(b'1', &mut out);
        hold.push(b"SE");
        hold.push_escape(b'2', &mut out);
        hold.push(b"C");
        hold.push_escape(b'3', &mut out);
        hold.push(b"d");
        let label = Some(0);
        for (from, to) in [(2, 4), (3, 5)] {
            let rank = 0;
            hold.mark(Mark {
                from,
                to,
                label,
                rank,
            });
        }
        let names = [b"x".to_vec()];
        hold.release(3, &names, &mut out);
        assert_eq!(out, b"ab");
        hold.release(6, &names, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), "ab1[REDACTED:x]23d");
        assert!(hold.is_empty());
    }
}
