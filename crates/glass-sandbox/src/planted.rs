//! Repositories that a command with fewer rights may have made, and what keeps
//! git from believing them.
//!
//! Git executes what a repository's configuration names. Walls protect the
//! configuration of repositories that are there; one that a sandboxed command
//! makes is all its own. So whoever has more rights than that command is given
//! variables with which git refuses such repositories, wherever it meets them.

mod elsewhere;
mod known;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::{Found, Repository, gitlinks, has_steps, is_inert, modules};
use elsewhere::elsewhere;
pub use known::{Look, Repositories};

/// The most repositories that git is told to believe; the others are refused.
const SAFE_MAX: usize = 256;

/// The longest list of those, in bytes; the kernel takes twice as much.
const SAFE_BYTES_MAX: usize = 64 * 1024;

/// With it, git believes no repository but those that it is told of, and says
/// in its own words how to tell it.
const STRICT: &str = "GIT_TEST_ASSUME_DIFFERENT_OWNER";

/// The `.git` of every repository that this one lists as a part of itself;
/// none if its list cannot be read.
fn linked(repository: &Path) -> Option<Vec<PathBuf>> {
    let tree = tree_of(repository);
    let names = gitlinks(repository)?;
    let paths = names.into_iter();
    Some(
        paths
            .map(|name| tree.join(OsStr::from_bytes(&name)).join(".git"))
            .collect(),
    )
}

/// Every repository that this one leads git into: those that it lists, and
/// those that it keeps in itself; none if they cannot be known.
fn parts(repository: &Path) -> Option<Vec<PathBuf>> {
    let mut parts = linked(repository)?;
    match Repository::find(repository) {
        Found::Repository(found) => parts.extend(modules(&found.common_dir)?),
        Found::Link | Found::Nothing => return None,
    }
    Some(parts)
}

/// Where git finds a repository: the directory of its files, or itself.
fn tree_of(repository: &Path) -> &Path {
    match repository.file_name().is_some_and(|name| name == ".git") {
        true => repository.parent().unwrap_or(repository),
        false => repository,
    }
}

/// Whether a repository is amid something that executes more when it goes on.
fn executes_steps(repository: &Path) -> bool {
    match Repository::find(repository) {
        Found::Repository(found) => has_steps(&found.git_dir),
        Found::Link | Found::Nothing => false,
    }
}

/// Whether those who might have made repositories can still change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makers {
    /// Something that they left behind is running.
    Alive,
    /// Nothing of theirs runs.
    Gone,
}

/// The repositories in these places that walls around a command protect.
pub fn protectable(roots: &[PathBuf]) -> Vec<PathBuf> {
    let found = roots.iter().map(|root| crate::git::find_work(root));
    found
        .flat_map(|found| found.dot_gits.into_iter().chain(found.bare))
        .collect()
}

/// What keeps git from believing some repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distrust {
    /// Where they are.
    pub held_back: Vec<PathBuf>,
    /// Something that was not looked at.
    pub unseen: Option<PathBuf>,
    /// The variables that a command needs for it.
    pub env: Vec<(String, String)>,
}

impl Distrust {
    /// Of every repository there is: for when it cannot be known which.
    pub fn of_all() -> Distrust {
        Distrust {
            held_back: Vec::new(),
            unseen: Some(PathBuf::from("/")),
            env: strict(std::iter::empty()),
        }
    }

    /// What is to be known of it, and how it is taken back.
    pub fn remark(&self) -> String {
        let own_word = "Whoever has read its configuration says `git -c safe.directory=";
        match (self.held_back.first(), &self.unseen) {
            (Some(first), _) => {
                let more = match self.held_back.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                let first = first.display();
                format!(
                    "git does not believe {first}{more}: a command with fewer rights may have \
                     made it. {own_word}{first} …`"
                )
            }
            (None, Some(unseen)) => format!(
                "there is too much to look at ({} was not), so git believes no repository that \
                 was not seen: a command with fewer rights may have made it. {own_word}PATH …`",
                unseen.display()
            ),
            (None, None) => format!(
                "git believes no repository that is new: what a command with fewer rights left \
                 running may make one. {own_word}PATH …`"
            ),
        }
    }

    /// The sentence about a command whose git refused a repository because of
    /// this.
    pub fn denial(&self, stderr_tail: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(stderr_tail);
        text.contains("detected dubious ownership")
            .then(|| self.remark())
    }
}

/// What keeps git from believing what is found and neither `believed` nor
/// harmless, and what was not looked at; nothing where there is no such thing.
/// A repository that lists one of those as a part of itself leads git there,
/// and is not believed either.
pub fn distrust(believed: &Repositories, look: &Look, makers: Makers) -> Option<Distrust> {
    let found = &look.found;
    let mut held: BTreeSet<PathBuf> = found.without(believed, makers).cloned().collect();
    if makers == Makers::Gone {
        held.retain(|path| !is_inert(path));
    }
    // Steps are no configuration, so nothing protects them.
    held.extend(
        found
            .all
            .keys()
            .filter(|path| executes_steps(path))
            .cloned(),
    );
    if held.is_empty() && look.unseen.is_none() && makers == Makers::Gone {
        return None;
    }
    let first: Vec<PathBuf> = held.iter().cloned().collect();
    let keys = found.all.keys().filter(|path| !held.contains(*path));
    let mut rest: Vec<(&PathBuf, Option<&[PathBuf]>)> =
        keys.map(|path| (path, look.parts_of(path))).collect();
    // One that is listed and was not found is unknown too.
    let is_unknown =
        |link: &PathBuf| !found.all.contains_key(link) && link.symlink_metadata().is_ok();
    loop {
        let before = rest.len();
        rest.retain(|(path, links)| {
            let leads_there = |link: &PathBuf| held.contains(link) || is_unknown(link);
            let leads = links.is_none_or(|links| links.iter().any(leads_there));
            if leads {
                held.insert((*path).clone());
            }
            !leads
        });
        if rest.len() == before {
            break;
        }
    }
    // Those that were made with few rights are the ones to do without.
    rest.sort_by_key(|(path, _)| !believed.all.contains_key(*path));
    let safe = rest.iter().filter_map(|(path, _)| tree_of(path).to_str());
    let elsewhere = elsewhere(believed.roots());
    let safe = safe.take(SAFE_MAX).map(str::to_owned).chain(elsewhere);
    Some(Distrust {
        held_back: first.iter().map(|path| tree_of(path).into()).collect(),
        unseen: look.unseen.clone(),
        env: strict(safe),
    })
}

/// The variables with which git believes these directories and no other: the
/// second is what `git -c` would have set.
fn strict(safe: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let mut entries = String::new();
    for directory in safe {
        let quoted = directory.replace('\'', "'\\''").replace('!', "'\\!'");
        if entries.len() + quoted.len() < SAFE_BYTES_MAX {
            entries.push_str(&format!("'safe.directory={quoted}' "));
        }
    }
    vec![
        (STRICT.to_owned(), "1".to_owned()),
        (
            "GIT_CONFIG_PARAMETERS".to_owned(),
            entries.trim_end().to_owned(),
        ),
    ]
}

#[cfg(test)]
mod tests;
