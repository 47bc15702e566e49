//! The engine: alacritty's terminal.

use super::beyond::{Beyond, Shown};
use super::bounded::Bounded;
use super::packed::Packed;
use super::{Engine, HISTORY_LINES_MAX, REPLY_BYTES_MAX, ScreenSize, dump};
use alacritty_terminal::event::{Event, EventListener, WindowSize};
use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{NamedColor, Processor, Rgb, Timeout};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pixels of a cell, for programs that ask: nobody has measured any.
const CELL_PIXELS: (u16, u16) = (8, 16);

/// Questions for colours that are answered in one piece of output.
const COLOURS_ASKED_MAX: usize = 256;

/// Title characters that are kept.
const TITLE_CHARS_MAX: usize = 256;

/// What the engine says.
#[derive(Default)]
struct Said {
    replies: Vec<u8>,
    title: Option<String>,
    size: Option<ScreenSize>,
    /// Colours that were asked for, with how to answer.
    colours: Vec<(usize, ColourAnswer)>,
}

type ColourAnswer = Arc<dyn Fn(Rgb) -> String + Sync + Send>;

#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Said>>);

impl Listener {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Said {
    fn reply(&mut self, text: &str) {
        if self.replies.len() + text.len() <= REPLY_BYTES_MAX {
            self.replies.extend_from_slice(text.as_bytes());
        }
    }
}

impl EventListener for Listener {
    fn send_event(&self, event: Event) {
        let mut said = self.said();
        match event {
            Event::PtyWrite(text) => said.reply(&text),
            Event::Title(title) => {
                let printable = title.chars().filter(|c| !c.is_control());
                said.title = Some(printable.take(TITLE_CHARS_MAX).collect());
            }
            Event::ResetTitle => said.title = None,
            Event::TextAreaSizeRequest(answer) => {
                if let Some(size) = said.size {
                    let text = answer(WindowSize {
                        num_lines: size.rows,
                        num_cols: size.columns,
                        cell_width: CELL_PIXELS.0,
                        cell_height: CELL_PIXELS.1,
                    });
                    said.reply(&text);
                }
            }
            Event::ColorRequest(index, answer) if said.colours.len() < COLOURS_ASKED_MAX => {
                said.colours.push((index, answer));
            }
            _ => {}
        }
    }
}

/// A synchronised update lasts until its end, or until we are told that it has
/// taken too long: there is no clock here.
#[derive(Default)]
struct Untimed {
    updating: bool,
}

impl Timeout for Untimed {
    fn set_timeout(&mut self, _: Duration) {
        self.updating = true;
    }

    fn clear_timeout(&mut self) {
        self.updating = false;
    }

    fn pending_timeout(&self) -> bool {
        self.updating
    }
}

impl Dimensions for ScreenSize {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.columns)
    }
}

/// Alacritty's terminal.
pub(super) struct Alacritty {
    term: Term<Listener>,
    processor: Processor<Untimed>,
    listener: Listener,
    beyond: Beyond,
    /// What is shown, while nobody looks; the terminal's own grid is none then.
    packed: Option<Packed>,
}

impl Alacritty {
    pub(super) fn new(size: ScreenSize) -> Alacritty {
        let config = Config {
            scrolling_history: HISTORY_LINES_MAX,
            // Its stack of keyboard modes, once full, takes from the stack of
            // titles, and panics when that one is empty.
            kitty_keyboard: false,
            osc52: Osc52::Disabled,
            ..Config::default()
        };
        let listener = Listener::default();
        listener.said().size = Some(size);
        Alacritty {
            term: Term::new(config, &size, listener.clone()),
            processor: Processor::new(),
            listener,
            beyond: Beyond::new(size),
            packed: None,
        }
    }

    fn answer_colours(&mut self) {
        let asked = std::mem::take(&mut self.listener.said().colours);
        for (index, answer) in asked {
            let colour = self.term.colors()[index].unwrap_or_else(|| default_colour(index));
            let text = answer(colour);
            self.listener.said().reply(&text);
        }
    }

    /// The normal screen, while the alternate one is shown. Going there and back
    /// clears the alternate one, so that is put back from a copy.
    fn hidden_grid(&mut self) -> Grid<Cell> {
        let shown = self.term.grid().clone();
        self.term.swap_alt();
        let hidden = self.term.grid().clone();
        self.term.swap_alt();
        *self.term.grid_mut() = shown;
        hidden
    }
}

impl Engine for Alacritty {
    fn feed(&mut self, bytes: &[u8]) {
        self.unpack();
        let mut term = Bounded::new(&mut self.term, &mut self.beyond);
        self.processor.advance(&mut term, bytes);
        self.answer_colours();
    }

    fn end_update(&mut self) {
        if self.is_updating() {
            self.unpack();
            let mut term = Bounded::new(&mut self.term, &mut self.beyond);
            self.processor.stop_sync(&mut term);
        }
    }

    fn is_updating(&self) -> bool {
        self.processor.sync_timeout().pending_timeout()
    }

    fn cursor(&self) -> (usize, usize) {
        let point = self.term.grid().cursor.point;
        (usize::try_from(point.line.0).unwrap_or(0), point.column.0)
    }

    fn scrolled(&self) -> Range<usize> {
        self.beyond.scrolled()
    }

    fn resume(&self, out: &mut Vec<u8>) {
        dump::margins(&self.beyond, out);
        dump::place(&self.term, &self.beyond, out);
        self.beyond.draw_shift(out);
        if self.term.mode().contains(TermMode::INSERT) {
            out.extend_from_slice(b"\x1b[4h");
        }
    }

    fn pack(&mut self) {
        if self.packed.is_none() {
            // A first line of history makes room for a thousand.
            self.term.grid_mut().truncate();
            self.packed = Packed::take(self.term.grid_mut());
        }
    }

    fn unpack(&mut self) {
        if let Some(packed) = self.packed.take() {
            let is_alternate = self.term.mode().contains(TermMode::ALT_SCREEN);
            let history_max = if is_alternate { 0 } else { HISTORY_LINES_MAX };
            *self.term.grid_mut() = packed.unpack(history_max);
        }
    }

    fn resize(&mut self, size: ScreenSize) {
        self.listener.said().size = Some(size);
        self.term.resize(size);
        self.beyond.resize(size);
    }

    fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.listener.said().replies)
    }

    fn title(&self) -> Option<String> {
        self.listener.said().title.clone()
    }

    fn text(&self) -> Vec<String> {
        let grid = self.term.grid();
        let rows = i32::try_from(grid.screen_lines()).unwrap_or(i32::MAX);
        let row = |line: i32| {
            let mut text = String::new();
            for column in 0..grid.columns() {
                if let Some(shown) = dump::shown(grid, Line(line), column) {
                    text.push(shown);
                    let cell = &grid[Line(line)][Column(column)];
                    text.extend(cell.zerowidth().unwrap_or_default());
                }
            }
            text.truncate(text.trim_end().len());
            text
        };
        (0..rows).map(row).collect()
    }

    fn draw(&mut self, out: &mut Vec<u8>) {
        let is_alternate = self.term.mode().contains(TermMode::ALT_SCREEN);
        let hidden = is_alternate.then(|| self.hidden_grid());
        let title = self.title();
        dump::reset(self.term.colors(), title.as_deref(), out);
        self.beyond.draw_tabs(out);
        let saved = |which| self.beyond.saved_charset(which);
        match &hidden {
            Some(normal) => {
                dump::normal(normal, out);
                dump::saved_cursor(normal, saved(Shown::Normal), out);
                dump::enter_alternate(normal, saved(Shown::Normal), out);
                dump::alternate(self.term.grid(), out);
                dump::saved_cursor(self.term.grid(), saved(Shown::Alternate), out);
            }
            None => {
                dump::normal(self.term.grid(), out);
                dump::saved_cursor(self.term.grid(), saved(Shown::Normal), out);
            }
        }
        dump::state(&self.term, &self.beyond, out);
        self.beyond.draw_rest(out);
    }
}

/// The colour of an index that no program has changed: xterm's palette, grey
/// on black.
fn default_colour(index: usize) -> Rgb {
    const BACKGROUND: usize = NamedColor::Background as usize;
    const BASE: [u32; 16] = [
        0x00_0000, 0xcd_0000, 0x00_cd00, 0xcd_cd00, 0x00_00ee, 0xcd_00cd, 0x00_cdcd, 0xe5_e5e5,
        0x7f_7f7f, 0xff_0000, 0x00_ff00, 0xff_ff00, 0x5c_5cff, 0xff_00ff, 0x00_ffff, 0xff_ffff,
    ];
    let grey = |level: usize| u8::try_from(level).unwrap_or(u8::MAX);
    let step = |level: usize| if level == 0 { 0 } else { grey(55 + 40 * level) };
    match index {
        0..16 => {
            let [_, r, g, b] = BASE[index].to_be_bytes();
            Rgb { r, g, b }
        }
        16..232 => {
            let cube = index - 16;
            let (r, g, b) = (cube / 36, cube / 6 % 6, cube % 6);
            Rgb {
                r: step(r),
                g: step(g),
                b: step(b),
            }
        }
        232..=255 => {
            let level = grey(8 + 10 * (index - 232));
            Rgb {
                r: level,
                g: level,
                b: level,
            }
        }
        BACKGROUND => Rgb { r: 0, g: 0, b: 0 },
        _ => Rgb {
            r: 0xe5,
            g: 0xe5,
            b: 0xe5,
        },
    }
}
