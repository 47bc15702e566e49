//! Which rights a command has, and who may have them.

use std::fs;
use std::os::unix::fs::symlink;

use glass_model::{Role, SandboxKind, SandboxPolicy, WallBuild};
use glass_sandbox::{GitLevel, Refusal, Workspace, crossing, resolve, safe_directory};

use crate::fixture::{Fixture, block_git, readonly, readwrite};

fn text(path: &std::path::Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn check_needs_approval(f: &Fixture, policy: &SandboxPolicy, expected: &str) {
    match f.resolve(policy, Role::Agent) {
        Err(Refusal::NeedsApproval { what }) => assert!(what.contains(expected), "{what}"),
        other => panic!("{policy:?}: {other:?}"),
    }
    assert!(f.resolve(policy, Role::Person).is_ok(), "{policy:?}");
}

#[test]
fn nothing_asked_is_the_default_with_nothing_left_open() {
    let f = Fixture::new();
    let found = resolve(None, None, &f.settings, Role::Agent, &f.workspace()).unwrap();
    assert_eq!(found.policy.kind, SandboxKind::WorkspaceReadWrite);
    assert_eq!(found.policy.network_access, Some(false));
    assert_eq!(found.policy.block_git_writes, Some(false));
    assert_eq!(found.policy.disable_tmp_write, Some(false));
    assert_eq!(found.git, GitLevel::HooksAndConfig);
    assert_eq!(found.narrowed, None);
}

#[test]
fn the_nearest_layer_decides_and_restrictions_add_up() {
    let f = Fixture::new();
    fs::create_dir(f.path("ws/a")).unwrap();
    fs::create_dir(f.path("out/b")).unwrap();
    let session = SandboxPolicy {
        network_access: Some(true),
        readwrite_paths: vec![text(&f.path("out/b"))],
        readonly_paths: vec!["a".to_owned()],
        ignore_mapping_json: Some(r#"{".": ["*.env"]}"#.to_owned()),
        ..readwrite()
    };
    let request = SandboxPolicy {
        ignore_mapping_json: Some(r#"{".": ["!b.env"]}"#.to_owned()),
        ..readonly()
    };
    let role = Role::Person;
    let ws = f.workspace();
    let found = resolve(Some(&request), Some(&session), &f.settings, role, &ws).unwrap();
    assert_eq!(found.policy.kind, SandboxKind::WorkspaceReadOnly);
    assert_eq!(found.policy.network_access, Some(true));
    assert!(
        found.readwrite.is_empty(),
        "a path outlived the kind that it came with"
    );
    assert_eq!(found.readonly[0].path, f.path("ws/a"));
    let mapping = found.policy.ignore_mapping_json.unwrap();
    assert!(
        mapping.contains("*.env") && mapping.contains("!b.env"),
        "{mapping}"
    );

    let found = resolve(None, Some(&session), &f.settings, role, &ws).unwrap();
    assert_eq!(found.readwrite[0].path, f.path("out/b"));
}

#[test]
fn rights_that_were_settled_settle_to_themselves() {
    let f = Fixture::new();
    fs::create_dir(f.path("out/b")).unwrap();
    let asked = SandboxPolicy {
        readwrite_paths: vec![text(&f.path("out/b"))],
        ignore_mapping_json: Some(r#"{".": ["x"], ".": ["y"]}"#.to_owned()),
        ..block_git()
    };
    let once = f.resolve(&asked, Role::Person).unwrap();
    let twice = f.resolve(&once.policy, Role::Person).unwrap();
    assert_eq!(once, twice);
}

#[test]
fn an_agent_needs_approval_for_more_than_its_grant() {
    let f = Fixture::new();
    fs::create_dir(f.path("out/b")).unwrap();
    f.write("home/.aws/credentials", "x");
    check_needs_approval(&f, &SandboxPolicy::none(), "without a sandbox");
    let network = SandboxPolicy {
        network_access: Some(true),
        ..readwrite()
    };
    check_needs_approval(&f, &network, "network");
    let path = SandboxPolicy {
        readwrite_paths: vec![text(&f.path("out/b"))],
        ..readwrite()
    };
    check_needs_approval(&f, &path, "out/b");
    let secret = SandboxPolicy {
        readonly_paths: vec!["~/.aws".to_owned()],
        ..readwrite()
    };
    check_needs_approval(&f, &secret, ".aws");
    let report = SandboxPolicy {
        debug_output_dir: Some(text(&f.path("out"))),
        ..readwrite()
    };
    check_needs_approval(&f, &report, "report");
}

#[test]
fn an_agent_may_ask_for_less_and_for_what_it_has() {
    let mut f = Fixture::new();
    for name in ["out/b", "out/b/c", "out/b-evil"] {
        fs::create_dir_all(f.path(name)).unwrap();
    }
    f.settings.grant.readwrite_paths = vec![text(&f.path("out/b")), "/not/there".to_owned()];
    let inner = SandboxPolicy {
        readwrite_paths: vec![text(&f.path("out/b/c"))],
        ..readwrite()
    };
    for policy in [readonly(), readwrite(), block_git(), inner] {
        assert!(f.resolve(&policy, Role::Agent).is_ok(), "{policy:?}");
    }
    let evil = SandboxPolicy {
        readwrite_paths: vec![text(&f.path("out/b-evil"))],
        ..readwrite()
    };
    check_needs_approval(&f, &evil, "b-evil");
    symlink(f.path("out/b-evil"), f.path("out/b/link")).unwrap();
    let link = SandboxPolicy {
        readwrite_paths: vec![text(&f.path("out/b/link"))],
        ..readwrite()
    };
    check_needs_approval(&f, &link, "b-evil");
}

#[test]
fn the_default_is_granted_to_everybody() {
    let mut f = Fixture::new();
    f.settings.default = SandboxPolicy::none();
    let ws = f.workspace();
    let found = resolve(None, None, &f.settings, Role::Agent, &ws).unwrap();
    assert_eq!(found.policy.kind, SandboxKind::InsecureNone);
}

#[test]
fn a_stricter_git_level_is_not_undone_by_an_agent() {
    let mut f = Fixture::new();
    f.settings.git = GitLevel::All;
    f.settings.default.block_git_writes = None;
    f.settings.grant.block_git_writes = None;
    let asked = SandboxPolicy {
        block_git_writes: Some(false),
        ..readwrite()
    };
    check_needs_approval(&f, &asked, ".git");
    let found = f.resolve(&asked, Role::Person).unwrap();
    assert_eq!(found.git, GitLevel::HooksAndConfig);
}

#[test]
fn the_home_directory_is_read_only_unless_asked_and_then_refused() {
    let f = Fixture::new();
    for name in ["home", ""] {
        let workspace = f.workspace_at(name);
        assert!(workspace.unwritable.is_some(), "{name}");
        let role = Role::Person;
        let found = resolve(None, None, &f.settings, role, &workspace).unwrap();
        assert_eq!(found.policy.kind, SandboxKind::WorkspaceReadOnly);
        assert!(found.narrowed.is_some());
        let asked = readwrite();
        let refused = resolve(Some(&asked), None, &f.settings, role, &workspace).unwrap_err();
        assert!(refused.hint().contains("sandbox.workspaces"), "{refused}");
    }
    let root = Workspace::find(Some("/".as_ref()), "/".as_ref(), &f.settings).unwrap();
    assert!(root.unwritable.is_some());
    let policy = SandboxPolicy {
        readwrite_paths: vec!["~".to_owned()],
        ..readwrite()
    };
    assert!(f.resolve(&policy, Role::Person).is_err());
}

#[test]
fn only_listed_workspaces_may_be_written() {
    let mut f = Fixture::new();
    f.settings.workspaces = vec![text(&f.path("*"))];
    assert!(f.workspace().unwritable.is_none());
    fs::create_dir(f.path("ws/sub")).unwrap();
    assert!(f.workspace_at("ws/sub").unwritable.is_none());
    f.settings.workspaces = vec![text(&f.path("w"))];
    assert!(f.workspace().unwritable.is_some());
    f.settings.workspaces = vec!["/".to_owned()];
    assert!(
        f.workspace_at("home").unwritable.is_some(),
        "home was not listed itself"
    );
}

#[test]
fn the_workspace_is_the_git_root_above() {
    let f = Fixture::new();
    f.repository("ws");
    fs::create_dir_all(f.path("ws/a/b")).unwrap();
    let found = Workspace::find(None, &f.path("ws/a/b"), &f.settings).unwrap();
    assert_eq!(found.path(), f.path("ws"));
    let found = Workspace::find(None, &f.path("out"), &f.settings).unwrap();
    assert_eq!(found.path(), f.path("out"));
    // A repository around the home directory is not what is worked on.
    f.repository("home");
    fs::create_dir_all(f.path("home/p/q")).unwrap();
    let found = Workspace::find(None, &f.path("home/p/q"), &f.settings).unwrap();
    assert_eq!(found.path(), f.path("home/p/q"));
}

#[test]
fn a_workspace_in_a_hidden_place_is_refused() {
    let f = Fixture::new();
    fs::create_dir_all(f.path("home/.ssh/x")).unwrap();
    let path = f.path("home/.ssh/x");
    symlink(&path, f.path("ws/link")).unwrap();
    for path in [path, f.path("ws/link")] {
        let workspace = Workspace::find(Some(&path), &path, &f.settings).unwrap();
        assert!(workspace.check_shown(&f.settings).is_err());
        // Whoever has not looked meets it when walls are planned.
        let rights =
            glass_sandbox::resolve(None, None, &f.settings, Role::Person, &workspace).unwrap();
        let planned = glass_sandbox::plan(&rights, &workspace, &f.facts, &f.settings);
        assert!(matches!(planned, Err(Refusal::Workspace { .. })));
    }
}

#[test]
fn variables_that_programs_obey_do_not_cross_to_more_rights() {
    let f = Fixture::new();
    let few = f.resolve(&readonly(), Role::Person).unwrap();
    let more = f.resolve(&readwrite(), Role::Person).unwrap();
    let most = f.resolve(&SandboxPolicy::none(), Role::Person).unwrap();
    let env = [b"PATH=/evil".to_vec(), b"FOO=1".to_vec()];
    assert_eq!(crossing(&env, &few, &more), [b"FOO=1".to_vec()]);
    assert_eq!(crossing(&env, &more, &most), [b"FOO=1".to_vec()]);
    assert_eq!(crossing(&env, &most, &few), env);
    assert_eq!(crossing(&env, &more, &more), env);
    let hiding = SandboxPolicy {
        ignore_mapping_json: Some(r#"{".": ["x"]}"#.to_owned()),
        ..readwrite()
    };
    let hiding = f.resolve(&hiding, Role::Person).unwrap();
    assert_eq!(crossing(&env, &hiding, &more).len(), 1);
}

#[test]
fn a_directory_that_became_a_link_is_not_safe() {
    let f = Fixture::new();
    fs::create_dir_all(f.path("ws/a/b")).unwrap();
    let workspace = f.workspace();
    let cwd = f.path("ws/a/b");
    assert_eq!(safe_directory(&cwd, &workspace), Some(cwd.clone()));
    fs::rename(f.path("ws/a"), f.path("ws/old")).unwrap();
    symlink(f.path("ws/old"), f.path("ws/a")).unwrap();
    assert_eq!(safe_directory(&cwd, &workspace), None);
    assert_eq!(safe_directory(&f.path("ws/../out"), &workspace), None);
    assert_eq!(safe_directory(&f.path("ws/gone"), &workspace), None);
}

#[test]
fn without_namespaces_only_reading_can_be_had() {
    let mut f = Fixture::new();
    f.write("home/.ssh/id", "x");
    f.facts.build = Some(WallBuild::LandlockOnly);
    for policy in [
        readwrite(),
        SandboxPolicy {
            network_access: Some(true),
            ..readonly()
        },
        SandboxPolicy {
            ignore_mapping_json: Some(r#"{".": ["x"]}"#.to_owned()),
            ..readonly()
        },
        SandboxPolicy {
            readwrite_paths: vec![text(&f.path("out"))],
            ..readonly()
        },
    ] {
        let refused = f.try_plan(&policy).unwrap_err();
        assert!(matches!(refused, Refusal::Unsupported { .. }), "{refused}");
    }
    let plan = f.plan(&readonly());
    let mounts = crate::fixture::mounts(&plan);
    let above = |path: &std::path::Path| {
        mounts
            .iter()
            .any(|mount| path.starts_with(crate::fixture::path_of(mount)))
    };
    assert!(above(&f.path("ws/x")));
    assert!(!above(&f.path("home/.ssh/id")), "a secret can be read");
    assert!(!above(&f.path("own/token")), "a token can be read");
    f.settings.minimum_mode = WallBuild::Namespaces;
    assert!(f.try_plan(&readonly()).is_err());
    f.facts.build = None;
    assert!(f.try_plan(&readonly()).is_err());
}

#[test]
fn deciding_takes_microseconds() {
    let f = Fixture::new();
    let workspace = f.workspace();
    let best = (0..200)
        .map(|_| {
            let begin = std::time::Instant::now();
            resolve(None, None, &f.settings, Role::Agent, &workspace).unwrap();
            begin.elapsed()
        })
        .min()
        .unwrap();
    // A bound against mistakes of another order, not a measurement.
    assert!(best < std::time::Duration::from_millis(1), "{best:?}");
}
