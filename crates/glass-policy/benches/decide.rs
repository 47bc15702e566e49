//! How long reading and deciding takes: of an ordinary line, and of the worst
//! lines that we know how to make.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/common/hostile.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod hostile;
#[path = "../tests/common/random.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "tests use the rest")]
mod random;

use glass_model::ShellKind;
use glass_policy::{Command, RuleSet, decide, limits};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 2000;

/// Hostile lines that are put together at random, the same in every run.
const MIXTURES: usize = 500;

/// What an ordinary line may take, in the middle.
const ORDINARY_MAX: Duration = Duration::from_micros(100);

/// What any line may take.
const WORST_MAX: Duration = Duration::from_millis(100);

const ORDINARY: &[&str] = &[
    "ls -la src",
    "git status --short && git diff --stat",
    "grep -rn 'fn main' --include='*.rs' . | head -20",
    "cargo test -p glass-policy -- --nocapture 2>&1 | tail -50",
    "find . -type f -name '*.rs' -not -path './target/*' | xargs wc -l | sort -n",
    "cd src && npm install && npm run build > build.log 2>&1",
    "for f in *.txt; do echo \"$f: $(wc -l < \"$f\")\"; done",
];

fn timed(line: &str, rules: &RuleSet) -> Duration {
    let start = Instant::now();
    let command = Command::parse(black_box(line), ShellKind::Bash);
    black_box(decide(&command, rules));
    start.elapsed()
}

fn main() {
    let rules = RuleSet::new();
    timed("ls", &rules);
    let mut slow = 0;
    println!("| ordinary line | p50 | p99 |");
    println!("|---|---|---|");
    for line in ORDINARY {
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| timed(line, &rules)).collect();
        times.sort();
        let (middle, late) = (times[ROUNDS / 2], times[ROUNDS * 99 / 100]);
        println!(
            "| `{}` | {middle:.1?} | {late:.1?} |",
            line.replace('|', "\\|")
        );
        slow += usize::from(middle > ORDINARY_MAX);
    }
    let mut worst: Vec<(Duration, String)> = Vec::new();
    for unit in hostile::UNITS {
        for tail in hostile::TAILS {
            for bytes in [limits::PROVABLE_BYTES_MAX, limits::LINE_BYTES_MAX] {
                let line = hostile::line(unit, tail, bytes);
                let best = (0..3).map(|_| timed(&line, &rules)).min();
                worst.push((
                    best.unwrap_or_default(),
                    format!("{unit:?} … {tail:?} {bytes}"),
                ));
            }
        }
    }
    let mut random = random::Random(0x5eed_4321_abcd_0002);
    for number in 0..MIXTURES {
        let line = hostile::mixture(limits::LINE_BYTES_MAX, |end| random.below(end));
        let best = (0..2).map(|_| timed(&line, &rules)).min();
        worst.push((best.unwrap_or_default(), format!("mixture {number}")));
    }
    worst.sort();
    println!("\n| hostile line | time |\n|---|---|");
    for (time, name) in worst.iter().rev().take(8) {
        println!("| {name} | {time:.1?} |");
        slow += usize::from(*time > WORST_MAX);
    }
    assert_eq!(slow, 0, "some are slower than they may be");
}
