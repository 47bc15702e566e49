//! Stands between the parser and the terminal, where something must be bounded
//! that the terminal does not bound.

use alacritty_terminal::event::EventListener;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::Term;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, LineClearMode,
    Mode, PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar as _;

/// Combining characters that one cell keeps. The terminal itself would keep any
/// number of them.
const CELL_MARKS_MAX: usize = 16;

/// A terminal whose cells stay small. Keyboard protocols, the clipboard and the
/// pointer are nothing that a screen shows, and end here.
pub(super) struct Bounded<'a, T> {
    term: &'a mut Term<T>,
}

impl<'a, T: EventListener> Bounded<'a, T> {
    pub(super) fn new(term: &'a mut Term<T>) -> Bounded<'a, T> {
        Bounded { term }
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

    delegate! {
        set_title(a: Option<String>);
        set_cursor_style(a: Option<CursorStyle>);
        set_cursor_shape(a: CursorShape);
        goto(a: i32, b: usize);
        goto_line(a: i32);
        goto_col(a: usize);
        insert_blank(a: usize);
        move_up(a: usize);
        move_down(a: usize);
        identify_terminal(a: Option<char>);
        device_status(a: usize);
        move_forward(a: usize);
        move_backward(a: usize);
        move_down_and_cr(a: usize);
        move_up_and_cr(a: usize);
        put_tab(a: u16);
        backspace();
        carriage_return();
        linefeed();
        bell();
        substitute();
        newline();
        set_horizontal_tabstop();
        scroll_up(a: usize);
        scroll_down(a: usize);
        insert_blank_lines(a: usize);
        delete_lines(a: usize);
        erase_chars(a: usize);
        delete_chars(a: usize);
        move_backward_tabs(a: u16);
        move_forward_tabs(a: u16);
        save_cursor_position();
        restore_cursor_position();
        clear_line(a: LineClearMode);
        clear_screen(a: ClearMode);
        clear_tabs(a: TabulationClearMode);
        set_tabs(a: u16);
        reset_state();
        reverse_index();
        terminal_attribute(a: Attr);
        set_mode(a: Mode);
        unset_mode(a: Mode);
        report_mode(a: Mode);
        set_private_mode(a: PrivateMode);
        unset_private_mode(a: PrivateMode);
        report_private_mode(a: PrivateMode);
        set_scrolling_region(a: usize, b: Option<usize>);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        set_active_charset(a: CharsetIndex);
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
