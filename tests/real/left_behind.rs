//! Whatever ends a command or a session leaves not one process of it, with
//! cgroups and without.

use crate::matrix::{Case, SHELLS};
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, eventually, exists, processes};
use std::path::Path;

/// What ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Cancel,
    Timeout,
    Dispose,
}

const ENDINGS: [Ending; 3] = [Ending::Cancel, Ending::Timeout, Ending::Dispose];

const WITH_CGROUPS: &str = "[keeper]\ncgroup = \"auto\"\n";
const WITHOUT_CGROUPS: &str = "[keeper]\ncgroup = \"off\"\n";

/// The processes of one case. They all have its number in their command lines.
fn left(number: u32) -> Vec<(u32, String)> {
    let word = format!("1000.{number}");
    let all = processes().into_iter();
    all.filter(|(pid, line)| line.contains(&word) && *pid != std::process::id())
        .collect()
}

/// How many of them really sleep, and do not only speak of sleeping.
fn sleepers(number: u32) -> usize {
    let line = format!("sleep 1000.{number} ");
    let is_one = |(_, command): &(u32, String)| command.ends_with(&line) && !command.contains("-c");
    left(number)
        .iter()
        .filter(|process| is_one(process))
        .count()
}

/// Four processes that try to get away, in the shell's own words.
fn runaways(shell: &str, number: u32) -> String {
    let sleep = format!("sleep 1000.{number}");
    match shell {
        "fish" => format!("setsid {sleep} & sh -c '{sleep} &'; nohup {sleep} & {sleep}"),
        _ => format!("setsid {sleep} & ({sleep} &) ; nohup {sleep} & {sleep}"),
    }
}

/// Runs a command until `count` of its processes sleep, ends it, and looks for
/// what is left when that has been answered.
async fn end_it(case: &Case, ending: Ending, command: &str, number: u32, count: usize) {
    let what = format!("{} {:?} {ending:?} {command:.60}", case.shell, case.mode);
    let mut request = case.session.request(command);
    if ending == Ending::Timeout {
        request.args.as_mut().unwrap().timeout = 1_000;
    }
    let running = case.session.submit_request(request).await;
    if ending != Ending::Timeout {
        let all = format!("{what}: {count} processes sleep");
        eventually(&all, || sleepers(number) >= count).await;
    }
    match ending {
        Ending::Cancel => assert!(case.session.cancel(None).await, "{what}"),
        Ending::Dispose => case.session.dispose().await,
        Ending::Timeout => {}
    }
    let result = running.end().await;
    assert!(result.aborted, "{what}: {result:?}");
    assert_eq!(left(number), [], "{what}: they live");
}

async fn end_everything(config: &str, modes: [SessionMode; 2], base: u32, ignoring: bool) {
    let daemon = Daemon::start(config);
    let mut number = base;
    for mode in modes {
        for ending in ENDINGS {
            for shell in SHELLS {
                number += 1;
                let dir = daemon.home().join(format!("{number}"));
                std::fs::create_dir(&dir).unwrap();
                let case = Case::make_in(&daemon, shell, mode, dir).await;
                let mut command = runaways(shell, number);
                if ignoring {
                    let inner = runaways("sh", number);
                    command = format!("sh -c \"trap '' TERM INT HUP QUIT; {inner}\"");
                }
                end_it(&case, ending, &command, number, 4).await;
                if ending != Ending::Dispose {
                    let after = case.session.run("echo on").await;
                    assert_eq!(after.stdout, "on\n", "{shell} {mode:?}");
                }
            }
        }
    }
    no_cgroup_is_left(&daemon).await;
}

const MODES: [SessionMode; 2] = [SessionMode::Pipe, SessionMode::Line];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runaways_end_with_their_command_in_cgroups() {
    end_everything(WITH_CGROUPS, MODES, 100_100, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runaways_end_with_their_command_without_cgroups() {
    end_everything(WITHOUT_CGROUPS, MODES, 100_200, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runaways_that_ignore_signals_end_in_cgroups() {
    end_everything(WITH_CGROUPS, MODES, 100_300, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runaways_that_ignore_signals_end_without_cgroups() {
    end_everything(WITHOUT_CGROUPS, MODES, 100_400, true).await;
}

/// Two forks, a session of its own, no descriptor and no environment of ours.
const DAEMON_PY: &str = "
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 64)
os.chdir('/')
os.execve('/bin/sleep', ['sleep', sys.argv[1]], {})
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_forks_twice_ends_with_its_command() {
    let mut number = 100_500;
    for config in [WITH_CGROUPS, WITHOUT_CGROUPS] {
        let daemon = Daemon::start(config);
        let script = daemon.home().join("daemon.py");
        std::fs::write(&script, DAEMON_PY).unwrap();
        for mode in MODES {
            for ending in ENDINGS {
                number += 1;
                let dir = daemon.home().join(format!("{number}"));
                std::fs::create_dir(&dir).unwrap();
                let case = Case::make_in(&daemon, "bash", mode, dir).await;
                let sleep = format!("1000.{number}");
                let command = format!("python3 {} {sleep}; sleep {sleep}", script.display());
                end_it(&case, ending, &command, number, 2).await;
            }
        }
        no_cgroup_is_left(&daemon).await;
    }
}

/// Many chains of processes, each of which forks its successor and ends: none
/// is there for long, and none is ever seen twice.
const STORM_PY: &str = "
import os, signal, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
end = time.monotonic() + 20
for chain in range(20):
    if os.fork() == 0:
        if chain % 2: os.setsid()
        while time.monotonic() < end:
            time.sleep(0.002)
            if os.fork(): os._exit(0)
        os._exit(0)
open('begun', 'w').close()
time.sleep(20)
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_forks_ends_with_its_command() {
    let mut number = 100_600;
    for config in [WITH_CGROUPS, WITHOUT_CGROUPS] {
        let daemon = Daemon::start(config);
        for mode in MODES {
            for ending in [Ending::Cancel, Ending::Dispose] {
                number += 1;
                let dir = daemon.home().join(format!("{number}"));
                std::fs::create_dir(&dir).unwrap();
                std::fs::write(dir.join("storm.py"), STORM_PY).unwrap();
                let case = Case::make_in(&daemon, "bash", mode, dir.clone()).await;
                let command = format!("python3 storm.py 1000.{number}; touch NEXT");
                let running = case.session.submit(&command).await;
                exists(&dir.join("begun")).await;
                eventually("the storm blows", || left(number).len() > 15).await;
                match ending {
                    Ending::Dispose => case.session.dispose().await,
                    _ => assert!(case.session.cancel(None).await),
                }
                assert_eq!(left(number), [], "{mode:?} {ending:?}");
                assert!(running.end().await.aborted);
                assert!(!dir.join("NEXT").exists(), "{mode:?} {ending:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ended_commands_left_running_ends_with_the_session() {
    let mut number = 100_700;
    for config in [WITH_CGROUPS, WITHOUT_CGROUPS] {
        let daemon = Daemon::start(config);
        for shell in SHELLS {
            for mode in MODES {
                number += 1;
                let dir = daemon.home().join(format!("{number}"));
                std::fs::create_dir(&dir).unwrap();
                let case = Case::make_in(&daemon, shell, mode, dir).await;
                let job = format!("setsid sleep 1000.{number} & sleep 0");
                assert_eq!(case.session.run(&job).await.code, Some(0));
                let other = format!("sh -c 'trap \"\" TERM; sleep 1000.{number}' & sleep 0");
                assert_eq!(case.session.run(&other).await.code, Some(0));
                eventually("both jobs sleep", || sleepers(number) >= 2).await;
                case.session.dispose().await;
                assert_eq!(left(number), [], "{shell} {mode:?}");
            }
        }
        no_cgroup_is_left(&daemon).await;
    }
}

/// Where this machine lets us make cgroups, if anywhere.
fn cgroup_root() -> Option<std::path::PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    Some(line.split(' ').nth(4)?.into())
}

fn our_cgroups(root: &Path, session: &str) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .filter(|path| path.to_string_lossy().contains(session))
        .collect()
}

/// Disposed sessions leave no directory in the cgroup file system.
async fn no_cgroup_is_left(daemon: &Daemon) {
    let case = Case::make_in(daemon, "bash", SessionMode::Pipe, daemon.home().to_owned()).await;
    let own = case.session.run("cat /proc/self/cgroup").await.stdout;
    case.session.dispose().await;
    let Some(root) = cgroup_root().filter(|_| own.contains("shellglass-")) else {
        return;
    };
    let id = case.session.id.clone();
    eventually("its cgroup is removed", || {
        our_cgroups(&root, &id).is_empty()
    })
    .await;
}

#[tokio::test]
async fn a_warm_shell_is_in_a_cgroup_only_where_asked_for() {
    for (config, wanted) in [(WITH_CGROUPS, true), (WITHOUT_CGROUPS, false)] {
        let daemon = Daemon::start(config);
        let writable = cgroup_root().is_some_and(|root| {
            let probe = root.join(format!("shellglass-probe-{}", std::process::id()));
            std::fs::create_dir(&probe).is_ok() && std::fs::remove_dir(&probe).is_ok()
        });
        let dir = daemon.home().to_owned();
        let case = Case::make_in(&daemon, "bash", SessionMode::Pipe, dir).await;
        let own = case.session.run("cat /proc/self/cgroup").await.stdout;
        assert_eq!(own.contains("shellglass-"), wanted && writable, "{own}");
    }
}
