//! Changes that are on disk but not in the database yet.
//!
//! What happens with a command must survive our death before anybody learns of
//! it, but a transaction for each such thing costs more than the thing itself.
//! So changes are written to a small file with one system call, and enter the
//! database with the next transaction, whatever that is for, or a moment later
//! by themselves. Everybody who reads the database lets them enter first.
//!
//! There are two files. While the changes of one enter the database, the other
//! takes what comes, so that nobody waits for a transaction that is not theirs.
//!
//! Invariant: a change is in a file until it is in the database. One that is
//! in both is recognised by its numbers and not made twice.

mod record;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FallocateFlags, Mode, OFlags};

use crate::change::Change;
use record::{decode, encode};

/// The size of each file. It is given its room when it is made, so that a full
/// disk does not matter.
const FILE_BYTES: u64 = 256 * 1024;

/// A file that is as full as this is emptied soon.
const SOON_BYTES: u64 = FILE_BYTES / 2;

/// Bytes before a record: its length, a check over its content, its number.
const HEAD_BYTES: usize = 16;

/// The names of the files.
const NAMES: [&str; 2] = ["deferred", "deferred.2"];

/// What was deferred at once.
pub(crate) type Batch = Arc<[Change]>;

/// What became of changes that were to be deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// They are of a kind that cannot wait, or do not fit. Nothing was written.
    Refused,
    /// They are on disk. Others wait with them.
    Joined,
    /// They are on disk, and nothing has been before.
    First,
    /// They are on disk, and it is time to let all enter the database.
    Many,
}

/// Changes that wait, and the files that hold them.
pub(crate) struct Deferred {
    halves: [Half; 2],
    /// Which half takes what comes.
    current: usize,
    /// Which halves are on their way into the database.
    sealed: [bool; 2],
    /// The number of the next record.
    serial: u64,
    /// What was sealed could not enter: nothing is put off until it has.
    strained: bool,
}

struct Half {
    file: File,
    end: u64,
    batches: Vec<Batch>,
}

impl Deferred {
    /// Opens the files of a data directory, and returns what the last process
    /// left in them, in order.
    pub(crate) fn open(dir: &Path) -> io::Result<(Deferred, Vec<Vec<Change>>)> {
        let mut left = Vec::new();
        let halves = [
            Half::open(&dir.join(NAMES[0]), &mut left)?,
            Half::open(&dir.join(NAMES[1]), &mut left)?,
        ];
        left.sort_by_key(|(serial, _)| *serial);
        let deferred = Deferred {
            halves,
            current: 0,
            sealed: [true; 2],
            serial: left.last().map_or(0, |(serial, _)| serial + 1),
            strained: false,
        };
        Ok((
            deferred,
            left.into_iter().map(|(_, changes)| changes).collect(),
        ))
    }

    /// Writes changes to a file.
    pub(crate) fn push(&mut self, changes: &[Change]) -> io::Result<Pushed> {
        if self.strained {
            return Ok(Pushed::Refused);
        }
        let Some(payload) = encode(changes) else {
            return Ok(Pushed::Refused);
        };
        let half = &mut self.halves[self.current];
        let before = half.end;
        if !half.write(self.serial, &payload)? {
            return Ok(Pushed::Refused);
        }
        self.serial += 1;
        half.batches.push(changes.into());
        Ok(match (before, half.end) {
            (0, _) => Pushed::First,
            (before, end) if before < SOON_BYTES && end >= SOON_BYTES => Pushed::Many,
            _ => Pushed::Joined,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.halves.iter().all(|half| half.batches.is_empty())
    }

    /// Whether something that waits has this about it.
    pub(crate) fn any(&self, holds: impl Fn(&Change) -> bool) -> bool {
        let batches = self.halves.iter().flat_map(|half| &half.batches);
        batches.flat_map(|batch| batch.iter()).any(holds)
    }

    /// Everything that waits, in order, for a transaction that is followed by
    /// [`Deferred::settled`], or by this again if there was no room for it.
    pub(crate) fn seal(&mut self) -> Vec<Batch> {
        let other = 1 - self.current;
        self.sealed = [true; 2];
        if self.halves[other].batches.is_empty() {
            // What comes from now on is not part of it.
            self.sealed[other] = false;
            self.current = other;
            return self.halves[1 - other].batches.clone();
        }
        // There was no room the last time, and nothing comes until there is.
        let [older, newer] = [other, self.current].map(|at| &self.halves[at].batches);
        older.iter().chain(newer).cloned().collect()
    }

    /// What was sealed is in the database, so there is room again.
    pub(crate) fn settled(&mut self) {
        self.strained = false;
        for (half, sealed) in self.halves.iter_mut().zip(self.sealed) {
            if sealed {
                half.clear();
            }
        }
    }

    /// What was sealed could not enter the database. Until it has, nothing is put
    /// off any more: the half that is written to may be sealed as well.
    pub(crate) fn strain(&mut self) {
        self.strained = true;
    }
}

impl Half {
    fn open(path: &Path, left: &mut Vec<(u64, Vec<Change>)>) -> io::Result<Half> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?);
        let mut content = vec![0; FILE_BYTES as usize];
        let there = read_up_to(&file, &mut content)?;
        content.truncate(there);
        if there < FILE_BYTES as usize {
            rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, FILE_BYTES)?;
        }
        left.extend(records(&content));
        Ok(Half {
            file,
            end: 0,
            batches: Vec::new(),
        })
    }

    /// Adds a record; false where it does not fit.
    fn write(&mut self, serial: u64, payload: &[u8]) -> io::Result<bool> {
        let mut record = Vec::with_capacity(HEAD_BYTES + payload.len() + 4);
        record.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        record.extend_from_slice(&check(serial, payload).to_le_bytes());
        record.extend_from_slice(&serial.to_le_bytes());
        record.extend_from_slice(payload);
        // The next record's length: there is none yet.
        record.extend_from_slice(&[0; 4]);
        let end = self.end + (record.len() - 4) as u64;
        if end + 4 > FILE_BYTES {
            return Ok(false);
        }
        self.file.write_all_at(&record, self.end)?;
        self.end = end;
        Ok(true)
    }

    fn clear(&mut self) {
        self.batches.clear();
        self.end = 0;
        if let Err(error) = self.file.write_all_at(&[0; 4], 0) {
            // Found again, they would be recognised.
            tracing::warn!(%error, "deferred changes stay on disk");
        }
    }
}

fn read_up_to(file: &File, content: &mut [u8]) -> io::Result<usize> {
    let mut there = 0;
    while there < content.len() {
        match file.read_at(&mut content[there..], there as u64)? {
            0 => break,
            count => there += count,
        }
    }
    Ok(there)
}

/// The records of a file, up to the first that is not whole.
fn records(mut content: &[u8]) -> Vec<(u64, Vec<Change>)> {
    let mut found = Vec::new();
    while let Some((head, rest)) = content.split_first_chunk::<HEAD_BYTES>() {
        let [a, b, c, d, e, f, g, h, serial @ ..] = *head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let sum = u32::from_le_bytes([e, f, g, h]);
        let serial = u64::from_le_bytes(serial);
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            break;
        };
        if length == 0 || check(serial, payload) != sum {
            break;
        }
        let Some(changes) = decode(payload) else {
            break;
        };
        found.push((serial, changes));
        content = rest;
    }
    found
}

/// FNV-1a. Against a torn record, not against anybody's intent: the directory
/// is ours alone.
fn check(serial: u64, payload: &[u8]) -> u32 {
    let number = serial.to_le_bytes();
    let bytes = number.iter().chain(payload);
    bytes.fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests;
