//! Looking for what is ignored, once in full and then only where something
//! has changed.
//!
//! Where the kernel can tell what happened, it is asked. Otherwise change times
//! are compared: a directory's moves when an entry comes, goes or is renamed,
//! and nobody can set it back.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use glass_model::FileId;

use super::Rules;
use crate::bell::{Bell, Heard, Rings};
use crate::place::file_id;
use crate::{Place, Refusal};

/// The most directory entries looked at. Ignoring only some of what is to be
/// ignored would be a promise broken, so more is refused.
const ENTRIES_MAX: usize = 1_000_000;

/// Change times are only as fine as the kernel's clock tick: a directory that
/// changed this shortly before it was read may change again unseen.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// What is ignored, and what was looked at to know.
#[derive(Debug)]
pub(crate) struct Scan {
    rules: Rules,
    /// Directories that were read, with their change time; none for those
    /// that must be read again.
    directories: HashMap<PathBuf, Option<Stamp>>,
    found: HashMap<PathBuf, FileId>,
    /// Ignored files that have further names.
    linked: HashSet<FileId>,
    /// Tells where something happened; none where not all directories could
    /// be watched.
    bell: Option<Bell>,
    entries: usize,
}

type Stamp = (i64, i64);

impl Scan {
    /// Looks everywhere. Answers with what is to be hidden.
    pub(crate) fn begin(rules: Rules) -> Result<(Scan, Vec<Place>), Refusal> {
        let mut scan = Scan {
            rules,
            directories: HashMap::new(),
            found: HashMap::new(),
            linked: HashSet::new(),
            bell: Bell::new(Rings::OnNames),
            entries: 0,
        };
        let roots = scan.rules.roots();
        let found = scan.read(roots)?;
        Ok((scan, found))
    }

    /// Takes something that is gone out, so that it is new when it is back.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.found.remove(path);
    }

    /// Whether nothing is known to have changed.
    pub(crate) fn is_silent(&self) -> bool {
        self.bell.as_ref().is_some_and(Bell::is_silent)
            && self
                .rules
                .roots()
                .iter()
                .all(|root| self.directories.contains_key(root))
    }

    /// Looks where something has changed. Answers with what is new.
    pub(crate) fn go_on(&mut self) -> Result<Vec<Place>, Refusal> {
        let mut changed = match self.bell.as_mut().map(Bell::listen) {
            Some(Heard::Events { changed, gone }) => {
                for path in &gone {
                    // What was below it is elsewhere as well.
                    self.directories.retain(|at, _| !at.starts_with(path));
                }
                changed
            }
            Some(Heard::TooMuch) | None => self.look_everywhere(),
        };
        let roots = self.rules.roots().into_iter();
        changed.extend(roots.filter(|root| !self.directories.contains_key(root)));
        changed.sort();
        changed.dedup();
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        // Only what is new counts against the bound.
        self.entries = 0;
        self.read(changed)
    }

    /// The directories whose change time has moved. Takes out those that are
    /// gone.
    fn look_everywhere(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        self.directories.retain(|path, stamp| {
            let now = std::fs::symlink_metadata(path);
            let now = now.ok().filter(Metadata::is_dir);
            let Some(now) = now else {
                return false;
            };
            if stamp.is_none() || *stamp != Some(stamp_of(&now)) {
                changed.push(path.clone());
            }
            true
        });
        changed
    }

    fn read(&mut self, mut queue: Vec<PathBuf>) -> Result<Vec<Place>, Refusal> {
        let mut hide = Vec::new();
        let known_links = self.linked.len();
        let mut looked_at = Vec::new();
        while let Some(directory) = queue.pop() {
            self.read_directory(&directory, &mut queue, &mut hide)?;
            looked_at.push(directory);
        }
        if self.linked.len() > known_links {
            looked_at = self.directories.keys().cloned().collect();
        }
        let inodes: HashSet<u64> = self.linked.iter().map(|id| id.inode).collect();
        if !inodes.is_empty() {
            for directory in &looked_at {
                self.find_links(directory, &inodes, &mut hide);
            }
        }
        Ok(hide)
    }

    fn read_directory(
        &mut self,
        directory: &Path,
        queue: &mut Vec<PathBuf>,
        hide: &mut Vec<Place>,
    ) -> Result<(), Refusal> {
        let Ok(metadata) = std::fs::symlink_metadata(directory) else {
            return Ok(());
        };
        if self
            .bell
            .as_mut()
            .is_some_and(|bell| !bell.watch(directory))
        {
            self.bell = None;
        }
        // What we cannot read, a command cannot read either.
        let Ok(entries) = std::fs::read_dir(directory) else {
            return Ok(());
        };
        let stamp = settled(&metadata).then(|| stamp_of(&metadata));
        self.directories.insert(directory.to_path_buf(), stamp);
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(Refusal::TooMany {
                    what: "files to compare with ignore patterns",
                    max: ENTRIES_MAX,
                });
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            if self.rules.matches(&path, kind.is_dir()) {
                self.note(&path, hide);
                continue;
            }
            let is_inner = kind.is_dir() && entry.file_name() != ".git";
            if is_inner && !self.directories.contains_key(&path) {
                queue.push(path);
            }
        }
        Ok(())
    }

    /// Takes note of something ignored, and hides it if that is new.
    fn note(&mut self, path: &Path, hide: &mut Vec<Place>) {
        let Ok(metadata) = std::fs::symlink_metadata(path) else {
            return;
        };
        let place = if metadata.is_symlink() {
            // A link cannot be masked; what it leads to is what holds the
            // secret.
            match Place::resolve(path) {
                Ok(place) if self.may_hide(&place) => place,
                _ => return,
            }
        } else {
            if metadata.is_file() && metadata.nlink() > 1 {
                self.linked.insert(file_id(&metadata));
            }
            Place {
                path: path.to_path_buf(),
                id: file_id(&metadata),
                is_dir: metadata.is_dir(),
            }
        };
        self.remember(place, hide);
    }

    fn remember(&mut self, place: Place, hide: &mut Vec<Place>) {
        if self.found.insert(place.path.clone(), place.id) != Some(place.id) {
            hide.push(place);
        }
    }

    /// What a link leads to is hidden only if that is a file, or a directory
    /// that nothing we look at lies in.
    fn may_hide(&self, place: &Place) -> bool {
        let system = ["/dev", "/proc", "/sys"];
        let mut roots = self.rules.roots().into_iter();
        !system.iter().any(|root| place.path.starts_with(root))
            && !roots.any(|root| root.starts_with(&place.path))
    }

    /// Hides further names of ignored files.
    fn find_links(&mut self, directory: &Path, inodes: &HashSet<u64>, hide: &mut Vec<Place>) {
        let Ok(entries) = std::fs::read_dir(directory) else {
            return;
        };
        for entry in entries.flatten() {
            if !inodes.contains(&entry.ino()) {
                continue;
            }
            if let Ok(place) = Place::at(&entry.path())
                && self.linked.contains(&place.id)
            {
                self.remember(place, hide);
            }
        }
    }

    /// Whether some ignored file has a name that was not found.
    pub(crate) fn has_names_elsewhere(&self) -> bool {
        let mut names: HashMap<FileId, (u64, &Path)> = HashMap::new();
        for (path, id) in self.found.iter().filter(|(_, id)| self.linked.contains(id)) {
            names.entry(*id).or_insert((0, path)).0 += 1;
        }
        let mut names = names.values();
        names.any(|(count, path)| path.symlink_metadata().is_ok_and(|m| m.nlink() > *count))
    }
}

fn stamp_of(metadata: &Metadata) -> Stamp {
    (metadata.ctime(), metadata.ctime_nsec())
}

/// Whether a directory changed long enough ago for its time to tell.
fn settled(metadata: &Metadata) -> bool {
    let (seconds, nanoseconds) = stamp_of(metadata);
    let (Ok(seconds), Ok(nanoseconds)) = (seconds.try_into(), nanoseconds.try_into()) else {
        return false;
    };
    let changed = UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    SystemTime::now()
        .duration_since(changed)
        .is_ok_and(|age| age > CLOCK_TICK)
}
