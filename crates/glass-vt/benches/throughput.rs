//! How fast bytes are read, beside a copy of the same bytes in the same run:
//! `cargo bench --package glass-vt`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints and may panic"
)]

use glass_vt::MarkerScanner;
use glass_vt::screen::{Screen, ScreenSize};
use glass_vt::text::{Budget, Compressor};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of each input: little enough that a round is over before somebody else
/// gets the processor.
const INPUT_BYTES: usize = 2 << 20;

/// Bytes of one piece, about what a program's reads give.
const PIECE_BYTES: usize = 64 << 10;

/// Rounds of which the best counts: others share this machine.
const ROUNDS: usize = 60;

fn main() {
    println!(
        "{:<34} {:>10} {:>10} {:>9}  wanted",
        "what", "MB/s", "memcpy", "ratio"
    );
    let plain = repeat("2026-11-15T12:00:00Z INFO request served path=/index.html in 12 ms\n");
    let colours = repeat("\x1b[1;32mok\x1b[0m \x1b[38;5;208mwarn\x1b[39m\x1b[K\r\n");
    let markers = repeat(
        "\x1b]633;A\x07$ \x1b]633;B\x07\x1b]633;E;ls -l\x07ls -l\r\n\x1b]633;C\x07x\r\n\x1b]633;D;0\x07",
    );
    report("markers in plain text", &plain, ">= 2000", scan);
    report("markers in dense escapes", &colours, ">= 300", scan);
    report("markers and nothing else", &markers, "", scan);
    let log = numbered(|n| format!("2026-11-15T12:00:00Z INFO request {n} served in 12 ms\n"));
    let errors = numbered(|n| format!("error: request {n} failed with status 500\n"));
    let colourful =
        numbered(|n| format!("\x1b[32m INFO\x1b[0m request \x1b[1m{n}\x1b[0m served\r\n"));
    let progress = numbered(|n| format!("\rdownloading {n:>9} of 999999999 [=====>     ]"));
    let unicode = numbered(|n| format!("Größe der Datei № {n}: äöü ✓ fertig\n"));
    report("text of a log", &log, ">= 200", compress);
    report("text of nothing but errors", &errors, ">= 200", compress);
    report("text of coloured lines", &colourful, "", compress);
    report("text of a progress bar", &progress, "", compress);
    report("text that is not ASCII", &unicode, "", compress);
    report("text since the last run", &log, "", |input| {
        black_box(glass_vt::text::compress_since(
            input,
            input,
            &Budget::default(),
        ));
    });
    report("screen of a log", &log, "", |input| drop(screen(input)));
    report("screen of dense escapes", &colours, "", |input| {
        drop(screen(input))
    });
    report_snapshot("plain", &plain);
    report_snapshot("coloured", &colourful);
}

fn report_snapshot(what: &str, history: &[u8]) {
    let mut full = screen(history);
    let mut best = Duration::MAX;
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        best = best.min(time(|| bytes = black_box(full.snapshot()).len()));
    }
    println!("a snapshot with a full {what} history: {bytes} bytes in {best:?}");
}

fn repeat(line: &str) -> Vec<u8> {
    line.bytes().cycle().take(INPUT_BYTES).collect()
}

fn numbered(line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut input = Vec::with_capacity(INPUT_BYTES);
    for number in 0.. {
        input.extend_from_slice(line(number).as_bytes());
        if input.len() >= INPUT_BYTES {
            break;
        }
    }
    input
}

fn compress(input: &[u8]) {
    let mut compressor = Compressor::new(&Budget::default(), 0);
    for piece in input.chunks(PIECE_BYTES) {
        compressor.push(piece);
    }
    black_box(compressor.finish());
}

fn screen(input: &[u8]) -> Screen {
    let mut screen = Screen::new(ScreenSize {
        columns: 200,
        rows: 50,
    });
    for piece in input.chunks(PIECE_BYTES) {
        screen.feed(piece);
    }
    screen
}

fn scan(input: &[u8]) {
    let mut scanner = MarkerScanner::new(None);
    let mut found = 0u64;
    for piece in input.chunks(PIECE_BYTES) {
        scanner.scan(piece, |_| found += 1);
    }
    black_box(found);
}

fn report(what: &str, input: &[u8], wanted: &str, run: impl Fn(&[u8])) {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    if words.next().is_some_and(|word| !what.contains(&word)) {
        return;
    }
    let mut copy = vec![0u8; PIECE_BYTES];
    let (mut ours, mut base) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        ours = ours.min(time(|| run(black_box(input))));
        base = base.min(time(|| {
            for piece in input.chunks(PIECE_BYTES) {
                copy[..piece.len()].copy_from_slice(black_box(piece));
                black_box(&copy);
            }
        }));
    }
    let rate = |time: Duration| input.len() as f64 / 1e6 / time.as_secs_f64();
    let (ours, base) = (rate(ours), rate(base));
    println!(
        "{what:<34} {ours:>10.0} {base:>10.0} {:>8.3}x  {wanted}",
        ours / base
    );
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}
