//! Every script of the corpus gives its wanted answer, in warm shells, line by
//! line and in terminals.

use super::probe::{self, Probe};
use super::runner::{Asked, Field, judge_all, judge_in_terminals, wrong};
use super::stage::is_root;
use shellglass_tests::Setup;

/// What the daemon that starts the commands has and they must not get:
/// variables, and descriptors of the host's files.
fn leaky() -> Setup {
    let variables = [
        ("SBX_LEAK_CANARY", "1"),
        ("GITHUB_TOKEN", "SBX-VARIABLE-SECRET"),
        ("AWS_SECRET_ACCESS_KEY", "SBX-VARIABLE-SECRET"),
    ];
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let launcher = [
        "bash",
        "-c",
        "exec 207</ 208<>\"$SHELLGLASS_HOME/held\" && exec \"$@\"",
        "x",
    ];
    Setup {
        variables: variables.map(own).to_vec(),
        launcher: launcher.map(str::to_owned).to_vec(),
        ..Setup::default()
    }
}

/// Scripts that want a limit to be set; `limits.rs` does and runs them.
const ABOUT_LIMITS: &[&str] = &["162_pids_limit", "164_disk_limit"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_given_script_gives_its_wanted_answer() {
    let field = Field::open(leaky()).await;
    let mut probes = probe::given();
    probes.retain(|probe| !ABOUT_LIMITS.contains(&probe.name.as_str()));
    let verdicts = judge_all(field, probes, Asked::ByTheScript).await;
    let wrong = wrong(&verdicts);
    assert!(wrong.is_empty(), "of {} verdicts:\n{wrong}", verdicts.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_script_of_our_own_gives_its_wanted_answer() {
    let field = Field::open(leaky()).await;
    let probes = probe::own();
    let verdicts = judge_all(field, probes, Asked::ByTheScript).await;
    let wrong = wrong(&verdicts);
    assert!(wrong.is_empty(), "of {} verdicts:\n{wrong}", verdicts.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_script_gives_its_wanted_answer_in_a_terminal() {
    let field = Field::open(leaky()).await;
    // Of our own some must do, other ones for root than for an ordinary user:
    // what a terminal changes of the walls is little, and each takes its time.
    let own = probe::own().into_iter();
    let own = own.skip(if is_root() { 0 } else { 2 }).step_by(4);
    let mut probes: Vec<Probe> = probe::given().into_iter().chain(own).collect();
    probes.retain(|probe| !ABOUT_LIMITS.contains(&probe.name.as_str()));
    let verdicts = judge_in_terminals(field, probes).await;
    let mut wrong = wrong(&verdicts);
    // There is one, so nobody may say that there is none.
    for verdict in verdicts.iter().filter(|it| it.said == "SKIP no tty") {
        wrong.push_str(&format!("{}: {}\n", verdict.name, verdict.said));
    }
    assert!(wrong.is_empty(), "of {} verdicts:\n{wrong}", verdicts.len());
}

/// Scripts of our own whose attack fails without walls too, and why they are
/// kept.
const TOOTHLESS: &[(&str, &str)] = &[
    (
        "signal_init",
        "the first process of the host is never touched",
    ),
    ("kill_everything", "neither is everything else"),
    (
        "proc_init_environ_and_fds",
        "some hosts let nobody look at it",
    ),
    (
        "tmp_disabled_mktemp_works",
        "asks for what only that policy gives",
    ),
];

/// Scripts of our own whose attack only root can carry out.
const OF_ROOT_ALONE: &[&str] = &[
    "cgroup_left",
    "chroot_and_pivot",
    "core_pattern_opened",
    "device_node",
    "etc_and_cron_plant",
    "ignore_by_handle",
    "kernel_memory_opened",
    "open_tree_and_move_mount",
    "set_user_id_program",
    "setns_of_victim",
];

fn has_teeth(probe: &Probe) -> bool {
    let is_held_anyway = !is_root() && OF_ROOT_ALONE.contains(&probe.name.as_str());
    let is_toothless = TOOTHLESS.iter().any(|(name, _)| probe.name == *name);
    !is_held_anyway && !is_toothless
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_script_of_our_own_gets_out_where_there_are_no_walls() {
    let field = Field::open(leaky()).await;
    let mut probes = probe::own();
    probes.retain(has_teeth);
    for probe in &mut probes {
        if probe.expect == "BLOCKED" {
            "ESCAPED".clone_into(&mut probe.expect);
        }
    }
    let verdicts = judge_all(field, probes, Asked::Instead(super::desk::none())).await;
    let wrong = wrong(&verdicts);
    assert!(wrong.is_empty(), "of {} verdicts:\n{wrong}", verdicts.len());
}
