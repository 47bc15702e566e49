//! Stands between the parser and the terminal, where something must be bounded
//! that the terminal does not bound, or kept that it does not keep.

use super::beyond::{Beyond, Shown};
use super::style::BLINK;
use alacritty_terminal::event::EventListener;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Term, TermMode};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, LineClearMode,
    Mode, NamedPrivateMode, PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar as _;

/// Combining characters that one cell keeps. The terminal itself would keep any
/// number of them.
const CELL_MARKS_MAX: usize = 16;

/// A terminal whose cells stay small. Keyboard protocols, the clipboard and the
/// pointer are nothing that a screen shows, and end here.
pub(super) struct Bounded<'a, T> {
    term: &'a mut Term<T>,
    beyond: &'a mut Beyond,
}

/// Entered and left as the alternate screen too, though the cursor stays (47,
/// 1047).
const OLD_ALTERNATES: [u16; 2] = [47, 1047];

/// Dark and light are exchanged (DECSCNM).
const REVERSE: u16 = 5;

/// Saves and restores the cursor.
const SAVE_CURSOR: u16 = 1048;

impl<'a, T: EventListener> Bounded<'a, T> {
    pub(super) fn new(term: &'a mut Term<T>, beyond: &'a mut Beyond) -> Bounded<'a, T> {
        Bounded { term, beyond }
    }

    fn row(&self) -> usize {
        usize::try_from(self.term.grid().cursor.point.line.0).unwrap_or(0)
    }

    fn shown(&self) -> Shown {
        match self.term.mode().contains(TermMode::ALT_SCREEN) {
            true => Shown::Alternate,
            false => Shown::Normal,
        }
    }

    fn column(&self) -> usize {
        self.term.grid().cursor.point.column.0
    }

    /// Leaves the alternate screen with the cursor where it is.
    fn leave_old_alternate(&mut self) {
        let cursor = self.term.grid().cursor.clone();
        let named = PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor);
        if self.term.mode().contains(TermMode::ALT_SCREEN) {
            self.term.unset_private_mode(named);
            self.term.grid_mut().cursor = cursor;
        }
    }

    /// Whether the cell that a combining character would go to has room.
    fn has_room_for_mark(&self) -> bool {
        let grid = self.term.grid();
        let point = grid.cursor.point;
        let mut column = point.column.0;
        if !grid.cursor.input_needs_wrap {
            column = column.saturating_sub(1);
        }
        let row = &grid[point.line];
        if row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column = column.saturating_sub(1);
        }
        let marks = row[Column(column)].zerowidth().unwrap_or_default();
        marks.len() < CELL_MARKS_MAX
    }
}

macro_rules! delegate {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name(&mut self $(, $argument: $kind)*) {
            Handler::$name(self.term $(, $argument)*);
        })*
    };
}

impl<T: EventListener> Handler for Bounded<'_, T> {
    fn input(&mut self, character: char) {
        if character.width() != Some(0) || self.has_room_for_mark() {
            self.term.input(character);
        }
    }

    fn set_horizontal_tabstop(&mut self) {
        self.beyond.set_tab(self.column());
        self.term.set_horizontal_tabstop();
    }

    fn clear_tabs(&mut self, which: TabulationClearMode) {
        let column = self.column();
        self.beyond.clear_tabs(&which, column);
        self.term.clear_tabs(which);
    }

    fn reset_state(&mut self) {
        self.beyond.reset();
        self.term.reset_state();
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.beyond.use_charset(index);
        self.term.set_active_charset(index);
    }

    fn set_scrolling_region(&mut self, first: usize, last: Option<usize>) {
        if self.beyond.scroll(first, last) {
            self.term.set_scrolling_region(first, last);
        }
    }

    fn move_up(&mut self, rows: usize) {
        self.term.move_up(self.beyond.rows_up(self.row(), rows));
    }

    fn move_down(&mut self, rows: usize) {
        self.term.move_down(self.beyond.rows_down(self.row(), rows));
    }

    fn move_up_and_cr(&mut self, rows: usize) {
        let rows = self.beyond.rows_up(self.row(), rows);
        self.term.move_up_and_cr(rows);
    }

    fn move_down_and_cr(&mut self, rows: usize) {
        let rows = self.beyond.rows_down(self.row(), rows);
        self.term.move_down_and_cr(rows);
    }

    fn save_cursor_position(&mut self) {
        self.beyond.save(self.shown());
        self.term.save_cursor_position();
    }

    fn restore_cursor_position(&mut self) {
        self.term.restore_cursor_position();
        let charset = self.beyond.saved_charset(self.shown());
        self.set_active_charset(charset);
    }

    fn terminal_attribute(&mut self, attribute: Attr) {
        let flags = &mut self.term.grid_mut().cursor.template.flags;
        match attribute {
            Attr::BlinkSlow | Attr::BlinkFast => flags.insert(BLINK),
            Attr::CancelBlink => flags.remove(BLINK),
            other => self.term.terminal_attribute(other),
        }
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Unknown(REVERSE) => self.beyond.is_reverse = true,
            PrivateMode::Unknown(SAVE_CURSOR) => self.save_cursor_position(),
            PrivateMode::Unknown(number) if OLD_ALTERNATES.contains(&number) => {
                let named = NamedPrivateMode::SwapScreenAndSetRestoreCursor;
                self.term.set_private_mode(PrivateMode::Named(named));
            }
            // A size is not for programs to choose, and today's terminals ignore
            // this wholly: the engine would clear the screen.
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => {}
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                if self.shown() == Shown::Normal {
                    self.beyond.save(Shown::Normal);
                }
                self.term.set_private_mode(mode);
            }
            other => self.term.set_private_mode(other),
        }
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Unknown(REVERSE) => self.beyond.is_reverse = false,
            PrivateMode::Unknown(SAVE_CURSOR) => self.restore_cursor_position(),
            PrivateMode::Unknown(number) if OLD_ALTERNATES.contains(&number) => {
                self.leave_old_alternate();
            }
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => {}
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.term.unset_private_mode(mode);
                let charset = self.beyond.saved_charset(Shown::Normal);
                self.set_active_charset(charset);
            }
            other => self.term.unset_private_mode(other),
        }
    }

    delegate! {
        set_title(a: Option<String>);
        set_cursor_style(a: Option<CursorStyle>);
        set_cursor_shape(a: CursorShape);
        goto(a: i32, b: usize);
        goto_line(a: i32);
        goto_col(a: usize);
        insert_blank(a: usize);
        identify_terminal(a: Option<char>);
        device_status(a: usize);
        move_forward(a: usize);
        move_backward(a: usize);
        put_tab(a: u16);
        backspace();
        carriage_return();
        linefeed();
        bell();
        substitute();
        newline();
        scroll_up(a: usize);
        scroll_down(a: usize);
        insert_blank_lines(a: usize);
        delete_lines(a: usize);
        erase_chars(a: usize);
        delete_chars(a: usize);
        move_backward_tabs(a: u16);
        move_forward_tabs(a: u16);
        clear_line(a: LineClearMode);
        clear_screen(a: ClearMode);
        reverse_index();
        set_mode(a: Mode);
        unset_mode(a: Mode);
        report_mode(a: Mode);
        report_private_mode(a: PrivateMode);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        configure_charset(a: CharsetIndex, b: StandardCharset);
        set_color(a: usize, b: Rgb);
        dynamic_color_sequence(a: String, b: usize, c: &str);
        reset_color(a: usize);
        decaln();
        push_title();
        pop_title();
        text_area_size_pixels();
        text_area_size_chars();
        set_hyperlink(a: Option<Hyperlink>);
    }
}
