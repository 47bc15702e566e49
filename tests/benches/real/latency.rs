//! How long one command takes.

use crate::table::Table;
use glass_proto::shellglass::v1::{self as wire, SessionMode};
use shellglass_tests::{Daemon, TestSession};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Turns that the measured things take, so that a noisy moment hits all, and how often
/// in a row each is done: another program in between is a measurement of its own.
const TURNS: usize = 10;
const IN_A_ROW: usize = 250;

/// Rounds of other measurements.
const ROUNDS: usize = 1_500;

/// A pause after which a machine has turned to other things, and how often it is made.
const REST: Duration = Duration::from_millis(50);
const RESTS: usize = 100;

/// Commands for the rate on one session.
const RATE_COMMANDS: u32 = 5_000;

/// The time that a share of them do not exceed, in milliseconds.
pub fn quantile(times: &mut [Duration], q: f64) -> f64 {
    times.sort();
    let at = ((times.len() - 1) as f64 * q).round() as usize;
    times[at].as_secs_f64() * 1e3
}

/// The CPU time that a process has used, in milliseconds. Unlike wall time it
/// does not tell how busy the machine is.
fn cpu_ms(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks * 10.0
}

fn spawn_bash() -> Duration {
    let begin = Instant::now();
    let status = Command::new("bash").args(["-c", "true"]).status().unwrap();
    assert!(status.success());
    begin.elapsed()
}

/// The least that a warm shell can take: a bash that reads and answers over
/// pipes, and nothing around it.
struct RawBash {
    child: std::process::Child,
    input: std::process::ChildStdin,
    output: std::process::ChildStdout,
}

impl RawBash {
    fn start() -> RawBash {
        let mut child = Command::new("bash")
            .args([
                "--norc",
                "-c",
                "while IFS= read -r q; do eval \"$q\"; echo $?; done",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        RawBash {
            child,
            input,
            output,
        }
    }

    fn run(&mut self) -> Duration {
        let begin = Instant::now();
        self.input.write_all(b"true\n").unwrap();
        let mut answer = [0; 2];
        self.output.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"0\n");
        begin.elapsed()
    }
}

impl Drop for RawBash {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// One command over gRPC.
pub async fn run_true(session: &TestSession) -> Duration {
    let mut client = session.client.clone();
    let request = session.request("true");
    let begin = Instant::now();
    let result = client.run(request).await.unwrap().into_inner();
    let elapsed = begin.elapsed();
    assert_eq!(shellglass_tests::summary(result).code, Some(0));
    elapsed
}

/// A warm command and a spawned shell, in turns with such a pause before each: how long
/// each takes.
async fn alternate(session: &TestSession, pause: Duration) -> (f64, f64) {
    let [mut ours, mut bash] = [const { Vec::new() }; 2];
    for _ in 0..RESTS {
        std::thread::sleep(pause);
        ours.push(run_true(session).await);
        std::thread::sleep(pause);
        bash.push(spawn_bash());
    }
    (quantile(&mut ours, 0.5), quantile(&mut bash, 0.5))
}

/// A warm command, a line command, and their rate.
pub async fn measure(table: &mut Table) {
    let daemon = Daemon::start("");
    let warm = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let line = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    let mut raw = RawBash::start();
    for _ in 0..100 {
        run_true(&warm).await;
        raw.run();
        spawn_bash();
    }
    let [mut ours, mut bash, mut bare, mut lines] = [const { Vec::new() }; 4];
    for _ in 0..TURNS {
        for _ in 0..IN_A_ROW {
            ours.push(run_true(&warm).await);
        }
        for _ in 0..IN_A_ROW {
            bare.push(raw.run());
        }
        for _ in 0..IN_A_ROW / 5 {
            bash.push(spawn_bash());
        }
    }
    // Apart from the others: what it leaves to be done is done later.
    for _ in 0..ROUNDS / 5 {
        lines.push(run_true(&line).await);
    }
    let (p50, p99) = (quantile(&mut ours, 0.5), quantile(&mut ours, 0.99));
    let base = quantile(&mut bash, 0.5);
    table.ratio(
        "Run(true), warm, p50",
        p50,
        base,
        "bash -c true",
        "ms",
        "<= 0.25x, aim 0.12x",
    );
    table.ratio(
        "Run(true), warm, p99",
        p99,
        p50,
        "its own p50",
        "ms",
        "<= 3x",
    );
    table.ratio(
        "Run(true), warm, p50",
        p50,
        quantile(&mut bare, 0.5),
        "raw warm bash",
        "ms",
        "",
    );
    table.ratio(
        "Run(true), line, p50",
        quantile(&mut lines, 0.5),
        base,
        "bash -c true",
        "ms",
        "",
    );
    let (between, spawned) = alternate(&warm, Duration::ZERO).await;
    let what = "Run(true), each after a spawn, p50";
    table.ratio(what, between, spawned, "bash -c true, so too", "ms", "");
    let (rested, spawned) = alternate(&warm, REST).await;
    let what = "Run(true), each after 50 ms, p50";
    table.ratio(what, rested, spawned, "bash -c true, so too", "ms", "");

    let mut empty = Vec::new();
    for _ in 0..ROUNDS {
        let mut client = warm.client.clone();
        let begin = Instant::now();
        client.get_capabilities(wire::Empty {}).await.unwrap();
        empty.push(begin.elapsed());
    }
    let call = quantile(&mut empty, 0.5);
    table.ratio(
        "Run(true), warm, p50",
        p50,
        call,
        "an empty gRPC call",
        "ms",
        "",
    );

    // Back to back, as an eager caller would.
    let cpu_before = cpu_ms(daemon.pid());
    let begin = Instant::now();
    for _ in 0..RATE_COMMANDS {
        run_true(&warm).await;
    }
    let cpu = (cpu_ms(daemon.pid()) - cpu_before) / f64::from(RATE_COMMANDS);
    let rate = f64::from(RATE_COMMANDS) / begin.elapsed().as_secs_f64();
    let spawned = 1e3 / base;
    table.ratio(
        "executes on one session",
        rate,
        spawned,
        "bash -c true",
        "/s",
        ">= 1000 /s",
    );
    table.ratio(
        "daemon's CPU for Run(true)",
        cpu,
        base,
        "bash -c true (wall)",
        "ms",
        "",
    );
    for shell in ["zsh", "fish", "dash"] {
        let session = TestSession::with(&daemon, shell, SessionMode::Pipe).await;
        let mut times = Vec::new();
        for _ in 0..300 {
            times.push(run_true(&session).await);
        }
        let what = format!("Run(true), warm {shell}, p50");
        table.ratio(
            &what,
            quantile(&mut times, 0.5),
            base,
            "bash -c true",
            "ms",
            "",
        );
    }
}

/// The whole command line with the daemon up.
pub fn measure_command_line(table: &mut Table) {
    let daemon = Daemon::start("");
    let once = || {
        let begin = Instant::now();
        let status = daemon.command().args(["run", "true"]).status().unwrap();
        assert!(status.success());
        begin.elapsed()
    };
    for _ in 0..20 {
        once();
    }
    let [mut ours, mut bash] = [const { Vec::new() }; 2];
    for _ in 0..200 {
        ours.push(once());
        bash.push(spawn_bash());
    }
    let base = quantile(&mut bash, 0.5);
    table.ratio(
        "shellglass run true, p50",
        quantile(&mut ours, 0.5),
        base,
        "bash -c true",
        "ms",
        "<= 4x",
    );
}
