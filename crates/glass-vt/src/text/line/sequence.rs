//! Escape sequences within a line, one byte at a time.

/// A change to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The cursor goes to this column, from 0 on.
    To(usize),
    /// So many columns to the left.
    Left(usize),
    /// So many columns to the right.
    Right(usize),
    /// Blank from the cursor to the end.
    EraseRight,
    /// Blank from the beginning to the cursor.
    EraseLeft,
    /// Blank everything.
    EraseAll,
    /// Blank so many cells from the cursor on.
    Erase(usize),
    /// Take so many cells out; the rest moves left.
    Delete(usize),
    /// Put so many blanks in; the rest moves right.
    Insert(usize),
}

/// What a byte did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing that shows.
    None,
    /// It ended the sequence and is no part of it.
    NotMine,
    /// This.
    Edit(Edit),
}

/// Largest parameter that is told from others.
const PARAMETER_MAX: usize = 9_999;

/// Where in a sequence we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sequence {
    /// In none.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and a byte that wants another one.
    Intermediate,
    /// In a control sequence. Its first parameter, how many were begun, and
    /// whether it is of a kind that moves no cursor.
    Control {
        first: usize,
        separators: u8,
        foreign: bool,
    },
    /// In a string that BEL ends too.
    OsString,
    /// In any other string.
    String,
}

impl Sequence {
    /// After ESC.
    pub(super) fn begin() -> Sequence {
        Sequence::Escape
    }

    pub(super) fn is_ground(self) -> bool {
        self == Sequence::Ground
    }

    /// Takes the next byte, which is no line feed.
    pub(super) fn step(&mut self, byte: u8) -> Step {
        match (byte, *self) {
            (0x18 | 0x1a, _) => *self = Sequence::Ground,
            (0x1b, _) => *self = Sequence::Escape,
            (0x07, Sequence::OsString) => *self = Sequence::Ground,
            (_, Sequence::OsString | Sequence::String) => {}
            // A terminal executes controls in the middle of a sequence.
            (b'\r', _) => return Step::Edit(Edit::To(0)),
            (0x08, _) => return Step::Edit(Edit::Left(1)),
            (0x00..=0x1f | 0x7f, _) => {}
            // No sequence has such bytes: what follows is text again.
            (0x80.., _) => {
                *self = Sequence::Ground;
                return Step::NotMine;
            }
            (_, Sequence::Escape) => *self = after_escape(byte),
            (0x20..=0x2f, Sequence::Intermediate) => {}
            (_, Sequence::Intermediate) => *self = Sequence::Ground,
            (
                _,
                Sequence::Control {
                    first,
                    separators,
                    foreign,
                },
            ) => return self.control(byte, first, separators, foreign),
            (_, Sequence::Ground) => {}
        }
        Step::None
    }

    fn control(&mut self, byte: u8, first: usize, separators: u8, foreign: bool) -> Step {
        let mut next = (first, separators, foreign);
        match byte {
            b'0'..=b'9' if separators == 0 => {
                next.0 = (first * 10 + usize::from(byte - b'0')).min(PARAMETER_MAX);
            }
            b'0'..=b'9' => {}
            b';' | b':' => next.1 = separators.saturating_add(1),
            0x20..=0x3f => next.2 = true,
            _ => {
                *self = Sequence::Ground;
                let edit = if foreign { None } else { edit(byte, first) };
                return edit.map_or(Step::None, Step::Edit);
            }
        }
        let (first, separators, foreign) = next;
        *self = Sequence::Control {
            first,
            separators,
            foreign,
        };
        Step::None
    }
}

fn after_escape(byte: u8) -> Sequence {
    match byte {
        b'[' => Sequence::Control {
            first: 0,
            separators: 0,
            foreign: false,
        },
        b']' => Sequence::OsString,
        b'P' | b'X' | b'^' | b'_' => Sequence::String,
        0x20..=0x2f => Sequence::Intermediate,
        _ => Sequence::Ground,
    }
}

/// What a control sequence does to its line.
fn edit(last: u8, first: usize) -> Option<Edit> {
    let count = first.max(1);
    Some(match (last, first) {
        (b'C' | b'a', _) => Edit::Right(count),
        (b'D', _) => Edit::Left(count),
        (b'G' | b'`', _) => Edit::To(count - 1),
        (b'K', 0) => Edit::EraseRight,
        (b'K', 1) => Edit::EraseLeft,
        (b'K', 2) => Edit::EraseAll,
        (b'X', _) => Edit::Erase(count),
        (b'P', _) => Edit::Delete(count),
        (b'@', _) => Edit::Insert(count),
        _ => return None,
    })
}
