//! Colours and attributes of cells, as sequences.

use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{Color, NamedColor};
use std::io::Write as _;

/// Text that blinks. The engine has no word for it, but one bit of a cell to spare.
pub(super) const BLINK: Flags = Flags::from_bits_retain(1 << 15);

/// Flags that are colours and attributes; the others are about layout.
const ATTRIBUTES: Flags = Flags::from_bits_retain(
    Flags::INVERSE.bits()
        | Flags::BOLD.bits()
        | Flags::ITALIC.bits()
        | Flags::DIM.bits()
        | Flags::HIDDEN.bits()
        | Flags::STRIKEOUT.bits()
        | Flags::ALL_UNDERLINES.bits()
        | BLINK.bits(),
);

/// How the terminal that is drawn into would draw the next character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pen {
    foreground: Color,
    background: Color,
    attributes: Flags,
    underline: Option<Color>,
    link: Option<Hyperlink>,
}

impl Default for Pen {
    fn default() -> Pen {
        Pen::of(&Cell::default())
    }
}

impl Pen {
    /// How a cell is drawn.
    pub(super) fn of(cell: &Cell) -> Pen {
        Pen {
            foreground: cell.fg,
            background: cell.bg,
            attributes: cell.flags & ATTRIBUTES,
            underline: cell.underline_color(),
            link: cell.hyperlink(),
        }
    }

    /// Whether it is the pen of this cell.
    #[inline]
    pub(super) fn draws(&self, cell: &Cell) -> bool {
        let same_look = self.foreground == cell.fg
            && self.background == cell.bg
            && self.attributes == cell.flags & ATTRIBUTES;
        let has_more = cell.extra.is_some() || self.underline.is_some() || self.link.is_some();
        same_look && (!has_more || *self == Pen::of(cell))
    }

    /// Makes this pen into `next`.
    pub(super) fn change(&mut self, next: Pen, out: &mut Vec<u8>) {
        if *self == next {
            return;
        }
        if self.link != next.link {
            put_link(next.link.as_ref(), out);
        }
        let same_look = self.foreground == next.foreground
            && self.background == next.background
            && self.attributes == next.attributes
            && self.underline == next.underline;
        if !same_look {
            put_look(&next, out);
        }
        *self = next;
    }
}

fn put_link(link: Option<&Hyperlink>, out: &mut Vec<u8>) {
    let (id, uri) = link.map_or(("", ""), |link| (link.id(), link.uri()));
    let parameters = if id.is_empty() {
        String::new()
    } else {
        format!("id={id}")
    };
    put(out, format_args!("\x1b]8;{parameters};{uri}\x1b\\"));
}

fn put_look(pen: &Pen, out: &mut Vec<u8>) {
    const ATTRIBUTE_CODES: [(Flags, &str); 12] = [
        (Flags::BOLD, ";1"),
        (Flags::DIM, ";2"),
        (Flags::ITALIC, ";3"),
        (Flags::UNDERLINE, ";4"),
        (Flags::DOUBLE_UNDERLINE, ";4:2"),
        (Flags::UNDERCURL, ";4:3"),
        (Flags::DOTTED_UNDERLINE, ";4:4"),
        (Flags::DASHED_UNDERLINE, ";4:5"),
        (BLINK, ";5"),
        (Flags::INVERSE, ";7"),
        (Flags::HIDDEN, ";8"),
        (Flags::STRIKEOUT, ";9"),
    ];
    put(out, format_args!("\x1b[0"));
    for (flag, code) in ATTRIBUTE_CODES {
        if pen.attributes.contains(flag) {
            put(out, format_args!("{code}"));
        }
    }
    put_colour(pen.foreground, 30, out);
    put_colour(pen.background, 40, out);
    if let Some(colour) = pen.underline {
        put_extended(colour, 58, out);
    }
    put(out, format_args!("m"));
}

/// A colour of text (`base` 30) or ground (`base` 40).
fn put_colour(colour: Color, base: u16, out: &mut Vec<u8>) {
    match colour {
        Color::Named(name) => match name as u16 {
            index @ 0..8 => put(out, format_args!(";{}", base + index)),
            index @ 8..16 => put(out, format_args!(";{}", base + 60 + index - 8)),
            // The default, and variations of it that only renderers use.
            _ => {}
        },
        other => put_extended(other, base + 8, out),
    }
}

fn put_extended(colour: Color, code: u16, out: &mut Vec<u8>) {
    match colour {
        Color::Spec(rgb) => put(out, format_args!(";{code};2;{};{};{}", rgb.r, rgb.g, rgb.b)),
        Color::Indexed(index) => put(out, format_args!(";{code};5;{index}")),
        Color::Named(name) if (name as u16) < NamedColor::Foreground as u16 => {
            put(out, format_args!(";{code};5;{}", name as u16));
        }
        Color::Named(_) => {}
    }
}

/// Appends text.
pub(super) fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a Vec takes everything");
}
