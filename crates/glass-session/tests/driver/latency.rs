//! How long a warm shell takes for nothing: `cargo test --release --test
//! driver -- --ignored --nocapture latency`.

use crate::harness::{Driven, KINDS, blank, nonce};
use glass_session::driver::{Request, encode_run};
use std::time::{Duration, Instant};

const WARM_UP: usize = 200;
const ROUNDS: usize = 2000;

#[test]
#[ignore = "a measurement"]
fn latency_of_true() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        let mut times = Vec::with_capacity(ROUNDS);
        for round in 0..WARM_UP + ROUNDS {
            shell.seq += 1;
            let nonce = nonce(shell.seq);
            let request = Request {
                seq: shell.seq,
                nonce: &nonce,
                command: "true",
                ..blank()
            };
            let encoded = encode_run(kind, shell.dir.path(), &request).expect("it can be encoded");
            let begun = Instant::now();
            shell.send_encoded(&encoded);
            shell.finish(0);
            if round >= WARM_UP {
                times.push(begun.elapsed());
            }
        }
        times.sort();
        let at = |part: usize| times[ROUNDS * part / 100];
        eprintln!("{kind:?}: p50 {:?}, p99 {:?}", at(50), at(99));
        assert!(at(50) < Duration::from_millis(5), "{kind:?} is not warm");
    }
}
