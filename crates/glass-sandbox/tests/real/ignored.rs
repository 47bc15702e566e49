//! Files that are neither read nor written, whatever they are called.

use std::fs;
use std::os::unix::fs::symlink;

use glass_model::{SandboxPolicy, View};

use crate::fixture::{Fixture, check, check_pinned, readonly, readwrite};

fn ignoring(mapping: &str) -> SandboxPolicy {
    SandboxPolicy {
        ignore_mapping_json: Some(mapping.to_owned()),
        ..readwrite()
    }
}

#[test]
fn ignored_files_are_hidden_and_cannot_be_renamed_away() {
    let f = Fixture::new();
    let secret = f.write("ws/deep/er/.env.secret", "x");
    f.write("ws/private/x", "x");
    let open = f.write("ws/deep/readme", "x");
    let plan = f.plan(&ignoring(r#"{".": ["deep/er/.env.secret", "private/"]}"#));
    check(&plan, &secret, View::Hidden);
    check(&plan, &f.path("ws/private/x"), View::Hidden);
    check(&plan, &open, View::Writable);
    check_pinned(&plan, &secret, &f.path("ws"));
}

#[test]
fn the_workspace_has_its_own_list() {
    let f = Fixture::new();
    f.write("ws/.shellglassignore", "*.pem\n!public.pem\n# a comment\n");
    let key = f.write("ws/a/key.pem", "x");
    let public = f.write("ws/a/public.pem", "x");
    for policy in [readwrite(), readonly()] {
        let plan = f.plan(&policy);
        check(&plan, &key, View::Hidden);
        assert_ne!(crate::fixture::view(&plan, &public), Some(&View::Hidden));
    }
}

#[test]
fn one_list_cannot_take_back_what_another_hides() {
    let f = Fixture::new();
    let key = f.write("ws/key.pem", "x");
    f.write("ws/.shellglassignore", "!key.pem\n");
    let plan = f.plan(&ignoring(r#"{".": ["*.pem"], "./.": ["!*.pem"]}"#));
    check(&plan, &key, View::Hidden);
}

#[test]
fn a_hard_link_of_an_ignored_file_is_hidden_too() {
    let f = Fixture::new();
    let secret = f.write("ws/a/.env", "x");
    fs::create_dir_all(f.path("ws/b/c")).unwrap();
    let link = f.path("ws/b/c/innocent.txt");
    fs::hard_link(&secret, &link).unwrap();
    let plan = f.plan(&ignoring(r#"{".": [".env"]}"#));
    check(&plan, &link, View::Hidden);
    assert!(plan.notes.is_empty(), "{:?}", plan.notes);
    fs::hard_link(&secret, f.path("out/elsewhere")).unwrap();
    let plan = f.plan(&ignoring(r#"{".": [".env"]}"#));
    assert!(plan.notes.iter().any(|note| note.contains("hard links")));
}

#[test]
fn what_an_ignored_link_leads_to_is_hidden() {
    let f = Fixture::new();
    let secret = f.write("ws/store/value", "x");
    symlink("store/value", f.path("ws/.env")).unwrap();
    symlink("/dev/null", f.path("ws/other.env")).unwrap();
    symlink("..", f.path("ws/up.env")).unwrap();
    let plan = f.plan(&ignoring(r#"{".": ["*.env", ".env"]}"#));
    check(&plan, &secret, View::Hidden);
    check(&plan, &f.path("ws/x"), View::Writable);
}

#[test]
fn a_directory_outside_of_the_workspace_can_have_a_list() {
    let f = Fixture::new();
    let secret = f.write("out/a/secret", "x");
    let mapping = format!(r#"{{"{}": ["secret"]}}"#, f.path("out").display());
    let plan = f.plan(&ignoring(&mapping));
    check(&plan, &secret, View::Hidden);
}

#[test]
fn a_tracked_file_cannot_be_read_from_objects() {
    let f = Fixture::new();
    f.write("ws/secret_dir/.env.secret", "x");
    f.repository("ws");
    for version in ["2", "4"] {
        f.git("ws", &["update-index", "--index-version", version]);
        for kind in [readwrite(), readonly()] {
            let policy = SandboxPolicy {
                kind: kind.kind,
                ..ignoring(r#"{".": ["secret_dir/"]}"#)
            };
            let plan = f.plan(&policy);
            check(&plan, &f.path("ws/.git/objects/aa"), View::Hidden);
            // Without it the next plan would not know that the file is tracked.
            check(&plan, &f.path("ws/.git/index"), View::ReadOnly);
            assert!(plan.notes.iter().any(|note| note.contains("objects")));
        }
    }
    let plan = f.plan(&ignoring(r#"{".": ["untracked"]}"#));
    check(&plan, &f.path("ws/.git/objects/aa"), View::Writable);
}

#[test]
fn an_ignored_path_beats_every_other_wish() {
    let f = Fixture::new();
    f.write("ws/a/b", "x");
    let policy = SandboxPolicy {
        readwrite_paths: vec!["a/b".to_owned()],
        readonly_paths: vec!["a".to_owned()],
        ..ignoring(r#"{".": ["/a"]}"#)
    };
    let plan = f.plan(&policy);
    check(&plan, &f.path("ws/a/b"), View::Hidden);
}
