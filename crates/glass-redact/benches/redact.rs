//! How fast ordinary build output passes, on one core, beside a plain copy of
//! the same bytes in the same run.
#![allow(clippy::print_stdout)]

use glass_redact::{Detector, Known, Redactor, Rules};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of one pass.
const OUTPUT_BYTES: usize = 64 << 20;

/// Bytes pushed at once, as they come from a pipe.
const PIECE_BYTES: usize = 64 << 10;

/// Passes of each kind; the median counts.
const PASSES: usize = 7;

/// Least speed that is promised, in MB/s.
const GOAL_MB_PER_SECOND: f64 = 150.0;

/// What builds print: compilers, package managers, tests, colours, addresses.
fn build_output() -> Vec<u8> {
    let mut text = Vec::with_capacity(OUTPUT_BYTES + 4096);
    let mut round = 0_u64;
    while text.len() < OUTPUT_BYTES {
        round += 1;
        let hash = round.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let block = format!(
            "\x1b[1m\x1b[32m   Compiling\x1b[0m serde_json v1.0.{round} (/home/me/src/app/crates/json)\n\
             warning: unused variable: `token` at src/parser/token.rs:{round}:17\n\
             \x20 --> crates/parser/src/lexer.rs:{round}:9\n\
             \x20  |\n{round} |     let password = self.session.password();\n   |         ^^^^^^^^ help: prefix it\n\
             [{round}/2048] Building CXX object src/CMakeFiles/core.dir/engine/render_{round}.cpp.o\n\
             npm http fetch GET 200 https://registry.npmjs.org/left-pad/-/left-pad-1.{round}.0.tgz 45ms\n\
             test parser::tests::round_trip_{round} ... \x1b[32mok\x1b[0m\n\
             sha256:{hash:016x}{hash:016x}{hash:016x}{hash:016x}  target/release/deps/libapp-{hash:016x}.rlib\n\
             gcc -O2 -Wall -Wextra -Iinclude -DVERSION=\\\"1.{round}\\\" -c -o build/obj/module_{round}.o module.c\n\
             Downloaded 128 crates (12.{round} MB) in 3.21s (largest was `windows-sys` at 2.9 MB)\n"
        );
        text.extend_from_slice(block.as_bytes());
    }
    text
}

/// Time on a processor: others may be busy too, and are not what is measured.
fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn median_seconds(mut pass: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..PASSES)
        .map(|_| {
            let began = processor_seconds();
            pass();
            processor_seconds() - began
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[PASSES / 2]
}

fn main() {
    let text = build_output();
    let megabytes = text.len() as f64 / 1e6;
    let mut out = Vec::with_capacity(text.len() + PIECE_BYTES);
    let copy = median_seconds(|| {
        out.clear();
        for piece in text.chunks(PIECE_BYTES) {
            out.extend_from_slice(black_box(piece));
        }
        black_box(&out);
    });
    println!("copy                {:7.0} MB/s", megabytes / copy);
    let mut known = Known::new();
    for number in 0..20_u64 {
        let value = format!("{:016x}", number.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        known.add(&format!("VALUE_{number}"), value.as_bytes());
    }
    for (name, known) in [("rules", Known::new()), ("rules, 20 values", known)] {
        let began = Instant::now();
        let detector = Arc::new(Detector::new(Rules::builtin(), &known));
        let ready = began.elapsed();
        let seconds = median_seconds(|| {
            out.clear();
            let mut redactor = Redactor::new(detector.clone());
            for piece in text.chunks(PIECE_BYTES) {
                redactor.push(black_box(piece), &mut out);
            }
            redactor.finish(&mut out);
        });
        assert!(out == text, "ordinary output was touched");
        let speed = megabytes / seconds;
        println!(
            "{name:18}  {speed:7.0} MB/s   {:.3} of a copy   {:.1} x the goal   ready in {ready:?}",
            copy / seconds,
            speed / GOAL_MB_PER_SECOND,
        );
    }
}
