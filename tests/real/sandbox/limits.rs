//! What one command may use, and how its end is told.

use super::desk::{Desk, rw};
use super::probe;
use super::runner::{Asked, Field, in_bash};
use super::stage::is_root;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Setup;

const MODES: [SessionMode; 2] = [SessionMode::Pipe, SessionMode::Line];

fn limited(settings: &str) -> Setup {
    Setup {
        config: format!("[sandbox]\n{settings}\n"),
        ..Setup::default()
    }
}

/// Runs a script that stays just above a limit.
async fn holds(setup: Setup, name: &str, variable: (&str, &str)) {
    let mut field = Field::open(setup).await;
    let (name_of_limit, limit) = variable;
    field
        .variables
        .insert(name_of_limit.to_owned(), limit.to_owned());
    for mode in MODES {
        let verdicts = field
            .judge(&[probe::named(name)], mode, &Asked::ByTheScript)
            .await;
        assert_eq!(verdicts[0].said, "BLOCKED", "{:?}", verdicts[0]);
    }
}

#[tokio::test]
async fn a_file_does_not_grow_beyond_its_limit() {
    let setup = limited("file_bytes_max = 25165824");
    holds(setup, "164_disk_limit", ("DISK_MAX_MB", "24")).await;
}

#[tokio::test]
async fn processes_are_limited_where_there_are_cgroups() {
    if !is_root() {
        // Only root has cgroups to give here.
        return;
    }
    let setup = limited("processes_max = 120");
    holds(setup, "162_pids_limit", ("PIDS_MAX", "120")).await;
}

#[tokio::test]
async fn processes_behind_walls_are_counted_by_themselves() {
    // No cgroup is needed, so this holds for everybody.
    let setup = limited("tasks_max = 120");
    holds(setup, "162_pids_limit", ("PIDS_MAX", "120")).await;
}

/// Every process makes more of them until there can be no more, and stays. The
/// first one says so and leaves.
const FORKS: &str = "import os, sys, time
first = os.getpid()
try:
    while True: os.fork()
except OSError as error:
    if os.getpid() == first: sys.exit(f'fork: {error.strerror}')
    time.sleep(600)";

#[tokio::test]
async fn what_forks_without_end_is_contained_and_that_is_said() {
    for mode in MODES {
        let desk = Desk::with(limited("tasks_max = 150"), mode, &[]).await;
        let ended = desk.run(rw(), &format!("python3 -c \"{FORKS}\"")).await;
        // Its shell may be the one that cannot have another process.
        assert_ne!(ended.code, Some(0), "{mode:?}: {ended:#?}");
        assert!(ended.refused.is_none(), "{mode:?}: {ended:#?}");
        let said = ended.denials.join("\n");
        assert!(said.contains("sandbox.tasks_max"), "{mode:?}: {ended:#?}");
        // What it left has ended, so there are processes for the next one.
        assert_eq!(desk.works(rw(), "(echo on)").await, "on\n", "{mode:?}");
    }
}

#[tokio::test]
async fn one_session_does_not_use_up_the_processes_of_another() {
    let desk = Desk::with(limited("tasks_max = 40"), SessionMode::Pipe, &[]).await;
    let other = desk
        .field
        .session(&desk.stage, SessionMode::Pipe, Some(rw()));
    let other = other.await.expect("a session is made");
    let many = "for i in $(seq 30); do sleep 600 & done; echo many";
    assert_eq!(desk.works(rw(), many).await, "many\n");
    let seen = other.run(&format!("{many}; kill $(jobs -p)")).await;
    assert_eq!(
        (seen.code, seen.stdout.as_str()),
        (Some(0), "many\n"),
        "{seen:?}"
    );
}

#[tokio::test]
async fn processes_are_limited_out_of_the_box() {
    use rustix::process::{Resource, getrlimit};
    // Whoever is limited to less stays so.
    let own = getrlimit(Resource::Nproc).maximum.unwrap_or(u64::MAX);
    let expected = format!("{}\n", own.min(4096));
    for mode in MODES {
        let desk = Desk::open(mode).await;
        assert_eq!(desk.works(rw(), "ulimit -Hu").await, expected, "{mode:?}");
    }
}

#[tokio::test]
async fn limits_of_one_process_are_as_configured() {
    let settings = "open_files_max = 300\ncpu_seconds_max = 1000\naddress_bytes_max = 8589934592";
    for mode in MODES {
        let desk = Desk::with(limited(settings), mode, &[]).await;
        let limits = "ulimit -n; ulimit -Hn; ulimit -t; ulimit -v; ulimit -c; ulimit -Hc";
        let seen = desk.works(rw(), limits).await;
        assert_eq!(seen, "300\n300\n1000\n8388608\n0\n0\n", "{mode:?}");
        let raise = desk.run(rw(), "ulimit -Hn 4000").await;
        assert_ne!(raise.code, Some(0), "{mode:?}: {raise:#?}");
    }
}

#[tokio::test]
async fn a_command_that_uses_too_much_processor_time_is_ended() {
    for mode in MODES {
        let desk = Desk::with(limited("cpu_seconds_max = 1"), mode, &[]).await;
        let ended = desk.run(rw(), &in_bash("while :; do :; done")).await;
        assert!(
            ended.code.is_some_and(|code| code != 0),
            "{mode:?}: {ended:#?}"
        );
        assert_eq!(desk.works(rw(), "echo on").await, "on\n", "{mode:?}");
    }
}

/// Uses half a gigabyte, a little at a time.
const HUNGRY: &str = "python3 -c 'import mmap\nm = []\nfor i in range(512):\n m.append(bytearray(1 << 20))\nprint(\"full\")'";

#[tokio::test]
async fn a_command_that_uses_too_much_memory_is_ended_and_that_is_said() {
    if !is_root() {
        // Only root has cgroups to give here.
        return;
    }
    for mode in MODES {
        let desk = Desk::with(limited("memory_bytes_max = 134217728"), mode, &[]).await;
        let ended = desk.run(rw(), HUNGRY).await;
        assert_ne!(ended.code, Some(0), "{mode:?}: {ended:#?}");
        assert!(!ended.stdout.contains("full"), "{mode:?}: {ended:#?}");
        assert!(ended.out_of_memory, "{mode:?}: {ended:#?}");
        let next = desk.run(rw(), "echo on").await;
        assert_eq!(
            (next.stdout.as_str(), next.out_of_memory),
            ("on\n", false),
            "{next:#?}"
        );
    }
}

#[tokio::test]
async fn a_kill_by_somebody_else_is_not_called_lack_of_memory() {
    for mode in MODES {
        let desk = Desk::open(mode).await;
        let ended = desk.run(rw(), "sh -c 'kill -9 $$'").await;
        assert_eq!(ended.code, Some(137), "{mode:?}: {ended:#?}");
        assert!(!ended.out_of_memory, "{mode:?}: {ended:#?}");
    }
}
