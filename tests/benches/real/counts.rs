//! What commands cost the processor, counted by the kernel for the daemon and
//! a shell: instructions where the machine counts them, time everywhere.

use crate::table::Table;
use shellglass_tests::{Daemon, TestSession};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

/// Commands that are counted together.
const ROUNDS: usize = 2_000;

/// The variable by which a session's shell is found.
pub const MARK: &str = "SHELLGLASS_BENCH_MARK";

/// What the kernel is asked to count: instructions of programs, its own, and
/// the time of both.
const EVENTS: &str = "instructions:u,instructions:k,task-clock";

/// What one command costs, on average.
struct Count {
    /// Absent where the machine does not count them.
    instructions: Option<f64>,
    cpu_ms: f64,
}

/// A counter that runs until its standard input ends.
struct Counter(Child);

impl Counter {
    /// Counts for these processes, and for what they start. Returns when it
    /// has begun; nothing if there is no `perf`.
    fn start(pids: &[u32]) -> Option<Counter> {
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        let child = Command::new("perf")
            .args(["stat", "-x", ",", "-e", EVENTS, "-p", &pids.join(",")])
            .args(["--", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.ok()?;
        // The counters are on before `cat` is: it gives back what it is given.
        child.stdin.as_mut()?.write_all(b"x").ok()?;
        child.stdout.as_mut()?.read_exact(&mut [0]).ok()?;
        Some(Counter(child))
    }

    /// What was counted, by event; absent where it cannot be.
    fn stop(mut self) -> Vec<Option<f64>> {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output().expect("perf ends");
        let text = String::from_utf8_lossy(&output.stderr);
        let count = |event: &str| {
            let mut lines = text.lines();
            let line = lines.find(|line| line.split(',').any(|word| word == event))?;
            line.split(',').next()?.parse().ok()
        };
        EVENTS.split(',').map(count).collect()
    }
}

/// The shell of a session, by what is in its environment.
fn shell(mark: &str) -> u32 {
    let wanted = format!("{MARK}={mark}");
    let is_it = |pid: &u32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environ.split(|byte| *byte == 0);
        variables.any(|variable| variable == wanted.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").expect("there is a /proc");
    let names = entries.flatten().map(|entry| entry.file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse().ok());
    pids.into_iter().find(is_it).expect("a shell has its mark")
}

async fn count(daemon: &Daemon, session: &TestSession, mark: &str, command: &str) -> Option<Count> {
    for _ in 0..100 {
        crate::sandbox::run(session, command).await;
    }
    let counter = Counter::start(&[daemon.pid(), shell(mark)])?;
    for _ in 0..ROUNDS {
        crate::sandbox::run(session, command).await;
    }
    let counted = counter.stop();
    let rounds = f64::from(u32::try_from(ROUNDS).expect("a few thousand"));
    let each = |at: usize| counted[at].map(|sum| sum / rounds);
    Some(Count {
        instructions: each(0).zip(each(1)).map(|(own, kernel)| own + kernel),
        cpu_ms: each(2)?,
    })
}

/// Counts a command in a walled shell and in one without walls.
pub async fn compare(
    table: &mut Table,
    daemon: &Daemon,
    sessions: [(&TestSession, &str); 2],
    command: &str,
) {
    let mut counts = Vec::new();
    for (session, mark) in sessions {
        counts.push(count(daemon, session, mark, command).await);
    }
    let wanted = "<= 1.25x, aim 1.1x";
    let what = format!("Run({command}), warm, in walls, instructions of daemon and shell");
    let (Some(with), Some(without)) = (&counts[0], &counts[1]) else {
        table.figure(&what, "not counted: there is no perf".to_owned(), wanted);
        return;
    };
    match with.instructions.zip(without.instructions) {
        Some((with, without)) => {
            table.ratio(
                &what,
                with / 1e6,
                without / 1e6,
                "without walls",
                "M",
                wanted,
            );
        }
        None => {
            let why = "not counted: this kernel has no counter of instructions";
            table.figure(&what, why.to_owned(), wanted);
        }
    }
    let what = format!("Run({command}), warm, in walls, processor time of both");
    let (with, without) = (with.cpu_ms, without.cpu_ms);
    table.ratio(&what, with, without, "without walls", "ms", wanted);
}
