//! How much room is left, and a little that is held back.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rustix::fs::{FallocateFlags, Mode, OFlags};

/// The free space is looked up at most this often …
const CHECK_EVERY_MS: u64 = 200;

/// … unless this much was written since.
const CHECK_EVERY_BYTES: u64 = 8 << 20;

/// Held back for the ends of commands, once the disk is full.
const RESERVE_BYTES: u64 = 1 << 20;

/// The reserve is only made where this much is free.
const RESERVE_FREE_BYTES_MIN: u64 = 16 << 20;

/// Watches the free space, cheaply enough to be asked before every read.
pub(crate) struct Gauge {
    dir: OwnedFd,
    free_bytes_min: u64,
    since: Instant,
    checked_ms: AtomicU64,
    written_bytes: AtomicU64,
    low: AtomicBool,
    scarce: AtomicBool,
}

impl Gauge {
    pub(crate) fn new(dir: OwnedFd, free_bytes_min: u64) -> Gauge {
        let gauge = Gauge {
            dir,
            free_bytes_min,
            since: Instant::now(),
            checked_ms: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            low: AtomicBool::new(false),
            scarce: AtomicBool::new(false),
        };
        gauge.check();
        gauge
    }

    /// Notes that so much was written.
    pub(crate) fn wrote(&self, bytes: u64) {
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether so little is free that the next write may find nothing.
    pub(crate) fn is_scarce(&self) -> bool {
        self.is_low() || self.scarce.load(Ordering::Relaxed)
    }

    /// Whether less is free than must be.
    pub(crate) fn is_low(&self) -> bool {
        let now_ms = self.now_ms();
        let age_ms = now_ms.saturating_sub(self.checked_ms.load(Ordering::Relaxed));
        if age_ms >= CHECK_EVERY_MS
            || self.written_bytes.load(Ordering::Relaxed) >= CHECK_EVERY_BYTES
        {
            self.check();
        }
        self.low.load(Ordering::Relaxed)
    }

    /// Looks now.
    pub(crate) fn check(&self) {
        self.checked_ms.store(self.now_ms(), Ordering::Relaxed);
        self.written_bytes.store(0, Ordering::Relaxed);
        let free = self.free_bytes();
        let low = free.is_some_and(|free| free < self.free_bytes_min);
        let scarce = free.is_some_and(|free| free < RESERVE_FREE_BYTES_MIN);
        self.scarce.store(scarce, Ordering::Relaxed);
        if self.low.swap(low, Ordering::Relaxed) != low {
            tracing::warn!(low, "the free space crossed the limit for recording output");
        }
    }

    /// None where the file system does not say.
    fn free_bytes(&self) -> Option<u64> {
        let stat = rustix::fs::fstatvfs(&self.dir).ok()?;
        (stat.f_blocks > 0).then(|| stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A file that is only there to be deleted when the disk is full, so that what
/// happened can still be recorded.
pub(crate) struct Reserve {
    path: PathBuf,
    held: AtomicBool,
}

impl Reserve {
    /// A reserve that an earlier process left counts.
    pub(crate) fn new(path: PathBuf) -> Reserve {
        let left = std::fs::metadata(&path).is_ok_and(|file| file.len() >= RESERVE_BYTES);
        Reserve {
            path,
            held: AtomicBool::new(left),
        }
    }

    /// Makes the reserve where there is none and there is room.
    pub(crate) fn refill(&self, gauge: &Gauge) {
        if self.held.load(Ordering::Relaxed) {
            return;
        }
        if gauge
            .free_bytes()
            .is_none_or(|free| free < RESERVE_FREE_BYTES_MIN)
        {
            return;
        }
        match self.allocate() {
            Ok(()) => self.held.store(true, Ordering::Relaxed),
            Err(error) => tracing::debug!(%error, "the reserve could not be made"),
        }
    }

    /// Gives the reserve back to the disk. False when there was none.
    pub(crate) fn release(&self) -> bool {
        if !self.held.swap(false, Ordering::Relaxed) {
            return false;
        }
        let released = std::fs::remove_file(&self.path);
        tracing::warn!(
            released = released.is_ok(),
            "the disk is full; the reserve is given back"
        );
        released.is_ok()
    }

    fn allocate(&self) -> std::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(
            &self.path,
            flags,
            Mode::from_raw_mode(0o600),
        )?);
        Ok(rustix::fs::fallocate(
            &file,
            FallocateFlags::empty(),
            0,
            RESERVE_BYTES,
        )?)
    }
}
