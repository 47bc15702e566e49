//! Rings when something in a watched directory comes, goes or is renamed, so
//! that nobody has to look at directories in which nothing happened. The
//! kernel queues an event before the call that caused it returns: what a
//! command has done is heard when it has ended.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// The most directories that are watched. The kernel keeps about a kilobyte
/// for each.
const WATCHES_MAX: usize = 16_384;

/// Bytes of events read at once.
const EVENTS_BYTES: usize = 16 * 1024;

/// Watched directories.
#[derive(Debug)]
pub(super) struct Bell {
    queue: OwnedFd,
    watched: HashMap<i32, PathBuf>,
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Entries came or went in these directories; those no longer are where
    /// they were.
    Events {
        changed: Vec<PathBuf>,
        gone: Vec<PathBuf>,
    },
    /// More than can be told. One has to look everywhere.
    TooMuch,
}

impl Bell {
    /// None where the kernel has no more to give.
    pub(super) fn new() -> Option<Bell> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Bell {
            queue,
            watched: HashMap::new(),
        })
    }

    /// Watches a directory; to be called before it is read. False if it
    /// cannot be watched.
    pub(super) fn watch(&mut self, directory: &Path) -> bool {
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        if self.watched.len() >= WATCHES_MAX {
            return false;
        }
        match inotify::add_watch(&self.queue, directory, flags) {
            Ok(watch) => {
                self.watched.insert(watch, directory.to_path_buf());
                true
            }
            Err(_) => false,
        }
    }

    /// What has happened since it was last asked.
    pub(super) fn listen(&mut self) -> Heard {
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        let mut buffer = [MaybeUninit::uninit(); EVENTS_BYTES];
        let mut events = Reader::new(&self.queue, &mut buffer);
        let mut last = None;
        loop {
            let (watch, flags) = match events.next() {
                Ok(event) => (event.wd(), event.events()),
                Err(Errno::WOULDBLOCK) => return Heard::Events { changed, gone },
                Err(_) => return Heard::TooMuch,
            };
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                return Heard::TooMuch;
            }
            let Some(path) = self.watched.get(&watch) else {
                continue;
            };
            if flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::IGNORED)
            {
                gone.push(path.clone());
                if flags.contains(ReadFlags::IGNORED) {
                    self.watched.remove(&watch);
                }
            } else if last != Some(watch) {
                changed.push(path.clone());
                last = Some(watch);
            }
        }
    }
}
