//! What is believed and what is not, over real directories.

use super::known::{REPOSITORIES_MAX, ROOTS_MAX};
use super::{Distrust, Look, Makers, Repositories, distrust};
use super::{SAFE_BYTES_MAX, SAFE_MAX, strict};
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

/// So many harmless repositories in a directory.
fn many(at: &Path, count: usize) {
    for number in 0..count {
        repository(&at.join(format!("{number:03}")), PLAIN);
    }
}

#[test]
fn whoever_is_told_of_too_many_places_believes_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let mut known = Repositories::default();
    for number in 0..ROOTS_MAX {
        let place = dir.path().join(number.to_string());
        std::fs::create_dir(&place).unwrap();
        assert!(known.note(&[place], &[]), "{number}");
    }
    let planted = dir.path().join("planted");
    assert!(!known.has_noted(std::slice::from_ref(&planted)));
    assert!(known.note(&[dir.path().join("last")], &[]));
    repository(&planted, EVIL);
    assert!(!known.note(&[planted], &[dir.path().join("planted/.git")]));
    assert!(!Repositories::decode(&known.encode()).note(&["/home".into()], &[]));
}

#[test]
fn more_repositories_than_are_told_apart_were_not_all_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let places = ["a", "b", "c"].map(|name| dir.path().join(name));
    let each = REPOSITORIES_MAX / 3 + 1;
    for place in &places {
        many(place, each - 1);
    }
    let mut known = Repositories::default();
    known.note(&places, &[]);
    assert_eq!(known.look().unseen, None);
    for place in &places {
        repository(&place.join("one more"), PLAIN);
    }
    let look = known.look();
    assert!(look.unseen.is_some());
    // Those that were there before are looked at all the same.
    assert!(
        known
            .all
            .keys()
            .all(|path| look.found.all.contains_key(path))
    );
    // Nothing is learnt beyond the limit.
    known.learn(&look, &[], None);
    assert_eq!(known.all.len(), REPOSITORIES_MAX);
    assert_eq!(Repositories::decode(&known.encode()), known);
}

#[test]
fn git_is_told_of_no_more_than_it_can_be() {
    let dir = tempfile::tempdir().unwrap();
    let places = ["a", "b"].map(|name| dir.path().join(name));
    many(&places[1], SAFE_MAX / 2);
    let mut known = Repositories::default();
    known.note(&places, &[]);
    many(&places[0], SAFE_MAX / 2 + 1);
    repository(&places[0].join("evil"), EVIL);
    let held = distrust(&known, &known.look(), Makers::Gone).unwrap();
    let told = |at: &Path, count: usize| {
        let each = (0..count).map(|number| at.join(format!("{number:03}")));
        each.filter(|path| is_told(&held, path)).count()
    };
    // Those that were there before come first.
    assert_eq!(told(&places[1], SAFE_MAX / 2), SAFE_MAX / 2);
    assert_eq!(told(&places[0], SAFE_MAX / 2 + 1), SAFE_MAX / 2);
    let long = (0..100).map(|number| format!("/{number}{}", "d".repeat(SAFE_BYTES_MAX / 50)));
    let told: usize = strict(long).iter().map(|(_, value)| value.len()).sum();
    assert!(
        (SAFE_BYTES_MAX / 2..=SAFE_BYTES_MAX + 64).contains(&told),
        "{told}"
    );
}

#[test]
fn a_place_within_another_is_looked_at_once_unless_it_is_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (inner, link) = (dir.join("w/inner"), dir.join("w/link"));
    repository(&inner.join("x"), EVIL);
    repository(&dir.join("other/y"), EVIL);
    std::os::unix::fs::symlink(dir.join("other"), &link).unwrap();
    let mut known = Repositories::default();
    known.note(&[inner, link.clone(), dir.join("w")], &[]);
    let found: Vec<_> = known.look().found.all.into_keys().collect();
    assert_eq!(found, [dir.join("w/inner/x/.git"), link.join("y/.git")]);
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
