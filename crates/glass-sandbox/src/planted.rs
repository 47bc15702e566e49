//! Repositories that a command with fewer rights may have made, and what keeps
//! git from believing them.
//!
//! Git executes what a repository's configuration names. Walls protect the
//! configuration of repositories that are there; one that a sandboxed command
//! makes is all its own. So whoever has more rights than that command is given
//! variables with which git refuses such repositories, wherever it meets them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::git::{find_nested, gitlinks, is_inert, plain_config};
use crate::place::file_id;

/// The most repositories that are told apart in one workspace.
const REPOSITORIES_MAX: usize = 512;

/// The most repositories that git is told to believe; the others are refused.
const SAFE_MAX: usize = 64;

/// With it, git believes no repository but those that it is told of, and says
/// in its own words how to tell it.
const STRICT: &str = "GIT_TEST_ASSUME_DIFFERENT_OWNER";

/// What a repository is known by whose configuration walls protect.
const WHATEVER_IT_SAYS: &str = "*";

/// Repositories by the path of their `.git`, or of themselves if they have
/// none, each with what tells it from another that takes its place: which file
/// it is, and what its configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repositories(BTreeMap<PathBuf, Identity>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    file: String,
    /// Absent where it may make git execute something.
    config: Option<String>,
}

impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        let metadata = path.symlink_metadata().ok()?;
        let id = file_id(&metadata);
        let born = metadata.created().ok();
        let born = born.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |at| at.as_nanos());
        Some(Identity {
            file: format!("{}:{}:{born}", id.device, id.inode),
            config: plain_config(path),
        })
    }

    /// Whether this is what is known as `known`.
    fn is(&self, known: &Identity) -> bool {
        let protected = known.config.as_deref() == Some(WHATEVER_IT_SAYS);
        let same = self.config.is_some() && self.config == known.config;
        self.file == known.file && (protected || same)
    }
}

impl Repositories {
    /// Those of these paths that are there, whatever their configuration is:
    /// whoever asks protects it.
    pub fn protected(paths: &[PathBuf]) -> Repositories {
        let mut known = Repositories::at(paths.iter().cloned());
        for identity in known.0.values_mut() {
            identity.config = Some(WHATEVER_IT_SAYS.to_owned());
        }
        known
    }

    fn at(paths: impl IntoIterator<Item = PathBuf>) -> Repositories {
        let known = paths.into_iter().take(REPOSITORIES_MAX);
        let known = known.filter_map(|path| Identity::of(&path).map(|it| (path, it)));
        Repositories(known.collect())
    }

    /// All that are found below a directory, and those that they list as parts
    /// of themselves wherever in them those are.
    pub fn below(root: &Path) -> Repositories {
        let mut found = Repositories::at(find_nested(root));
        let mut queue: Vec<PathBuf> = found.0.keys().cloned().collect();
        while let Some(path) = queue.pop() {
            for linked in linked(&path).unwrap_or_default() {
                let full = found.0.len() >= REPOSITORIES_MAX;
                if let (Some(identity), false) = (Identity::of(&linked), full)
                    && !found.0.contains_key(&linked)
                {
                    found.0.insert(linked.clone(), identity);
                    queue.push(linked);
                }
            }
        }
        found
    }

    /// Those that are not, or not any more, what is `known`.
    fn without(&self, known: &Repositories) -> impl Iterator<Item = &PathBuf> {
        let is_new = |path: &PathBuf, it: &Identity| {
            let known = known.0.get(path);
            known.is_none_or(|known| !it.is(known))
        };
        let all = self.0.iter();
        all.filter(move |(path, it)| is_new(path, it))
            .map(|(path, _)| path)
    }

    /// Adds those that are found and were not held back at the last look, if
    /// they say nothing that git would execute.
    pub fn learn(&mut self, found: &Repositories, held_back: &[PathBuf]) {
        for (path, identity) in &found.0 {
            let known = self.0.get(path);
            let is_known = known.is_some_and(|known| identity.is(known));
            let is_held = held_back.iter().any(|held| held == tree_of(path));
            if identity.config.is_some() && !is_known && !is_held {
                self.0.insert(path.clone(), identity.clone());
            }
        }
    }

    /// As bytes for a file.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (path, identity) in &self.0 {
            let config = identity.config.as_deref().unwrap_or_default();
            let parts = [
                path.as_os_str().as_bytes(),
                identity.file.as_bytes(),
                config.as_bytes(),
            ];
            for part in parts {
                bytes.extend_from_slice(part);
                bytes.push(0);
            }
        }
        bytes
    }

    /// What [`encode`](Self::encode) made; what cannot be read is left out.
    pub fn decode(bytes: &[u8]) -> Repositories {
        let parts: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        let entries = parts.chunks_exact(3).take(REPOSITORIES_MAX);
        let entries = entries.filter_map(|entry| {
            let path = Path::new(OsStr::from_bytes(entry[0]));
            let file = std::str::from_utf8(entry[1]).ok()?.to_owned();
            let config = std::str::from_utf8(entry[2]).ok()?.to_owned();
            let config = Some(config).filter(|config| !config.is_empty());
            Some((path.to_path_buf(), Identity { file, config }))
        });
        Repositories(entries.collect())
    }
}

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

/// Where git finds a repository: the directory of its files, or itself.
fn tree_of(repository: &Path) -> &Path {
    match repository.file_name().is_some_and(|name| name == ".git") {
        true => repository.parent().unwrap_or(repository),
        false => repository,
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

/// What keeps git from believing some repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distrust {
    /// Where they are.
    pub held_back: Vec<PathBuf>,
    /// The variables that a command needs for it.
    pub env: Vec<(String, String)>,
}

impl Distrust {
    /// What is to be known of it, and how it is taken back.
    pub fn remark(&self) -> String {
        let first = self.held_back.first();
        let first = first.map_or(String::new(), |path| path.display().to_string());
        let more = match self.held_back.len() {
            0 | 1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        format!(
            "git does not believe {first}{more}: a command with fewer rights may have made it. \
             Whoever has read its configuration says `git -c safe.directory={first} …`"
        )
    }

    /// The sentence about a command whose git refused a repository because of
    /// this.
    pub fn denial(&self, stderr_tail: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(stderr_tail);
        text.contains("detected dubious ownership")
            .then(|| self.remark())
    }
}

/// What keeps git from believing what is `found` and neither `believed` nor
/// harmless; nothing where there is no such thing. A repository that lists one
/// of those as a part of itself leads git there, and is not believed either.
pub fn distrust(believed: &Repositories, found: &Repositories, makers: Makers) -> Option<Distrust> {
    let mut held: BTreeSet<PathBuf> = found.without(believed).cloned().collect();
    if makers == Makers::Gone {
        held.retain(|path| !is_inert(path));
    }
    if held.is_empty() {
        return None;
    }
    let first: Vec<PathBuf> = held.iter().cloned().collect();
    let mut rest: Vec<(&PathBuf, Option<Vec<PathBuf>>)> = found
        .0
        .keys()
        .filter(|path| !held.contains(*path))
        .map(|path| (path, linked(path)))
        .collect();
    loop {
        let before = rest.len();
        rest.retain(|(path, links)| {
            let leads = links.as_ref();
            let leads = leads.is_none_or(|links| links.iter().any(|link| held.contains(link)));
            if leads {
                held.insert((*path).clone());
            }
            !leads
        });
        if rest.len() == before {
            break;
        }
    }
    let safe = rest.iter().filter_map(|(path, _)| tree_of(path).to_str());
    Some(Distrust {
        held_back: first.iter().map(|path| tree_of(path).into()).collect(),
        env: strict(safe),
    })
}

/// The variables with which git believes these directories and no other: the
/// second is what `git -c` would have set.
fn strict<'a>(safe: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    let entries = safe.take(SAFE_MAX).map(|directory| {
        let quoted = directory.replace('\'', "'\\''").replace('!', "'\\!'");
        format!("'safe.directory={quoted}'")
    });
    let entries: Vec<String> = entries.collect();
    vec![
        (STRICT.to_owned(), "1".to_owned()),
        ("GIT_CONFIG_PARAMETERS".to_owned(), entries.join(" ")),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Makers, Repositories, distrust};
    use std::path::Path;

    fn repository(at: &Path, config: &str) {
        let dot_git = at.join(".git");
        std::fs::create_dir_all(dot_git.join("hooks")).unwrap();
        std::fs::write(dot_git.join("hooks/pre-commit.sample"), "x").unwrap();
        std::fs::write(dot_git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(dot_git.join("config"), config).unwrap();
    }

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\
        \tbare = false\n\tlogallrefupdates = true\n[user]\n\tname = Ann O'Nym\n\temail = a@b.c\n";
    const EVIL: &str = "[core]\n\tfsmonitor = /tmp/e\n";

    #[test]
    fn only_what_was_made_and_executes_is_held_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        repository(root, EVIL);
        let believed = Repositories::protected(&[root.join(".git")]);
        let found = Repositories::below(root);
        assert_eq!(distrust(&believed, &found, Makers::Alive), None);
        repository(&root.join("plain"), PLAIN);
        let found = Repositories::below(root);
        assert_eq!(distrust(&believed, &found, Makers::Gone), None);
        assert!(distrust(&believed, &found, Makers::Alive).is_some());
        repository(&root.join("evil"), EVIL);
        let found = Repositories::below(root);
        let held = distrust(&believed, &found, Makers::Gone).unwrap();
        assert_eq!(held.held_back, [root.join("evil")]);
        let told = |path: &Path| {
            let path = path.to_str().unwrap();
            let told = format!("'safe.directory={path}'");
            held.env.iter().any(|(_, value)| value.contains(&told))
        };
        assert!(told(root) && told(&root.join("plain")) && !told(&root.join("evil")));
    }

    #[test]
    fn another_in_the_same_place_is_another() {
        let dir = tempfile::tempdir().unwrap();
        repository(dir.path(), EVIL);
        let believed = Repositories::protected(&[dir.path().join(".git")]);
        std::fs::rename(dir.path().join(".git"), dir.path().join("old")).unwrap();
        repository(dir.path(), EVIL);
        let found = Repositories::below(dir.path());
        assert!(distrust(&believed, &found, Makers::Gone).is_some());
    }

    #[test]
    fn what_somebody_with_more_rights_made_is_learnt_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let remote = format!("{PLAIN}[remote \"origin\"]\n\turl = https://host/x\n");
        for (name, config) in [("mine", remote.as_str()), ("evil", EVIL), ("held", PLAIN)] {
            repository(&dir.path().join(name), config);
        }
        let mut believed = Repositories::default();
        let found = Repositories::below(dir.path());
        believed.learn(&found, &[dir.path().join("held")]);
        let held_back = |believed: &Repositories| {
            let found = Repositories::below(dir.path());
            let distrust = distrust(believed, &found, Makers::Alive).unwrap();
            distrust.held_back
        };
        let at = |name: &str| dir.path().join(name);
        assert_eq!(held_back(&believed), [at("evil"), at("held")]);
        std::fs::write(at("mine/.git/config"), EVIL).unwrap();
        assert_eq!(held_back(&believed), [at("evil"), at("held"), at("mine")]);
    }

    #[test]
    fn what_executes_is_not_inert() {
        let hook = |at: &Path| std::fs::write(at.join(".git/hooks/pre-commit"), "x").unwrap();
        let common = |at: &Path| std::fs::write(at.join(".git/commondir"), "x").unwrap();
        let modules = |at: &Path| std::fs::create_dir(at.join(".git/modules")).unwrap();
        let changes: [&dyn Fn(&Path); 3] = [&hook, &common, &modules];
        let nothing = Repositories::default();
        let is_held =
            |at: &Path| distrust(&nothing, &Repositories::below(at), Makers::Gone).is_some();
        for change in changes {
            let dir = tempfile::tempdir().unwrap();
            repository(dir.path(), PLAIN);
            assert!(!is_held(dir.path()));
            change(dir.path());
            assert!(is_held(dir.path()));
        }
        for config in [
            "[core]\nworktree = /home",
            "[core]\nbare = true",
            "[core]\n\tfilemode = true\\\n",
            "[alias]\n\tst = !evil",
            "[include]\n\tpath = x",
            "[user]\n\tname = \"a\nb\"",
            "[core] fsmonitor = x",
            "[core \"x\"]\n\tbare = false",
            "[remote \"origin\"]\n\turl = /tmp/x",
            "bare = false",
        ] {
            let dir = tempfile::tempdir().unwrap();
            repository(dir.path(), config);
            assert!(is_held(dir.path()), "{config}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_down_is_read_again(names in proptest::collection::vec("[a-z \n]{1,8}", 0..5)) {
            let dir = tempfile::tempdir().unwrap();
            for name in &names {
                repository(&dir.path().join(name), PLAIN);
            }
            let known = Repositories::below(dir.path());
            assert_eq!(Repositories::decode(&known.encode()), known);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            Repositories::decode(&bytes);
        }
    }
}
