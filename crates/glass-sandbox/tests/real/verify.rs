//! Masks that the host undoes, and things that are new.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use glass_model::{SandboxPolicy, View};
use glass_sandbox::{Verification, verify};

use crate::fixture::{Fixture, path_of, readwrite};

/// Longer than the kernel's clock tick, so that what was just made is not
/// looked at again because it might have changed within the same tick.
const SETTLE: Duration = Duration::from_millis(60);

fn ignoring(pattern: &str) -> SandboxPolicy {
    SandboxPolicy {
        ignore_mapping_json: Some(format!(r#"{{".": ["{pattern}"]}}"#)),
        ..readwrite()
    }
}

fn check_covers(found: &Verification, path: &std::path::Path, view: View) {
    assert_eq!(found.rebuild, None);
    let mount = found.cover.iter().find(|mount| path_of(mount) == path);
    let mount = mount.unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(mount.view, view);
    let inode = fs::symlink_metadata(path).unwrap().ino();
    assert_eq!(mount.expected.unwrap().inode, inode);
}

#[test]
fn nothing_changed_is_nothing_to_do() {
    let f = Fixture::new();
    f.repository("ws");
    f.write("ws/.env", "x");
    sleep(SETTLE);
    let mut plan = f.plan(&ignoring(".env"));
    sleep(SETTLE);
    for _ in 0..3 {
        assert_eq!(verify(&mut plan), Verification::default());
    }
    f.write("ws/.git/index", "written by a commit");
    fs::write(f.path("ws/tracked.txt"), "changed").unwrap();
    assert_eq!(verify(&mut plan), Verification::default());
}

#[test]
fn a_configuration_that_git_saved_is_covered_again() {
    let f = Fixture::new();
    f.repository("ws");
    let mut plan = f.plan(&readwrite());
    f.git("ws", &["config", "user.name", "somebody"]);
    check_covers(
        &verify(&mut plan),
        &f.path("ws/.git/config"),
        View::ReadOnly,
    );
    assert_eq!(verify(&mut plan), Verification::default());
}

#[test]
fn a_configuration_that_names_other_hooks_needs_a_new_plan() {
    let f = Fixture::new();
    f.repository("ws");
    let mut plan = f.plan(&readwrite());
    f.git("ws", &["config", "core.hooksPath", "tools"]);
    assert!(verify(&mut plan).rebuild.is_some());
}

#[test]
fn a_configuration_that_is_edited_in_place_is_read_again() {
    let f = Fixture::new();
    f.repository("ws");
    let mut plan = f.plan(&readwrite());
    assert_eq!(verify(&mut plan), Verification::default());
    let config = f.path("ws/.git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}# nothing new\n")).unwrap();
    assert_eq!(verify(&mut plan), Verification::default());
    fs::write(&config, format!("{text}[core]\nhooksPath = tools\n")).unwrap();
    assert!(verify(&mut plan).rebuild.is_some());
}

#[test]
fn a_mask_is_missed_wherever_on_its_way_something_moved() {
    for moved in ["ws/.git", "ws", ""] {
        let f = Fixture::new();
        f.repository("ws");
        let mut plan = f.plan(&readwrite());
        assert_eq!(verify(&mut plan), Verification::default());
        let from = f.path(moved);
        let aside = from.with_file_name("aside");
        fs::rename(&from, &aside).unwrap();
        assert!(verify(&mut plan).rebuild.is_some(), "{moved}");
        fs::rename(&aside, &from).unwrap();
    }
}

#[test]
fn an_atomic_save_of_an_ignored_file_is_covered_again() {
    let f = Fixture::new();
    let secret = f.write("ws/a/.env", "x");
    let mut plan = f.plan(&ignoring(".env"));
    let new = f.write("ws/a/.env.tmp", "y");
    fs::rename(new, &secret).unwrap();
    let found = verify(&mut plan);
    check_covers(&found, &secret, View::Hidden);
    assert_eq!(found.cover.len(), 1, "{found:?}");
    assert_eq!(verify(&mut plan), Verification::default());
}

#[test]
fn an_ignored_file_that_is_made_later_is_hidden() {
    let f = Fixture::new();
    f.write("ws/a/.env", "x");
    let mut plan = f.plan(&ignoring(".env"));
    let later = f.write("ws/.env", "y");
    check_covers(&verify(&mut plan), &later, View::Hidden);
    let beside = f.path("ws/a/linked.txt");
    fs::hard_link(f.path("ws/a/.env"), &beside).unwrap();
    // In a directory that is not pinned only a new plan can hide safely.
    f.write("ws/new/.env", "z");
    assert!(verify(&mut plan).rebuild.is_some());
}

#[test]
fn an_ignored_file_that_is_gone_is_no_trouble() {
    let f = Fixture::new();
    let secret = f.write("ws/.env", "x");
    let mut plan = f.plan(&ignoring(".env"));
    fs::remove_file(&secret).unwrap();
    assert_eq!(verify(&mut plan), Verification::default());
    f.write("ws/.env", "again");
    check_covers(&verify(&mut plan), &secret, View::Hidden);
}

#[test]
fn a_directory_that_was_swapped_is_looked_at_again() {
    let f = Fixture::new();
    f.write("ws/a/b/x", "x");
    let mut plan = f.plan(&ignoring(".env"));
    fs::rename(f.path("ws/a"), f.path("ws/old")).unwrap();
    let new = f.write("ws/a/b/.env", "y");
    let found = verify(&mut plan);
    assert!(
        found
            .rebuild
            .is_some_and(|why| why.contains(new.to_str().unwrap()))
    );
    let mut plan = f.plan(&ignoring(".env"));
    let moved = f.write("ws/old/b/.env", "z");
    let found = verify(&mut plan);
    assert!(
        found
            .rebuild
            .is_some_and(|why| why.contains(moved.to_str().unwrap()))
    );
}

#[test]
fn a_flood_of_changes_hides_nothing() {
    let f = Fixture::new();
    f.write("ws/x", "x");
    let mut plan = f.plan(&ignoring(".env"));
    // More than the kernel's queue of events holds.
    for at in 0..20_000 {
        fs::write(f.path(&format!("ws/f{}", at % 2)), "").unwrap();
        fs::remove_file(f.path(&format!("ws/f{}", at % 2))).unwrap();
    }
    let secret = f.write("ws/.env", "x");
    check_covers(&verify(&mut plan), &secret, View::Hidden);
}

#[test]
fn a_changed_ignore_list_needs_a_new_plan() {
    let f = Fixture::new();
    f.write("ws/.shellglassignore", "a\n");
    let mut plan = f.plan(&readwrite());
    assert_eq!(verify(&mut plan).rebuild, None);
    f.write("ws/.shellglassignore", "a\nb\n");
    assert!(verify(&mut plan).rebuild.is_some());
}

#[test]
fn a_reserved_name_that_was_freed_needs_a_new_plan() {
    let f = Fixture::new();
    let mut plan = f.plan(&readwrite());
    fs::remove_dir(f.path("ws/.shellglassignore")).unwrap();
    assert!(verify(&mut plan).rebuild.is_some());
}

#[test]
fn a_replaced_workspace_needs_a_new_plan() {
    let f = Fixture::new();
    let mut plan = f.plan(&readwrite());
    fs::rename(f.path("ws"), f.path("ws-old")).unwrap();
    fs::create_dir(f.path("ws")).unwrap();
    assert!(verify(&mut plan).rebuild.is_some());
}

#[test]
fn a_secret_that_is_made_later_is_hidden() {
    let f = Fixture::new();
    let mut plan = f.plan(&readwrite());
    f.write("home/.aws/credentials", "x");
    sleep(Duration::from_millis(1_100));
    check_covers(&verify(&mut plan), &f.path("home/.aws"), View::Hidden);
}

#[test]
fn looking_again_takes_microseconds() {
    let f = Fixture::new();
    f.repository("ws");
    let mut plan = f.plan(&readwrite());
    verify(&mut plan);
    let best = (0..200)
        .map(|_| {
            let begin = Instant::now();
            verify(&mut plan);
            begin.elapsed()
        })
        .min()
        .unwrap();
    // A bound against mistakes of another order, not a measurement.
    assert!(best < Duration::from_millis(2), "{best:?}");
}

#[test]
fn a_socket_that_comes_back_is_hidden_again() {
    use std::os::unix::net::UnixListener;
    let f = Fixture::with_sockets();
    let path = f.path("out/server.sock");
    let first = UnixListener::bind(&path).unwrap();
    let mut plan = f.plan(&readwrite());
    drop(first);
    fs::remove_file(&path).unwrap();
    assert_eq!(verify(&mut plan).rebuild, None);
    let _second = UnixListener::bind(&path).unwrap();
    // New sockets are looked for once a second.
    sleep(Duration::from_millis(1_100));
    check_covers(&verify(&mut plan), &path, View::Hidden);
}

#[test]
fn without_namespaces_nothing_that_is_saved_or_bound_costs_the_shell() {
    use std::os::unix::net::UnixListener;
    let mut f = Fixture::with_sockets();
    f.facts.build = Some(glass_model::WallBuild::LandlockOnly);
    f.write("ws/saved", "x");
    let mut plan = f.plan(&crate::fixture::readonly());
    let _listener = UnixListener::bind(f.path("out/server.sock")).unwrap();
    f.write("ws/new", "y");
    fs::rename(f.path("ws/new"), f.path("ws/saved")).unwrap();
    sleep(Duration::from_millis(1_100));
    assert_eq!(verify(&mut plan), Verification::default());
}
