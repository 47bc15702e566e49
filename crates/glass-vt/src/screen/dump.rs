//! Draws a terminal as sequences, in the order in which they do not undo each
//! other: what moves the cursor comes before the cursor, and what changes how
//! text is drawn comes after the text.

use super::beyond::Beyond;
use super::style::{Pen, put};
use alacritty_terminal::event::EventListener;
use alacritty_terminal::grid::Charsets;
use alacritty_terminal::grid::{Dimensions as _, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::color::Colors;
use alacritty_terminal::term::{Term, TermMode};
use alacritty_terminal::vte::ansi::{CharsetIndex, CursorShape, StandardCharset};

/// Writes in G1, and in G0 again.
const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;

/// Cells that belong to a wide character, or did before it was overwritten.
const HALVES: Flags = Flags::WIDE_CHAR
    .union(Flags::WIDE_CHAR_SPACER)
    .union(Flags::LEADING_WIDE_CHAR_SPACER);

/// Modes that are off in a fresh terminal, and how they are set.
const MODES: [(TermMode, &str); 11] = [
    (TermMode::APP_CURSOR, "\x1b[?1h"),
    (TermMode::APP_KEYPAD, "\x1b="),
    (TermMode::INSERT, "\x1b[4h"),
    (TermMode::LINE_FEED_NEW_LINE, "\x1b[20h"),
    (TermMode::MOUSE_REPORT_CLICK, "\x1b[?1000h"),
    (TermMode::MOUSE_DRAG, "\x1b[?1002h"),
    (TermMode::MOUSE_MOTION, "\x1b[?1003h"),
    (TermMode::FOCUS_IN_OUT, "\x1b[?1004h"),
    (TermMode::UTF8_MOUSE, "\x1b[?1005h"),
    (TermMode::SGR_MOUSE, "\x1b[?1006h"),
    (TermMode::BRACKETED_PASTE, "\x1b[?2004h"),
];

/// A fresh terminal with this palette and title.
pub(super) fn reset(colours: &Colors, title: Option<&str>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1bc");
    for index in 0..256 {
        if let Some(rgb) = colours[index] {
            let (r, g, b) = (rgb.r, rgb.g, rgb.b);
            put(
                out,
                format_args!("\x1b]4;{index};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\"),
            );
        }
    }
    for (index, number) in [(256, 10), (257, 11), (258, 12)] {
        if let Some(rgb) = colours[index] {
            let (r, g, b) = (rgb.r, rgb.g, rgb.b);
            put(
                out,
                format_args!("\x1b]{number};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\"),
            );
        }
    }
    if let Some(title) = title {
        put(out, format_args!("\x1b]2;{title}\x1b\\"));
    }
}

/// The normal screen with its history, from top to bottom; lines that went on
/// do so again.
pub(super) fn normal(grid: &Grid<Cell>, out: &mut Vec<u8>) {
    let mut pen = Pen::default();
    let mut goes_on = false;
    let last = grid.bottommost_line();
    let mut line = grid.topmost_line();
    while line <= last {
        let wraps = wraps(grid, line) && line < last;
        let end = match wraps {
            true => grid.columns(),
            // Something must be written for the line before to go on.
            false => text_end(grid, line).max(usize::from(goes_on)),
        };
        row(grid, line, end, &mut pen, out);
        if line < last && !wraps {
            pen.change(Pen::default(), out);
            out.extend_from_slice(b"\r\n");
        }
        goes_on = wraps;
        line += 1;
    }
    pen.change(Pen::default(), out);
}

/// The alternate screen, row by row.
pub(super) fn alternate(grid: &Grid<Cell>, out: &mut Vec<u8>) {
    let mut pen = Pen::default();
    out.extend_from_slice(b"\x1b[0m\x1b[2J");
    for number in 0..grid.screen_lines() {
        let line = Line(i32::try_from(number).unwrap_or(i32::MAX));
        let end = text_end(grid, line);
        if end > 0 {
            put(out, format_args!("\x1b[{};1H", number + 1));
            row(grid, line, end, &mut pen, out);
        }
    }
    pen.change(Pen::default(), out);
}

/// Goes to the alternate screen from where the normal one was left, which saves
/// the cursor there.
pub(super) fn enter_alternate(normal: &Grid<Cell>, active: CharsetIndex, out: &mut Vec<u8>) {
    cursor(normal, 0, out);
    charsets(&normal.cursor.charsets, b'0', out);
    shift(active, out);
    out.extend_from_slice(b"\x1b[?1049h");
    unshift(active, out);
    charsets(&normal.cursor.charsets, b'B', out);
}

/// Margins, cursor, the next character's look, and modes.
pub(super) fn state<T: EventListener>(term: &Term<T>, beyond: &Beyond, out: &mut Vec<u8>) {
    let mode = *term.mode();
    if beyond.scrolled() != (0..term.screen_lines()) {
        margins(beyond, out);
    }
    place(term, beyond, out);
    if !mode.contains(TermMode::LINE_WRAP) {
        out.extend_from_slice(b"\x1b[?7l");
    }
    if !mode.contains(TermMode::ALTERNATE_SCROLL) {
        out.extend_from_slice(b"\x1b[?1007l");
    }
    for (flag, sequence) in MODES {
        if mode.contains(flag) {
            out.extend_from_slice(sequence.as_bytes());
        }
    }
    let style = term.cursor_style();
    let shape = match style.shape {
        CursorShape::Underline => 4,
        CursorShape::Beam => 6,
        _ => 2,
    };
    if shape != 2 || style.blinking {
        put(
            out,
            format_args!("\x1b[{} q", shape - u8::from(style.blinking)),
        );
    }
    if !mode.contains(TermMode::SHOW_CURSOR) {
        out.extend_from_slice(b"\x1b[?25l");
    }
}

/// The rows that scroll; the cursor goes home.
pub(super) fn margins(beyond: &Beyond, out: &mut Vec<u8>) {
    let scrolled = beyond.scrolled();
    put(
        out,
        format_args!("\x1b[{};{}r", scrolled.start + 1, scrolled.end),
    );
}

/// Where and how the next character is written, but for the character set that
/// was shifted to.
pub(super) fn place<T: EventListener>(term: &Term<T>, beyond: &Beyond, out: &mut Vec<u8>) {
    let mut top = 0;
    if term.mode().contains(TermMode::ORIGIN) {
        out.extend_from_slice(b"\x1b[?6h");
        top = beyond.scrolled().start;
    }
    cursor(term.grid(), top, out);
    charsets(&term.grid().cursor.charsets, b'0', out);
}

/// The cursor, on its way to the next line where it is, and the look of the
/// next character. Rows are counted from `top`.
pub(super) fn cursor(grid: &Grid<Cell>, top: usize, out: &mut Vec<u8>) {
    let point = grid.cursor.point;
    let mut pen = Pen::default();
    let row_number = usize::try_from(point.line.0).unwrap_or(0) + 1;
    let row_number = row_number.saturating_sub(top).max(1);
    let mut column = point.column.0;
    if grid.cursor.input_needs_wrap {
        // Only a character in the last column brings the cursor there.
        let last = grid.columns() - 1;
        let spacer = grid[point.line][Column(last)]
            .flags
            .contains(Flags::WIDE_CHAR_SPACER);
        column = last - usize::from(spacer);
        put(out, format_args!("\x1b[{row_number};{}H", column + 1));
        row_from(grid, point.line, column, grid.columns(), &mut pen, out);
    } else {
        put(out, format_args!("\x1b[{row_number};{}H", column + 1));
    }
    pen.change(Pen::of(&grid.cursor.template), out);
}

/// The character sets that are not plain, made this: `0` for line drawing, `B`
/// for plain.
fn charsets(charsets: &Charsets, made: u8, out: &mut Vec<u8>) {
    let designations = [
        (CharsetIndex::G0, b'('),
        (CharsetIndex::G1, b')'),
        (CharsetIndex::G2, b'*'),
        (CharsetIndex::G3, b'+'),
    ];
    for (index, designator) in designations {
        if charsets[index] == StandardCharset::SpecialCharacterAndLineDrawing {
            out.extend_from_slice(&[0x1b, designator, made]);
        }
    }
}

/// The cursor that was saved last, with its look and its character sets, of
/// which `active` is the one that is written in.
pub(super) fn saved_cursor(grid: &Grid<Cell>, active: CharsetIndex, out: &mut Vec<u8>) {
    let saved = &grid.saved_cursor;
    let mut pen = Pen::default();
    let row_number = usize::try_from(saved.point.line.0).unwrap_or(0) + 1;
    let column = saved.point.column.0 + 1;
    let begin = out.len();
    pen.change(Pen::of(&saved.template), out);
    charsets(&saved.charsets, b'0', out);
    let is_home = (row_number, column) == (1, 1) && active == CharsetIndex::G0;
    if is_home && out.len() == begin {
        return;
    }
    shift(active, out);
    put(out, format_args!("\x1b[{row_number};{column}H\x1b7"));
    unshift(active, out);
    charsets(&saved.charsets, b'B', out);
    pen.change(Pen::default(), out);
}

/// Begins to write in this set. Only two can be chosen so that it lasts.
pub(super) fn shift(active: CharsetIndex, out: &mut Vec<u8>) {
    if active == CharsetIndex::G1 {
        out.push(SHIFT_OUT);
    }
}

fn unshift(active: CharsetIndex, out: &mut Vec<u8>) {
    if active == CharsetIndex::G1 {
        out.push(SHIFT_IN);
    }
}

fn wraps(grid: &Grid<Cell>, line: Line) -> bool {
    let last = Column(grid.columns() - 1);
    grid[line][last].flags.contains(Flags::WRAPLINE)
}

/// The column after the last that shows anything.
fn text_end(grid: &Grid<Cell>, line: Line) -> usize {
    let plain = Pen::default();
    let spacer = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
    let shows = |cell: &Cell| {
        cell.c != ' '
            || cell.flags.intersects(spacer)
            || cell.zerowidth().is_some_and(|marks| !marks.is_empty())
            || !plain.draws(cell)
    };
    let last = grid[line].into_iter().rposition(shows);
    last.map_or(0, |last| last + 1)
}

fn row(grid: &Grid<Cell>, line: Line, end: usize, pen: &mut Pen, out: &mut Vec<u8>) {
    row_from(grid, line, 0, end, pen, out);
}

fn row_from(
    grid: &Grid<Cell>,
    line: Line,
    start: usize,
    end: usize,
    pen: &mut Pen,
    out: &mut Vec<u8>,
) {
    let cells = &grid[line][Column(start)..Column(end)];
    for (column, cell) in (start..).zip(cells) {
        // A full history is some hundred thousand cells, nearly all of them so.
        if let (' '..='~', None) = (cell.c, &cell.extra)
            && !cell.flags.intersects(HALVES)
            && pen.draws(cell)
        {
            out.push(cell.c as u8);
            continue;
        }
        let Some(shown) = shown(grid, line, column) else {
            continue;
        };
        pen.change(Pen::of(cell), out);
        put_char(shown, out);
        for mark in cell.zerowidth().unwrap_or_default() {
            put_char(*mark, out);
        }
    }
}

fn put_char(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// What stands in a column; nothing in one that belongs to a wide character
/// beside it. Halves of wide characters that the engine left are blanks, as is
/// a tab, which it remembers in the first of its columns.
pub(super) fn shown(grid: &Grid<Cell>, line: Line, column: usize) -> Option<char> {
    let flags = |column: usize| grid[line][Column(column)].flags;
    let is_wide = |column: usize| {
        let has_tail =
            column + 1 < grid.columns() && flags(column + 1).contains(Flags::WIDE_CHAR_SPACER);
        has_tail && flags(column).contains(Flags::WIDE_CHAR)
    };
    let own = flags(column);
    if own.contains(Flags::WIDE_CHAR_SPACER) && column > 0 && is_wide(column - 1) {
        return None;
    }
    let half = (Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER).intersects(own) && !is_wide(column);
    let character = grid[line][Column(column)].c;
    if own.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
        // Blank, but not written where the wide character that did not fit
        // here follows: that one makes it.
        let next = Line(line.0 + 1);
        let follows = next <= grid.bottommost_line()
            && column + 1 == grid.columns()
            && grid[next][Column(0)].flags.contains(Flags::WIDE_CHAR)
            && grid[next][Column(1)]
                .flags
                .contains(Flags::WIDE_CHAR_SPACER);
        return (!follows).then_some(' ');
    }
    Some(if half || character.is_control() {
        ' '
    } else {
        character
    })
}
