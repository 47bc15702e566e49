//! What git executes and believes.

use std::fs;

use glass_model::View;
use glass_sandbox::GitLevel;

use crate::fixture::{Fixture, block_git, check, check_pinned, is_mount, readonly, readwrite};

#[test]
fn commits_are_possible_and_hooks_are_not() {
    let f = Fixture::new();
    f.repository("ws");
    let plan = f.plan(&readwrite());
    let ws = f.path("ws");
    for name in [
        "tracked.txt",
        ".git/index.lock",
        ".git/objects/aa",
        ".git/refs/heads/x",
    ] {
        check(&plan, &ws.join(name), View::Writable);
    }
    for name in [
        ".git/config",
        ".git/hooks",
        ".git/hooks/pre-commit",
        ".git/commondir",
    ] {
        check(&plan, &ws.join(name), View::ReadOnly);
    }
    check_pinned(&plan, &ws.join(".git/config"), &ws);
    check_pinned(&plan, &ws.join(".git/hooks"), &ws);
}

#[test]
fn what_is_missing_is_held_by_a_placeholder_that_git_does_not_mind() {
    let f = Fixture::new();
    f.repository("ws");
    fs::remove_dir_all(f.path("ws/.git/hooks")).unwrap();
    let before = fs::read_dir(f.path("ws")).unwrap().count();
    let plan = f.plan(&readwrite());
    check(&plan, &f.path("ws/.git/hooks"), View::ReadOnly);
    let status = std::process::Command::new("git")
        .args([
            "-C",
            f.path("ws").to_str().unwrap(),
            "status",
            "--porcelain",
        ])
        .output()
        .unwrap();
    assert!(status.status.success(), "{status:?}");
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
    f.write("ws/new.txt", "x");
    f.git("ws", &["add", "-A"]);
    f.git("ws", &["commit", "-qm", "two"]);
    f.git("ws", &["worktree", "add", "-q", "../wt"]);
    f.git("ws", &["worktree", "remove", "../wt"]);
    for placeholder in &plan.placeholders {
        placeholder.remove();
    }
    fs::remove_file(f.path("ws/new.txt")).unwrap();
    assert_eq!(fs::read_dir(f.path("ws")).unwrap().count(), before);
    assert!(!f.path("ws/.git/hooks").exists());
    assert!(!f.path("ws/.git/commondir").exists());
}

#[test]
fn blocked_writes_leave_nothing_of_git_writable() {
    let f = Fixture::new();
    f.repository("ws");
    let plan = f.plan(&block_git());
    for name in [
        ".git",
        ".git/index",
        ".git/modules/sub/hooks",
        ".git/hooks",
        ".git/config",
    ] {
        check(&plan, &f.path("ws").join(name), View::ReadOnly);
    }
    check(&plan, &f.path("ws/tracked.txt"), View::Writable);
}

#[test]
fn a_repository_cannot_be_planted_where_git_may_not_be_written() {
    let f = Fixture::new();
    let plan = f.plan(&block_git());
    check(&plan, &f.path("ws/.git/config"), View::ReadOnly);
    plan.placeholders.iter().for_each(|p| p.remove());
    assert!(!f.path("ws/.git").exists());
    let plan = f.plan(&readwrite());
    check(&plan, &f.path("ws/.git/config"), View::Writable);
}

#[test]
fn a_work_tree_of_a_repository_outside_can_commit_and_nothing_more() {
    let f = Fixture::new();
    f.repository("out/main");
    fs::remove_dir(f.path("ws")).unwrap();
    f.git(
        "out/main",
        &["worktree", "add", "-q", f.path("ws").to_str().unwrap()],
    );
    let main = f.path("out/main/.git");
    let own = main.join("worktrees/ws");

    let plan = f.plan(&readwrite());
    for path in [
        own.join("index"),
        main.join("objects/aa"),
        main.join("refs/heads/x"),
    ] {
        check(&plan, &path, View::Writable);
    }
    check(&plan, &f.path("ws/.git"), View::ReadOnly);
    check(&plan, &own.join("commondir"), View::ReadOnly);
    for path in [main.join("config"), main.join("hooks"), main.join("HEAD")] {
        assert_ne!(
            crate::fixture::view(&plan, &path),
            Some(&View::Writable),
            "{path:?}"
        );
    }

    let plan = f.plan(&block_git());
    for path in [
        own.join("index"),
        main.join("objects/aa"),
        main.join("refs/heads/x"),
    ] {
        assert_ne!(
            crate::fixture::view(&plan, &path),
            Some(&View::Writable),
            "{path:?}"
        );
    }
    let plan = f.plan(&readonly());
    assert_ne!(
        crate::fixture::view(&plan, &own.join("index")),
        Some(&View::Writable)
    );
}

#[test]
fn a_pointer_that_nobody_points_back_to_opens_nothing() {
    let f = Fixture::new();
    f.repository("out/victim");
    let victim = f.path("out/victim/.git");
    f.write("ws/.git", &format!("gitdir: {}\n", victim.display()));
    let plan = f.plan(&readwrite());
    let path = victim.join("objects/aa");
    assert_ne!(crate::fixture::view(&plan, &path), Some(&View::Writable));
    check(&plan, &f.path("ws/.git"), View::ReadOnly);
    assert!(
        plan.notes
            .iter()
            .any(|note| note.contains("does not point back"))
    );
}

#[test]
fn a_nested_work_tree_and_its_pointer_are_protected() {
    let f = Fixture::new();
    f.repository("ws");
    f.repository("out/main");
    f.git(
        "out/main",
        &[
            "worktree",
            "add",
            "-q",
            f.path("ws/deep/wt").to_str().unwrap(),
        ],
    );
    for policy in [readwrite(), block_git()] {
        let plan = f.plan(&policy);
        check(&plan, &f.path("ws/deep/wt/.git"), View::ReadOnly);
        check_pinned(&plan, &f.path("ws/deep/wt/.git"), &f.path("ws"));
        let hooks = f.path("out/main/.git/hooks");
        assert_ne!(crate::fixture::view(&plan, &hooks), Some(&View::Writable));
    }
}

#[test]
fn submodules_are_protected_where_their_state_is() {
    let f = Fixture::new();
    f.repository("out/library");
    f.repository("ws");
    let library = f.path("out/library");
    let arguments = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    f.git(
        "ws",
        &[&arguments[..], &[library.to_str().unwrap(), "lib/x"]].concat(),
    );
    let plan = f.plan(&readwrite());
    let module = f.path("ws/.git/modules/lib/x");
    assert!(module.join("config").exists());
    for path in [
        module.join("config"),
        module.join("hooks"),
        f.path("ws/lib/x/.git"),
    ] {
        check(&plan, &path, View::ReadOnly);
        check_pinned(&plan, &path, &f.path("ws"));
    }
    check(&plan, &module.join("index.lock"), View::Writable);
    check(&plan, &f.path("ws/lib/x/tracked.txt"), View::Writable);
    let plan = f.plan(&block_git());
    check(&plan, &module.join("index"), View::ReadOnly);
    check(&plan, &f.path("ws/lib/x/.git"), View::ReadOnly);
}

#[test]
fn a_hooks_path_and_included_files_are_protected() {
    let f = Fixture::new();
    f.repository("ws");
    fs::create_dir_all(f.path("ws/tools/hooks")).unwrap();
    f.git("ws", &["config", "core.hooksPath", "tools/hooks"]);
    f.git("ws", &["config", "include.path", "../shared.inc"]);
    f.git(
        "ws",
        &[
            "config",
            "includeIf.onbranch:x.path",
            "../not/there/yet.inc",
        ],
    );
    f.write("ws/shared.inc", "[include]\npath = more.inc\n");
    f.write("ws/more.inc", "");
    for policy in [readwrite(), block_git()] {
        let plan = f.plan(&policy);
        for name in [
            "tools/hooks",
            "tools/hooks/x",
            "shared.inc",
            "more.inc",
            "not/there/yet.inc",
        ] {
            check(&plan, &f.path("ws").join(name), View::ReadOnly);
        }
        check_pinned(&plan, &f.path("ws/tools/hooks"), &f.path("ws"));
        check(&plan, &f.path("ws/tools/x"), View::Writable);
    }
}

#[test]
fn object_stores_that_are_borrowed_from_are_protected() {
    let f = Fixture::new();
    f.repository("ws/a");
    f.git("ws", &["clone", "-q", "--shared", "a", "b"]);
    assert!(f.path("ws/b/.git/objects/info/alternates").exists());
    let plan = f.plan(&block_git());
    check(&plan, &f.path("ws/a/.git/objects/xx"), View::ReadOnly);
}

#[test]
fn hooks_that_are_a_link_make_the_whole_directory_read_only() {
    let f = Fixture::new();
    f.repository("ws");
    fs::remove_dir_all(f.path("ws/.git/hooks")).unwrap();
    fs::create_dir(f.path("ws/evil")).unwrap();
    std::os::unix::fs::symlink(f.path("ws/evil"), f.path("ws/.git/hooks")).unwrap();
    let plan = f.plan(&readwrite());
    check(&plan, &f.path("ws/.git/index"), View::ReadOnly);
    assert!(plan.notes.iter().any(|note| note.contains("read-only")));
}

#[test]
fn a_git_directory_that_is_a_link_is_refused() {
    let f = Fixture::new();
    f.repository("out/r");
    std::os::unix::fs::symlink(f.path("out/r/.git"), f.path("ws/.git")).unwrap();
    assert!(f.try_plan(&readwrite()).is_err());
    assert!(f.try_plan(&readonly()).is_ok());
}

#[test]
fn a_bare_repository_in_the_workspace_is_protected() {
    let f = Fixture::new();
    f.git("ws", &["init", "-q", "--bare", "x.git"]);
    let plan = f.plan(&readwrite());
    check(&plan, &f.path("ws/x.git/config"), View::ReadOnly);
    check(&plan, &f.path("ws/x.git/hooks/update"), View::ReadOnly);
    check(&plan, &f.path("ws/x.git/objects/x"), View::Writable);
}

#[test]
fn the_level_none_protects_nothing_of_git() {
    let mut f = Fixture::new();
    f.settings.git = GitLevel::None;
    f.repository("ws");
    let plan = f.plan(&readwrite());
    check(&plan, &f.path("ws/.git/hooks"), View::Writable);
    assert!(!is_mount(&plan, &f.path("ws/.git")));
}

#[test]
fn a_repository_that_a_command_took_apart_is_still_protected() {
    let f = Fixture::new();
    f.repository("ws");
    f.git("ws", &["init", "-q", "--bare", "bare.git"]);
    // All of this a command may do, and undo when nobody looks.
    for git_dir in ["ws/.git", "ws/bare.git"] {
        for name in ["HEAD", "objects", "refs"] {
            let path = f.path(git_dir).join(name);
            fs::rename(&path, path.with_extension("away")).unwrap();
        }
    }
    let plan = f.plan(&readwrite());
    for git_dir in ["ws/.git", "ws/bare.git"] {
        check(&plan, &f.path(git_dir).join("hooks/x"), View::ReadOnly);
        check(&plan, &f.path(git_dir).join("config"), View::ReadOnly);
    }
}

#[test]
fn a_known_repository_is_protected_although_nobody_would_find_it() {
    let mut f = Fixture::new();
    // Deeper than is ever looked.
    let deep = format!("ws{}", "/d".repeat(40));
    f.repository(&format!("{deep}/nested"));
    f.git(&deep, &["init", "-q", "--bare", "bare.git"]);
    let (nested, bare) = (
        f.path(&deep).join("nested/.git"),
        f.path(&deep).join("bare.git"),
    );
    let plan = f.plan(&readwrite());
    check(&plan, &nested.join("config"), View::Writable);
    assert!(!plan.repositories.contains(&nested));
    f.facts.repositories = vec![nested.clone(), bare.clone(), f.path("ws/gone/.git")];
    let plan = f.plan(&readwrite());
    check(&plan, &nested.join("config"), View::ReadOnly);
    check(&plan, &bare.join("hooks/x"), View::ReadOnly);
    assert_eq!(plan.repositories, [nested, bare]);
}
