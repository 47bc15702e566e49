//! Laws that hold for whatever is asked.

use std::fs;
use std::path::{Path, PathBuf};

use glass_model::{Role, SandboxKind, SandboxPolicy, View};
use glass_sandbox::{Refusal, crossing, denials};
use proptest::prelude::*;

use crate::fixture::{Fixture, mounts, path_of, view};

/// Places below the fixture that policies of these tests are about.
const PLACES: &[&str] = &[
    "ws", "ws/a", "ws/a/b", "ws/c", "out", "out/a", "out-evil", "home/d",
];

fn places() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(PLACES), 0..3)
}

fn policies() -> impl Strategy<Value = (bool, bool, Vec<&'static str>, Vec<&'static str>)> {
    (any::<bool>(), any::<bool>(), places(), places())
}

fn policy(f: &Fixture, asked: &(bool, bool, Vec<&str>, Vec<&str>)) -> SandboxPolicy {
    let (writes, network, readwrite, readonly) = asked;
    let paths = |list: &[&str]| -> Vec<String> {
        list.iter()
            .map(|name| f.path(name).to_str().unwrap().to_owned())
            .collect()
    };
    SandboxPolicy {
        kind: match writes {
            true => SandboxKind::WorkspaceReadWrite,
            false => SandboxKind::WorkspaceReadOnly,
        },
        network_access: Some(*network),
        readwrite_paths: paths(readwrite),
        readonly_paths: paths(readonly),
        ..SandboxPolicy::default()
    }
}

fn fixture() -> Fixture {
    let f = Fixture::new();
    for place in PLACES {
        fs::create_dir_all(f.path(place)).unwrap();
    }
    f
}

/// Whether a policy by itself says that a path may be written.
fn may_write(f: &Fixture, policy: &SandboxPolicy, path: &Path) -> bool {
    let depth = |list: &[String]| {
        let above = list
            .iter()
            .map(PathBuf::from)
            .filter(|place| path.starts_with(place));
        above
            .map(|place| place.components().count())
            .max()
            .unwrap_or(0)
    };
    let mut writable = policy.readwrite_paths.clone();
    if policy.kind == SandboxKind::WorkspaceReadWrite {
        writable.push(f.path("ws").to_str().unwrap().to_owned());
    }
    depth(&writable) > depth(&policy.readonly_paths)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_plan_opens_what_was_asked_and_nothing_else(asked in policies()) {
        let f = fixture();
        let policy = policy(&f, &asked);
        let plan = f.plan(&policy);
        for place in PLACES {
            let path = f.path(place).join("file");
            let writable = view(&plan, &path) == Some(&View::Writable);
            prop_assert_eq!(writable, may_write(&f, &policy, &path), "{:?}", path);
        }
        let shadow = mounts(&plan).iter().filter(|mount| mount.view == View::Writable);
        for mount in shadow {
            prop_assert!(may_write(&f, &policy, path_of(mount)));
        }
    }

    #[test]
    fn no_writable_path_is_ever_claimed(asked in policies(), words in 0_usize..3) {
        let f = fixture();
        let policy = policy(&f, &asked);
        let plan = f.plan(&policy);
        let words = ["Permission denied", "Read-only file system", "Device or resource busy"][words];
        for place in PLACES {
            let path = f.path(place).join("file");
            let line = format!("x: '{}': {words}", path.display());
            let found = denials(&plan, &f.path("ws"), line.as_bytes(), Some(1));
            prop_assert!(found.is_empty() || !may_write(&f, &policy, &path), "{found:?}");
        }
    }

    #[test]
    fn an_agent_gets_nothing_that_its_grant_does_not_have(
        asked in policies(),
        granted in policies(),
    ) {
        let mut f = fixture();
        f.settings.grant = policy(&f, &granted);
        f.settings.default = SandboxPolicy {
            kind: SandboxKind::WorkspaceReadOnly,
            ..SandboxPolicy::default()
        };
        let asked = policy(&f, &asked);
        match f.resolve(&asked, Role::Agent) {
            Ok(_) => {
                let grant = &f.settings.grant;
                prop_assert!(asked.network_access <= grant.network_access);
                for place in PLACES {
                    let path = f.path(place).join("file");
                    prop_assert!(
                        !may_write(&f, &asked, &path) || may_write(&f, grant, &path),
                        "{:?}", path
                    );
                }
            }
            Err(refusal) => {
                let approvable = matches!(refusal, Refusal::NeedsApproval { .. });
                prop_assert!(approvable, "{refusal}");
            }
        }
    }

    #[test]
    fn nothing_is_lost_between_equal_rights(asked in policies()) {
        let f = fixture();
        let rights = f.resolve(&policy(&f, &asked), Role::Person).unwrap();
        let env = [b"PATH=/x".to_vec()];
        prop_assert_eq!(crossing(&env, &rights, &rights).len(), 1);
    }
}
