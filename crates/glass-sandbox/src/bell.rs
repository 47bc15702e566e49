//! Rings when something in a watched directory comes, goes or is renamed, so
//! that nobody has to look at directories in which nothing happened. The
//! kernel queues an event before the call that caused it returns: what a
//! command has done is heard when it has ended.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// The most directories that are watched. The kernel keeps about a kilobyte
/// for each.
const WATCHES_MAX: usize = 16_384;

/// Bytes of events read at once.
const EVENTS_BYTES: usize = 16 * 1024;

/// The most bells of this process. The kernel gives a user 128, and other
/// programs want theirs.
const BELLS_MAX: usize = 32;

/// File systems that others write to as well, on another machine or below a
/// server of files, as the kernel numbers them. Of that it tells nobody.
#[rustfmt::skip]
const SHARED: &[i64] = &[
    0x6969,      // NFS
    0x6573_5546, // FUSE, virtiofs
    0x0102_1997, // 9P
    0x517b, 0xff53_4d42, 0xfe53_4d42, // SMB
    0x00c3_6400, // Ceph
    0x5346_414f, 0x6b41_4653, // AFS
    0x7375_7245, // Coda
    0x0bd0_0bd0, // Lustre
    0x0116_1970, // GFS2
    0x7461_636f, // OCFS2
    0x786f_4256, 0xbacb_acbc, // Folders of a virtual machine's host
];

/// How many bells there are.
static BELLS: AtomicUsize = AtomicUsize::new(0);

/// What rings a bell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rings {
    /// Entries that come, go or are renamed.
    OnNames,
    /// Those, and files that are written.
    OnContents,
}

/// Watched directories.
#[derive(Debug)]
pub(crate) struct Bell {
    queue: OwnedFd,
    rings: Rings,
    watched: HashMap<i32, PathBuf>,
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
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
    /// None where there are enough.
    pub(crate) fn new(rings: Rings) -> Option<Bell> {
        if BELLS.fetch_add(1, Ordering::Relaxed) >= BELLS_MAX {
            BELLS.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        match inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC) {
            Ok(queue) => Some(Bell {
                queue,
                rings,
                watched: HashMap::new(),
            }),
            Err(_) => {
                BELLS.fetch_sub(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// Watches a directory; to be called before it is read. False if it
    /// cannot be watched.
    pub(crate) fn watch(&mut self, directory: &Path) -> bool {
        let mut flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        if self.rings == Rings::OnContents {
            flags |= WatchFlags::CLOSE_WRITE;
        }
        if self.watched.len() >= WATCHES_MAX || !tells(directory) {
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

    /// Whether nothing waits to be heard.
    pub(crate) fn is_silent(&self) -> bool {
        let mut fds = [PollFd::new(&self.queue, PollFlags::IN)];
        let now = Timespec::default();
        rustix::event::poll(&mut fds, Some(&now)) == Ok(0)
    }

    /// What has happened since it was last asked.
    pub(crate) fn listen(&mut self) -> Heard {
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        let told = self.drain(|path, name| match name {
            Some(_) if changed.last().is_some_and(|last| last == path) => {}
            Some(_) => changed.push(path.to_path_buf()),
            None => gone.push(path.to_path_buf()),
        });
        match told {
            true => Heard::Events { changed, gone },
            false => Heard::TooMuch,
        }
    }

    /// Whether something may have happened to any of these since it was last
    /// asked.
    pub(crate) fn concerns(&mut self, places: &HashSet<PathBuf>) -> bool {
        let mut concerned = false;
        let told = self.drain(|path, name| {
            concerned |= name.is_none_or(|name| places.contains(&path.join(name)));
        });
        concerned || !told
    }

    /// Takes all events: a directory, and the entry in it, or none if it was
    /// the directory itself. False if some were lost.
    fn drain(&mut self, mut each: impl FnMut(&Path, Option<&OsStr>)) -> bool {
        let mut buffer = [MaybeUninit::uninit(); EVENTS_BYTES];
        let mut events = Reader::new(&self.queue, &mut buffer);
        let mut ended = Vec::new();
        let told = loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::WOULDBLOCK) => break true,
                Err(_) => break false,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                break false;
            }
            if let Some(path) = self.watched.get(&event.wd()) {
                let name = event.file_name();
                each(path, name.map(|name| OsStr::from_bytes(name.to_bytes())));
            }
            if event.events().contains(ReadFlags::IGNORED) {
                ended.push(event.wd());
            }
        };
        for watch in ended {
            self.watched.remove(&watch);
        }
        told
    }
}

/// Whether the kernel tells of everything that happens in a directory.
fn tells(directory: &Path) -> bool {
    rustix::fs::statfs(directory).is_ok_and(|found| !SHARED.contains(&found.f_type))
}

impl Drop for Bell {
    fn drop(&mut self) {
        BELLS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Bell, Heard, Rings};

    #[test]
    fn a_bell_is_silent_until_something_happens() {
        let place = tempfile::tempdir().unwrap();
        let mut bell = Bell::new(Rings::OnNames).unwrap();
        assert!(bell.watch(place.path()));
        assert!(bell.is_silent());
        std::fs::write(place.path().join("new"), "").unwrap();
        assert!(!bell.is_silent());
        let heard = Heard::Events {
            changed: vec![place.path().to_path_buf()],
            gone: Vec::new(),
        };
        assert_eq!(bell.listen(), heard);
        assert!(bell.is_silent());
    }
}
