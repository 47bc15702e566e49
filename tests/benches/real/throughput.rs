//! How fast much output flows.

use crate::table::Table;
use glass_proto::agent::v1::shell_stream::Event;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, TestSession};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Bytes that `cat` prints.
const BYTES: u64 = 1 << 30;

/// Rounds; the best of each side counts, since noise only slows down.
const ROUNDS: usize = 3;

/// Without quotas, so that everything is kept.
pub const CONFIG: &str = "
[limits]
execution_output_bytes_max = 8589934592
session_output_bytes_max = 17179869184
store_output_bytes_max = 17179869184
";

fn raw_pipe(file: &str) -> f64 {
    let begin = Instant::now();
    let mut child = Command::new("cat")
        .arg(file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        let count = output.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        total += count as u64;
    }
    child.wait().unwrap();
    assert_eq!(total, BYTES);
    BYTES as f64 / 1e6 / begin.elapsed().as_secs_f64()
}

async fn through_daemon(session: &TestSession, file: &str) -> f64 {
    let mut client = session.client.clone();
    let begin = Instant::now();
    let request = session.request(&format!("cat {file}"));
    let mut stream = client.execute(request).await.unwrap().into_inner();
    let mut total = 0;
    while let Some(message) = stream.message().await.unwrap() {
        match message.event.unwrap() {
            Event::Stdout(out) => total += out.data.len() as u64,
            Event::Exit(exit) => assert_eq!(exit.code, 0),
            _ => {}
        }
    }
    assert_eq!(total, BYTES);
    BYTES as f64 / 1e6 / begin.elapsed().as_secs_f64()
}

fn fill(file: &Path, text: &[u8]) {
    let mut out = std::fs::File::create(file).unwrap();
    for _ in 0..BYTES >> 20 {
        out.write_all(text).unwrap();
    }
}

/// Makes the kernel hold as much memory as the journal is about to fill. A
/// virtual machine that gives free memory back to its host pays for the first
/// touch of every page, several times what writing to it costs: that is the
/// machine's speed and not ours, and a pipe's reader needs no new memory.
fn touch_memory(home: &Path, text: &[u8]) {
    let file = home.join("touched");
    fill(&file, text);
    std::fs::remove_file(file).unwrap();
}

/// One GiB of text from `cat`, delivered and journaled: as it is, and looked
/// through for secrets.
pub async fn measure(table: &mut Table) {
    let plain = format!("{CONFIG}\n[redaction]\nenabled = false\n");
    measure_with(table, &plain, "1 GiB of cat to a client", ">= 0.4x").await;
    let what = "1 GiB of cat to a client, redacted";
    measure_with(table, CONFIG, what, ">= 0.12x").await;
}

async fn measure_with(table: &mut Table, config: &str, what: &str, goal: &str) {
    let daemon = Daemon::start_with(config, &[("BENCH_TOKEN", "kiwi-Banane-77")], &[]);
    let file = daemon.home().join("input");
    let line = "a line of ordinary text, as a build prints it, of some eighty characters\n";
    let mut text = line.repeat((1 << 20) / line.len() + 1).into_bytes();
    text.truncate(1 << 20);
    fill(&file, &text);
    let file = file.to_str().unwrap();
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    raw_pipe(file);
    let (mut raw, mut ours, mut fresh) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        raw = raw.max(raw_pipe(file));
        fresh = fresh.max(through_daemon(&session, file).await);
        touch_memory(daemon.home(), &text);
        ours = ours.max(through_daemon(&session, file).await);
    }
    let base = "raw pipe reader";
    table.ratio(what, ours, raw, base, "MB/s", goal);
    let fresh_what = "the same, in memory as it comes";
    table.ratio(fresh_what, fresh, raw, base, "MB/s", "");
    let peak = crate::memory::peak_kib(daemon.pid());
    let peak = format!("{} MiB", peak / 1024);
    table.figure("daemon's peak memory then", peak, "< 64 MiB");
}
