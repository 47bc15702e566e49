//! Private places, secrets, and what the user's programs believe.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;

use glass_model::{SandboxPolicy, View};
use glass_sandbox::Workspace;

use crate::fixture::{
    Fixture, check, check_pinned, is_mount, mounts, path_of, readonly, readwrite, view,
};

#[test]
fn the_workspace_is_writable_and_everything_else_is_not() {
    let f = Fixture::new();
    let plan = f.plan(&readwrite());
    check(&plan, &f.path("ws/a/b"), View::Writable);
    for path in [
        f.path("out"),
        f.path("ws-evil"),
        "/etc/passwd".into(),
        f.path("home/.bashrc"),
    ] {
        assert_ne!(view(&plan, &path), Some(&View::Writable), "{path:?}");
    }
    let plan = f.plan(&readonly());
    check(&plan, &f.path("ws/a/b"), View::ReadOnly);
}

#[test]
fn tmp_is_private_or_empty() {
    let f = Fixture::new();
    let private = View::Other {
        source: f.facts.private_tmp.to_str().unwrap().into(),
    };
    let plan = f.plan(&readwrite());
    check(&plan, Path::new("/tmp/another"), private.clone());
    check(&plan, Path::new("/var/tmp/another"), private);
    let policy = SandboxPolicy {
        disable_tmp_write: Some(true),
        ..readwrite()
    };
    let plan = f.plan(&policy);
    for place in ["/tmp/x", "/var/tmp/x", "/dev/shm/x", "/run/lock/x"] {
        check(&plan, Path::new(place), View::Empty);
    }
    assert_eq!(plan.env.apply(&[b"TMPDIR=/tmp".to_vec()]).len(), 1);
    let plan = f.plan(&SandboxPolicy {
        disable_tmp_write: Some(true),
        ..readonly()
    });
    assert!(plan.env.apply(&[b"TMPDIR=/tmp".to_vec()]).is_empty());
}

#[test]
fn a_workspace_in_tmp_is_shown_and_its_parents_cannot_be_renamed() {
    let mut f = Fixture::new();
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let ws = dir.path().join("deep/ws");
    fs::create_dir_all(&ws).unwrap();
    f.settings.hidden.clear();
    let workspace = Workspace::find(Some(&ws), &ws, &f.settings).unwrap();
    let role = glass_model::Role::Person;
    let rights = glass_sandbox::resolve(None, None, &f.settings, role, &workspace).unwrap();
    let mut plan = glass_sandbox::plan(&rights, &workspace, &f.facts, &f.settings).unwrap();
    check(&plan, &ws.join("x"), View::Writable);
    check(&plan, dir.path(), View::Empty);
    let stand = f.facts.private_tmp.join(dir.path().file_name().unwrap());
    assert!(stand.is_dir());
    let room = dir.path().join("room");
    fs::create_dir(&room).unwrap();
    plan.show_writable(&room, &f.facts).unwrap();
    check(&plan, &room.join("pipe"), View::Writable);
    for placeholder in &plan.placeholders {
        placeholder.remove();
    }
}

#[test]
fn mounts_come_after_those_above_them() {
    let f = Fixture::new();
    f.repository("ws");
    f.write("home/.ssh/id", "x");
    let plan = f.plan(&readwrite());
    let paths: Vec<&Path> = mounts(&plan).iter().map(path_of).collect();
    for (at, path) in paths.iter().enumerate() {
        let later = &paths[at + 1..];
        assert!(
            !later.iter().any(|other| path.starts_with(other)),
            "{path:?}"
        );
    }
}

#[test]
fn secrets_are_hidden_unless_somebody_asked() {
    let f = Fixture::new();
    let key = f.write("home/.ssh/id", "x");
    f.write("home/.aws/credentials", "x");
    f.write("home/.cargo/credentials.toml", "x");
    let plan = f.plan(&readwrite());
    check(&plan, &key, View::Hidden);
    check(&plan, &f.path("home/.aws/credentials"), View::Hidden);
    check(&plan, &f.path("home/.cargo/credentials.toml"), View::Hidden);
    let plan = f.plan(&SandboxPolicy {
        readonly_paths: vec![f.path("home/.aws").to_str().unwrap().into()],
        ..readwrite()
    });
    check(&plan, &f.path("home/.aws/credentials"), View::ReadOnly);
    check(&plan, &key, View::Hidden);
}

#[test]
fn a_listed_home_keeps_its_secrets_and_start_files() {
    let mut f = Fixture::new();
    f.settings.workspaces = vec!["~".to_owned()];
    f.write("home/.ssh/id", "x");
    f.write("home/.bashrc", "x");
    f.write("home/.config/fish/config.fish", "x");
    let workspace = f.workspace_at("home");
    assert_eq!(workspace.unwritable, None);
    let role = glass_model::Role::Agent;
    let rights = glass_sandbox::resolve(None, None, &f.settings, role, &workspace).unwrap();
    let plan = glass_sandbox::plan(&rights, &workspace, &f.facts, &f.settings).unwrap();
    check(&plan, &f.path("home/x"), View::Writable);
    check(&plan, &f.path("home/.ssh/id"), View::Hidden);
    check(&plan, &f.path("home/.bashrc"), View::ReadOnly);
    check(
        &plan,
        &f.path("home/.config/fish/config.fish"),
        View::ReadOnly,
    );
    check_pinned(&plan, &f.path("home/.config/fish"), &f.path("home"));
}

#[test]
fn what_shellglass_believes_can_be_neither_changed_nor_made() {
    let f = Fixture::new();
    f.repository("ws");
    f.write("ws/.shellglassignore", "x\n");
    f.write("ws/.vscode/tasks.json", "{}");
    let plan = f.plan(&readwrite());
    for name in [
        ".shellglass.toml",
        ".shellglassignore",
        ".vscode/tasks.json",
    ] {
        check(&plan, &f.path("ws").join(name), View::ReadOnly);
        check_pinned(&plan, &f.path("ws").join(name), &f.path("ws"));
    }
    check(&plan, &f.path("ws/.vscode/launch.json"), View::Writable);
    assert!(f.path("ws/.shellglass.toml").is_dir());
    for placeholder in &plan.placeholders {
        placeholder.remove();
    }
    assert!(!f.path("ws/.shellglass.toml").exists());
    assert!(f.path("ws/.shellglassignore").is_file());
}

#[test]
fn a_plan_that_is_refused_leaves_nothing_behind() {
    let f = Fixture::new();
    f.write("ws/.shellglassignore", "a{b\n");
    let before = fs::read_dir(f.path("ws")).unwrap().count();
    let refused = f.try_plan(&readwrite()).map(|plan| plan.notes);
    assert!(refused.is_err());
    assert_eq!(
        fs::read_dir(f.path("ws")).unwrap().count(),
        before,
        "{refused:?}"
    );
    let policy = SandboxPolicy {
        ignore_mapping_json: Some("{\"/\": 1}".to_owned()),
        ..readwrite()
    };
    assert!(f.try_plan(&policy).is_err());
}

#[test]
fn our_own_directories_are_hidden_whoever_asks() {
    let f = Fixture::new();
    f.write("own/token", "x");
    let policy = SandboxPolicy {
        readwrite_paths: vec![f.path("own").to_str().unwrap().into()],
        readonly_paths: vec![f.path("own/token").to_str().unwrap().into()],
        ..readwrite()
    };
    let plan = f.plan(&policy);
    check(&plan, &f.path("own/token"), View::Hidden);
    check(&plan, &f.path("own/room/pipe"), View::ReadOnly);
}

#[test]
fn a_workspace_in_our_own_directories_is_refused() {
    let f = Fixture::new();
    fs::create_dir(f.path("own/ws")).unwrap();
    let workspace = f.workspace_at("own/ws");
    let role = glass_model::Role::Person;
    let rights = glass_sandbox::resolve(None, None, &f.settings, role, &workspace).unwrap();
    assert!(glass_sandbox::plan(&rights, &workspace, &f.facts, &f.settings).is_err());
}

#[test]
fn further_paths_are_what_was_asked_and_no_more() {
    let f = Fixture::new();
    for name in ["out/rw", "out/rw-evil", "ws/vendor"] {
        fs::create_dir(f.path(name)).unwrap();
    }
    let policy = SandboxPolicy {
        readwrite_paths: vec![f.path("out/rw").to_str().unwrap().into()],
        readonly_paths: vec!["vendor".to_owned()],
        ..readwrite()
    };
    let plan = f.plan(&policy);
    check(&plan, &f.path("out/rw/x"), View::Writable);
    check(&plan, &f.path("ws/vendor/x"), View::ReadOnly);
    assert_ne!(view(&plan, &f.path("out/rw-evil/x")), Some(&View::Writable));
}

#[test]
fn sockets_of_others_are_hidden_and_those_in_the_workspace_are_not() {
    let f = Fixture::with_sockets();
    let outside = f.path("out/s");
    let _outside = UnixListener::bind(&outside).unwrap();
    let inside = f.path("ws/s");
    let _inside = UnixListener::bind(&inside).unwrap();
    let plan = f.plan(&readwrite());
    check(&plan, &outside, View::Hidden);
    check(&plan, &inside, View::Writable);
    assert!(!is_mount(&plan, &inside));
}

#[test]
fn a_command_begins_in_the_workspace() {
    let f = Fixture::new();
    let rights = f.resolve(&readwrite(), glass_model::Role::Agent).unwrap();
    assert!(rights.admits(&f.path("ws")).is_ok());
    let refusal = rights.admits(&f.path("out")).unwrap_err();
    assert!(
        refusal.hint().contains("additional_readwrite_paths"),
        "{}",
        refusal.hint()
    );
    std::os::unix::fs::symlink(f.path("out"), f.path("ws/link")).unwrap();
    assert!(rights.admits(&f.path("ws/link")).is_err());
}

#[test]
fn a_directory_that_programs_believe_can_be_worked_on_by_its_name() {
    let f = Fixture::new();
    fs::create_dir_all(f.path("home/.config/nvim")).unwrap();
    let workspace = f.workspace_at("home/.config/nvim");
    let role = glass_model::Role::Person;
    let rights = glass_sandbox::resolve(None, None, &f.settings, role, &workspace).unwrap();
    let plan = glass_sandbox::plan(&rights, &workspace, &f.facts, &f.settings).unwrap();
    check(&plan, &f.path("home/.config/nvim/init.lua"), View::Writable);
}
