//! What a terminal shows: for those who come later as a screen, for those who
//! are there as bytes.
//!
//! The screen answers what the programs ask of their terminal, so questions are
//! left out of what clients see: two of them would answer twice.

use crate::context::read_left;
use bytes::Bytes;
use glass_vt::screen::{LateScreen, SAVED_BYTES_MAX, SavedScreen, Screen, ScreenSize};
use glass_vt::strip::{Strip, Stripped};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a synchronised update may keep a frame back.
const UPDATE_WAIT: Duration = Duration::from_millis(150);

/// Bytes that a synchronised update may keep back.
const UPDATE_BYTES_MAX: usize = 2 << 20;

/// After so many bytes of output the screen is saved again, so that the next
/// daemon has little to read.
const SAVE_AFTER_BYTES: u64 = 4 << 20;

/// What is read of a recording whose saved screen is lost, in bytes.
pub(super) const UNSAVED_BYTES_MAX: u64 = 8 << 20;

/// A screen that has not changed for so long gives memory back.
const REST: Duration = Duration::from_secs(1);

/// The screen's file in the directory of its session.
const FILE_NAME: &str = "screen";

pub(super) struct Display {
    screen: LateScreen,
    strip: Strip,
    /// What clients have not seen because an update is not finished.
    held: Vec<u8>,
    held_until: Option<Instant>,
    /// When the screen changed last, until it has given memory back.
    changed: Option<Instant>,
    /// When to look whether it has rested since.
    rest_at: Option<Instant>,
    file: PathBuf,
    saved_at: u64,
}

impl Display {
    /// An empty one.
    pub(super) fn new(size: ScreenSize, dir: &Path) -> Display {
        Display::of(Screen::new(size), size, 0, dir)
    }

    fn of(screen: Screen, size: ScreenSize, saved_at: u64, dir: &Path) -> Display {
        Display {
            screen: LateScreen::new(screen, size),
            strip: Strip::new(Stripped::Queries),
            held: Vec::new(),
            held_until: None,
            changed: None,
            rest_at: None,
            file: dir.join(FILE_NAME),
            saved_at,
        }
    }

    /// The one that the last daemon saved, and how much of the recording it
    /// shows; an empty one where there is none.
    pub(super) fn load(size: ScreenSize, dir: &Path) -> (Display, u64) {
        let saved = read_left(&dir.join(FILE_NAME), SAVED_BYTES_MAX as u64).ok();
        let Some(saved) = saved.as_deref().and_then(SavedScreen::parse) else {
            return (Display::new(size, dir), 0);
        };
        let mut display = Display::of(saved.restore(), saved.size, saved.offset, dir);
        // It stands where the screen stands, in the middle of a sequence too.
        display.strip.push(&saved.drawing, |_| {});
        (display, saved.offset)
    }

    /// Takes recorded output that was shown before.
    pub(super) fn replay(&mut self, bytes: &[u8]) {
        self.screen.feed(bytes);
        self.has_changed(Instant::now());
        self.strip.push(bytes, |_| {});
        // Whoever asked has been answered, or has given up.
        drop(self.screen.take_replies());
    }

    /// Takes new output; gives what is to be said to the programs.
    pub(super) fn feed(&mut self, bytes: &[u8], now: Instant) -> Vec<u8> {
        self.screen.feed(bytes);
        self.has_changed(now);
        let held = &mut self.held;
        self.strip
            .push(bytes, |passed| held.extend_from_slice(passed));
        if self.screen.is_updating() {
            self.held_until.get_or_insert(now + UPDATE_WAIT);
        } else {
            self.held_until = None;
        }
        self.screen.take_replies()
    }

    /// What clients are to be shown now; nothing while an update is under way.
    pub(super) fn frame(&mut self, now: Instant) -> Vec<u8> {
        let waits = self.held_until.is_some_and(|until| now < until);
        if waits && self.held.len() < UPDATE_BYTES_MAX {
            return Vec::new();
        }
        self.whole_frame()
    }

    /// All that clients have not been shown.
    pub(super) fn whole_frame(&mut self) -> Vec<u8> {
        if self.held_until.take().is_some() {
            self.screen.now().end_update();
        }
        std::mem::take(&mut self.held)
    }

    /// Something was written, or somebody looked, for which a screen at rest is
    /// unfolded.
    fn has_changed(&mut self, now: Instant) {
        self.changed = Some(now);
        self.rest_at.get_or_insert(now + REST);
    }

    /// When to rest, if nothing comes until then.
    pub(super) fn rest_due(&self) -> Option<Instant> {
        self.rest_at
    }

    /// Gives memory back if nothing has come for a while, and else looks again.
    /// Whether it has.
    pub(super) fn rest(&mut self, now: Instant) -> bool {
        let rested_at = self.changed.map(|changed| changed + REST);
        self.rest_at = rested_at.filter(|at| *at > now);
        let rests = self.rest_at.is_none() && self.changed.take().is_some();
        if rests {
            self.screen.rest();
        }
        rests
    }

    /// When a frame that is kept back is shown at the latest.
    pub(super) fn due(&self) -> Option<Instant> {
        self.held_until
    }

    /// What draws the screen for a client. Everything that is kept back must
    /// have been shown to the others before.
    pub(super) fn drawing(&mut self) -> Bytes {
        self.has_changed(Instant::now());
        let drawing = match self.strip.holds_back() {
            true => self.screen.now().drawing(),
            false => self.screen.now().snapshot(),
        };
        drawing.into()
    }

    pub(super) fn resize(&mut self, size: ScreenSize) {
        self.has_changed(Instant::now());
        self.screen.resize(size);
    }

    /// Saves the screen if much has come since it was saved last.
    pub(super) fn save_at_times(&mut self, offset: u64, size: ScreenSize) {
        if offset >= self.saved_at.saturating_add(SAVE_AFTER_BYTES) {
            self.save(offset, size);
        }
    }

    /// Saves the screen, which shows so many bytes of the recording.
    pub(super) fn save(&mut self, offset: u64, size: ScreenSize) {
        self.saved_at = offset;
        self.has_changed(Instant::now());
        let saved = SavedScreen {
            offset,
            size,
            drawing: self.screen.now().snapshot(),
        };
        let bytes = saved.encode();
        if bytes.len() > SAVED_BYTES_MAX {
            return;
        }
        if let Err(error) = write_saved(&self.file, &bytes) {
            tracing::warn!(%error, "a screen could not be saved");
        }
    }
}

/// Replaces the file as a whole, so that no daemon finds half of one.
fn write_saved(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let _ = std::fs::remove_file(&new);
    let mut options = std::fs::OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    options.open(&new)?.write_all(bytes)?;
    std::fs::rename(&new, path)
}
