//! Repositories, and what tells each from another that takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Makers, parts, tree_of};
use crate::git::{find_nested, plain_config};
use crate::place::file_id;

/// The most repositories that are told apart in one session.
pub(super) const REPOSITORIES_MAX: usize = 512;

/// The most places that are looked at.
pub(super) const ROOTS_MAX: usize = 256;

/// What a repository is known by whose configuration walls protect.
const WHATEVER_IT_SAYS: &str = "*";

/// What is written down for a place that was looked at.
const LOOKED_AT: &str = "looked at";

/// Repositories by the path of their `.git`, or of themselves if they have
/// none, each with what tells it from another that takes its place: which file
/// it is, and what its configuration says. And where they were looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repositories {
    pub(super) all: BTreeMap<PathBuf, Identity>,
    roots: BTreeSet<PathBuf>,
}

/// What a look at some places has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The repositories.
    pub found: Repositories,
    /// Something that was not looked at, and may hold more.
    pub unseen: Option<PathBuf>,
    /// What each of them leads git into; absent where that cannot be known.
    pub(super) parts: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Look {
    /// Adds a repository, if it is one, and says what it leads git into.
    fn add(&mut self, path: PathBuf) -> &[PathBuf] {
        let Some(identity) = Identity::of(&path) else {
            return &[];
        };
        self.found.all.insert(path.clone(), identity);
        match parts(&path) {
            Some(parts) => self.parts.entry(path).or_insert(parts),
            None => &[],
        }
    }

    /// What a repository leads git into; none if that cannot be known.
    pub(super) fn parts_of(&self, path: &Path) -> Option<&[PathBuf]> {
        self.parts.get(path).map(Vec::as_slice)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    file: String,
    /// Absent where it may make git execute something.
    config: Option<String>,
}

impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        let metadata = path.symlink_metadata().ok()?;
        let id = file_id(&metadata);
        let born = metadata.created().map_or(0, nanos);
        Some(Identity {
            file: format!("{}:{}:{born}", id.device, id.inode),
            config: plain_config(path),
        })
    }

    /// Whether this is what is known as `known`, and stays that while these
    /// might change it.
    pub(super) fn is(&self, known: &Identity, makers: Makers) -> bool {
        let protected = known.config.as_deref() == Some(WHATEVER_IT_SAYS);
        let same = self.config.is_some() && self.config == known.config;
        self.file == known.file && (protected || (same && makers == Makers::Gone))
    }

    fn is_born_since(&self, since: SystemTime) -> bool {
        let born = self.file.rsplit(':').next();
        let born: Option<u128> = born.and_then(|born| born.parse().ok());
        born.is_some_and(|born| born >= nanos(since))
    }
}

fn nanos(at: SystemTime) -> u128 {
    at.duration_since(UNIX_EPOCH).map_or(0, |at| at.as_nanos())
}

impl Repositories {
    /// Notes what is there before anybody can write to these places: those of
    /// the paths that are `protected` may say what they want, the others what
    /// they say now. What lies where somebody could write before is not noted.
    /// Says whether anything was.
    pub fn note(&mut self, roots: &[PathBuf], protected: &[PathBuf]) -> bool {
        let is_known = |path: &Path| is_below(path, &self.roots);
        let new = roots.iter().filter(|root| !is_known(root));
        let new: BTreeSet<PathBuf> = new.cloned().collect();
        if new.is_empty() {
            return false;
        }
        let found = Repositories::below(new.iter().map(PathBuf::as_path)).found;
        let found = found.all.into_iter();
        let found: Vec<_> = found.filter(|(path, _)| !is_known(path)).collect();
        for (path, mut identity) in found {
            if is_protected(&path, protected) {
                identity.config = Some(WHATEVER_IT_SAYS.to_owned());
            }
            if self.all.len() < REPOSITORIES_MAX {
                self.all.insert(path, identity);
            }
        }
        // One that is not kept in mind would be noted again when it is too late.
        let room = ROOTS_MAX.saturating_sub(self.roots.len());
        match new.len() <= room {
            true => self.roots.extend(new),
            false => self.roots = BTreeSet::from([PathBuf::from("/")]),
        }
        true
    }

    /// Whether there is nothing to note in these places any more.
    pub fn has_noted(&self, roots: &[PathBuf]) -> bool {
        roots.iter().all(|root| is_below(root, &self.roots))
    }

    /// What an older daemon wrote down was of the workspace, and did not say so.
    pub fn assume_noted(&mut self, workspace: Option<&Path>) {
        if self.roots.is_empty() {
            self.roots.extend(workspace.map(Path::to_path_buf));
        }
    }

    /// Looks again where they were looked for. Those that are known are looked
    /// at however much is in the way.
    pub fn look(&self) -> Look {
        let mut look = Repositories::below(self.roots.iter().map(PathBuf::as_path));
        for path in self.all.keys() {
            if !look.found.all.contains_key(path) {
                look.add(path.clone());
            }
        }
        look
    }

    /// Where they were looked for.
    pub(super) fn roots(&self) -> &BTreeSet<PathBuf> {
        &self.roots
    }

    /// All that are found below some directories, and those that they list as
    /// parts of themselves wherever in them those are.
    pub(super) fn below<'a>(roots: impl Iterator<Item = &'a Path>) -> Look {
        let mut look = Look::default();
        let mut queue: Vec<PathBuf> = Vec::new();
        let mut whole: Vec<&Path> = Vec::new();
        for root in roots {
            // One by another name is nowhere in those that were looked at.
            let is_seen = whole.iter().any(|whole| root.starts_with(whole));
            if is_seen && root.canonicalize().is_ok_and(|path| path == root) {
                continue;
            }
            let nested = find_nested(root);
            match nested.unseen {
                None => whole.push(root),
                unseen => look.unseen = look.unseen.or(unseen),
            }
            queue.extend(nested.dot_gits.into_iter().chain(nested.bare));
        }
        while let Some(path) = queue.pop() {
            if look.found.all.contains_key(&path) || path.symlink_metadata().is_err() {
                continue;
            }
            if look.found.all.len() >= REPOSITORIES_MAX {
                look.unseen.get_or_insert(path);
                break;
            }
            queue.extend_from_slice(look.add(path));
        }
        look
    }

    /// Those that are not, or not for sure, what is `known`.
    pub(super) fn without(
        &self,
        known: &Repositories,
        makers: Makers,
    ) -> impl Iterator<Item = &PathBuf> {
        let is_new = move |path: &PathBuf, it: &Identity| {
            let known = known.all.get(path);
            known.is_none_or(|known| !it.is(known, makers))
        };
        let all = self.all.iter();
        all.filter(move |(path, it)| is_new(path, it))
            .map(|(path, _)| path)
    }

    /// Adds those that are found and were not held back at the last look, if
    /// they say nothing that git would execute. Where that look has not seen
    /// everything, those that came to be `since`.
    pub fn learn(&mut self, look: &Look, held_back: &[PathBuf], since: Option<SystemTime>) {
        for (path, identity) in &look.found.all {
            let known = self.all.get(path);
            let is_known = known.is_some_and(|known| identity.is(known, Makers::Gone));
            let is_held = held_back.iter().any(|held| held == tree_of(path));
            let is_theirs = since.is_none_or(|since| identity.is_born_since(since));
            let fits = known.is_some() || self.all.len() < REPOSITORIES_MAX;
            if identity.config.is_some() && !is_known && !is_held && is_theirs && fits {
                self.all.insert(path.clone(), identity.clone());
            }
        }
    }

    /// As bytes for a file.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |path: &Path, file: &str, config: &str| {
            for part in [
                path.as_os_str().as_bytes(),
                file.as_bytes(),
                config.as_bytes(),
            ] {
                bytes.extend_from_slice(part);
                bytes.push(0);
            }
        };
        for root in &self.roots {
            put(root, LOOKED_AT, "");
        }
        for (path, identity) in &self.all {
            let config = identity.config.as_deref().unwrap_or_default();
            put(path, &identity.file, config);
        }
        bytes
    }

    /// What [`encode`](Self::encode) made; what cannot be read is left out.
    pub fn decode(bytes: &[u8]) -> Repositories {
        let parts: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        let mut read = Repositories::default();
        for entry in parts.chunks_exact(3).take(REPOSITORIES_MAX + ROOTS_MAX) {
            let path = Path::new(OsStr::from_bytes(entry[0])).to_path_buf();
            let texts = (std::str::from_utf8(entry[1]), std::str::from_utf8(entry[2]));
            let (Ok(file), Ok(config)) = texts else {
                continue;
            };
            if file == LOOKED_AT {
                read.roots.insert(path);
                continue;
            }
            let config = Some(config.to_owned()).filter(|config| !config.is_empty());
            let file = file.to_owned();
            read.all.insert(path, Identity { file, config });
        }
        read
    }
}

fn is_below(path: &Path, roots: &BTreeSet<PathBuf>) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// Whether walls protect it: by itself, or as a part of another.
fn is_protected(path: &Path, protected: &[PathBuf]) -> bool {
    let is_part = |whole: &PathBuf| {
        let parts = ["modules", "worktrees"];
        parts.iter().any(|part| path.starts_with(whole.join(part)))
    };
    protected
        .iter()
        .any(|whole| path == whole || is_part(whole))
}
