//! Each wall is needed: with one of them left out, something gets out that
//! nothing else holds.

use super::probe;
use super::runner::{Asked, Field};
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Setup;
use std::path::PathBuf;

/// Names a program that can be told to leave a wall out. `make test` builds
/// it; nobody else ever does.
pub const WEAK_PROGRAM: &str = "SHELLGLASS_WEAK_BIN";

/// The program with walls that can be left out.
pub fn weak_program() -> Option<PathBuf> {
    std::env::var_os(WEAK_PROGRAM).map(PathBuf::from)
}

fn without(wall: Option<&str>) -> Setup {
    let program = weak_program().expect("SHELLGLASS_WEAK_BIN names it; use `make test`");
    let off = wall.map(|wall| ("SHELLGLASS_TEST_WALL_OFF".to_owned(), wall.to_owned()));
    Setup {
        program: Some(program),
        variables: off.into_iter().collect(),
        ..Setup::default()
    }
}

/// A wall, and scripts that it alone holds.
const HELD_BY: &[(&str, &[&str])] = &[
    ("mounts", &["chmod_outside", "utime_outside"]),
    ("landlock", &["unix_abstract_with_network"]),
    (
        "seccomp",
        &[
            "own_child_traced",
            "066_io_uring_setup",
            "100_net_vsock",
            "personality_changed",
            "memory_file_executed",
        ],
    ),
    ("network", &["net_tcp", "093_net_udp_loopback"]),
    (
        "git",
        &[
            "git_hook_planted",
            "git_default_config_appended",
            "128_git_bare_repo_in_cwd",
        ],
    ),
];

async fn said(setup: Setup, name: &str) -> String {
    let field = Field::open(setup).await;
    let probe = probe::named(name);
    let verdicts = field
        .judge(&[probe], SessionMode::Pipe, &Asked::ByTheScript)
        .await;
    let verdict = &verdicts[0];
    if verdict.said == "REFUSED" {
        return format!("REFUSED: {}", verdict.remarks);
    }
    verdict.said.clone()
}

/// Each script is held while all walls stand, and gets out without this one.
async fn holds_alone(wall: &str) {
    let (_, names) = HELD_BY.iter().find(|(name, _)| *name == wall).unwrap();
    for name in *names {
        let with = said(without(None), name).await;
        let left_out = said(without(Some(wall)), name).await;
        assert_eq!(
            (with.as_str(), left_out.as_str()),
            ("BLOCKED", "ESCAPED"),
            "{wall}: {name}"
        );
    }
}

#[tokio::test]
async fn without_the_mounts_something_gets_out() {
    holds_alone("mounts").await;
}

#[tokio::test]
async fn without_landlock_something_gets_out() {
    holds_alone("landlock").await;
}

#[tokio::test]
async fn without_seccomp_something_gets_out() {
    holds_alone("seccomp").await;
}

#[tokio::test]
async fn without_the_network_wall_something_gets_out() {
    holds_alone("network").await;
}

#[tokio::test]
async fn without_the_protection_of_git_something_gets_out() {
    holds_alone("git").await;
}

#[tokio::test]
async fn the_program_that_people_run_has_no_such_switch() {
    let variables = HELD_BY.iter().map(|(wall, _)| (*wall).to_owned());
    for wall in variables {
        let setup = Setup {
            variables: vec![("SHELLGLASS_TEST_WALL_OFF".to_owned(), wall.clone())],
            ..Setup::default()
        };
        let (_, names) = HELD_BY.iter().find(|(name, _)| *name == wall).unwrap();
        assert_eq!(said(setup, names[0]).await, "BLOCKED", "{wall}");
    }
}
