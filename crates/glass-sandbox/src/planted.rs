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
    let mut rest: Vec<(&PathBuf, Option<Vec<PathBuf>>)> = found
        .all
        .keys()
        .filter(|path| !held.contains(*path))
        .map(|path| (path, parts(path)))
        .collect();
    // One that is listed and was not found is unknown too.
    let is_unknown =
        |link: &PathBuf| !found.all.contains_key(link) && link.symlink_metadata().is_ok();
    loop {
        let before = rest.len();
        rest.retain(|(path, links)| {
            let leads_there = |link: &PathBuf| held.contains(link) || is_unknown(link);
            let leads = links.as_ref();
            let leads = leads.is_none_or(|links| links.iter().any(leads_there));
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
mod tests {
    use super::{Distrust, Look, Makers, Repositories, distrust};
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

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

    /// What is known of a place where this is protected.
    fn noted(root: &Path, protected: &[&str]) -> Repositories {
        let mut known = Repositories::default();
        let protected: Vec<PathBuf> = protected.iter().map(|name| root.join(name)).collect();
        known.note(&[root.to_path_buf()], &protected);
        known
    }

    fn is_told(distrust: &Distrust, path: &Path) -> bool {
        let told = format!("'safe.directory={}'", path.display());
        distrust.env.iter().any(|(_, value)| value.contains(&told))
    }

    #[test]
    fn only_what_was_made_and_executes_is_held_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        repository(root, EVIL);
        let believed = noted(root, &[".git"]);
        assert_eq!(distrust(&believed, &believed.look(), Makers::Gone), None);
        repository(&root.join("plain"), PLAIN);
        let look = believed.look();
        assert_eq!(distrust(&believed, &look, Makers::Gone), None);
        let held = distrust(&believed, &look, Makers::Alive).unwrap();
        assert_eq!(held.held_back, [root.join("plain")]);
        repository(&root.join("evil"), EVIL);
        let held = distrust(&believed, &believed.look(), Makers::Gone).unwrap();
        assert_eq!(held.held_back, [root.join("evil")]);
        assert!(is_told(&held, root) && is_told(&held, &root.join("plain")));
        assert!(!is_told(&held, &root.join("evil")));
    }

    #[test]
    fn what_still_runs_may_make_some_later() {
        let dir = tempfile::tempdir().unwrap();
        repository(dir.path(), EVIL);
        let believed = noted(dir.path(), &[".git"]);
        let held = distrust(&believed, &believed.look(), Makers::Alive).unwrap();
        assert_eq!(held.held_back, Vec::<PathBuf>::new());
        assert!(is_told(&held, dir.path()));
        // What nobody protects can be changed, too.
        let believed = noted(dir.path(), &[]);
        let held = distrust(&believed, &believed.look(), Makers::Alive).unwrap();
        assert!(!is_told(&held, dir.path()));
    }

    #[test]
    fn what_was_not_looked_at_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        repository(dir.path(), PLAIN);
        let believed = noted(dir.path(), &[".git"]);
        let look = Look {
            unseen: Some(dir.path().join("deep")),
            ..believed.look()
        };
        let held = distrust(&believed, &look, Makers::Gone).unwrap();
        assert!(held.held_back.is_empty() && is_told(&held, dir.path()));
        assert!(held.remark().contains("deep was not"), "{held:?}");
    }

    #[test]
    fn what_was_written_to_before_is_not_noted() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        std::fs::create_dir(&first).unwrap();
        let mut believed = noted(&first, &[]);
        repository(&first.join("planted"), EVIL);
        repository(&second, EVIL);
        // A place around it is written to by the next.
        let protected = [second.join(".git"), first.join("planted/.git")];
        assert!(believed.note(&[dir.path().to_path_buf()], &protected));
        let mut read = Repositories::decode(&believed.encode());
        assert!(!read.note(std::slice::from_ref(&first), &protected));
        let held = distrust(&read, &read.look(), Makers::Gone).unwrap();
        assert_eq!(held.held_back, [first.join("planted")]);
        assert!(is_told(&held, &second));
    }

    #[test]
    fn steps_that_execute_are_nobodys_own() {
        let dir = tempfile::tempdir().unwrap();
        repository(dir.path(), EVIL);
        let believed = noted(dir.path(), &[".git"]);
        std::fs::create_dir(dir.path().join(".git/rebase-merge")).unwrap();
        let todo = dir.path().join(".git/rebase-merge/git-rebase-todo");
        // One that is too long to be looked at may hold anything.
        let long = |bytes: usize| "#".repeat(bytes);
        for (steps, is_held) in [
            ("pick 1 exec\n# x y\n".to_owned(), false),
            ("pick 1 a\nx evil".to_owned(), true),
            (long(1 << 20), false),
            (long((1 << 20) + 1), true),
        ] {
            std::fs::write(&todo, &steps).unwrap();
            let held = distrust(&believed, &believed.look(), Makers::Gone);
            assert_eq!(held.is_some(), is_held, "{} bytes", steps.len());
        }
    }

    #[test]
    fn another_in_the_same_place_is_another() {
        let dir = tempfile::tempdir().unwrap();
        repository(dir.path(), EVIL);
        let believed = noted(dir.path(), &[".git"]);
        std::fs::rename(dir.path().join(".git"), dir.path().join("old")).unwrap();
        repository(dir.path(), EVIL);
        assert!(distrust(&believed, &believed.look(), Makers::Gone).is_some());
    }

    #[test]
    fn what_somebody_with_more_rights_made_is_learnt_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let mut believed = noted(dir.path(), &[]);
        let remote = format!("{PLAIN}[remote \"origin\"]\n\turl = https://host/x\n");
        for (name, config) in [
            ("mine", remote.as_str()),
            ("evil", EVIL),
            ("held", remote.as_str()),
        ] {
            repository(&dir.path().join(name), config);
        }
        let at = |name: &str| dir.path().join(name);
        let later = SystemTime::now() + Duration::from_secs(60);
        believed.learn(&believed.look(), &[], Some(later));
        let held_back = |believed: &Repositories| {
            let distrust = distrust(believed, &believed.look(), Makers::Gone).unwrap();
            distrust.held_back
        };
        assert_eq!(held_back(&believed), [at("evil"), at("held"), at("mine")]);
        believed.learn(&believed.look(), &[at("held")], None);
        assert_eq!(held_back(&believed), [at("evil"), at("held")]);
        std::fs::write(at("mine/.git/config"), EVIL).unwrap();
        assert_eq!(held_back(&believed), [at("evil"), at("held"), at("mine")]);
    }

    #[test]
    fn what_executes_is_not_inert() {
        let hook = |at: &Path| std::fs::write(at.join(".git/hooks/pre-commit"), "x").unwrap();
        let common = |at: &Path| std::fs::write(at.join(".git/commondir"), "x").unwrap();
        let modules = |at: &Path| std::fs::create_dir(at.join(".git/modules")).unwrap();
        let address = |at: &Path| {
            std::fs::create_dir(at.join(".git/branches")).unwrap();
            std::fs::write(at.join(".git/branches/origin"), "/tmp/x").unwrap();
        };
        let steps = |at: &Path| {
            std::fs::create_dir(at.join(".git/rebase-merge")).unwrap();
            let steps = "pick 0 x\n\texec touch /tmp/x\n";
            std::fs::write(at.join(".git/rebase-merge/git-rebase-todo"), steps).unwrap();
        };
        let changes: [&dyn Fn(&Path); 5] = [&hook, &common, &modules, &address, &steps];
        let is_held = |at: &Path| {
            let look = Repositories::below(std::iter::once(at));
            distrust(&Repositories::default(), &look, Makers::Gone).is_some()
        };
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
            let known = noted(dir.path(), &[]);
            assert_eq!(Repositories::decode(&known.encode()), known);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            Repositories::decode(&bytes);
        }
    }
}
