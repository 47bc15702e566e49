//! Everything that needs a real kernel: a keeper in a process of its own,
//! real shells below it, and attempts to get away from it.
#![forbid(unsafe_code)]

mod asides;
mod fixture;
mod keeping;
mod launching;
mod measures;
mod terminals;
mod trees;
mod walls;
mod walls_attacks;
mod walls_cover;
mod walls_inside;
mod walls_limits;
mod walls_names;

use std::time::Duration;

use glass_spawn::keeper::{self, KeeperOptions};

/// Not a test: what `fixture` executes as the keeper.
#[test]
#[ignore = "the keeper's process of the other tests"]
fn keeper_process() {
    let Some(socket) = std::env::var_os("GLASS_TEST_SOCKET") else {
        return;
    };
    let idle_ms = std::env::var("GLASS_TEST_IDLE_MS").expect("given with the socket");
    let mut options = KeeperOptions::new(socket.into());
    options.idle = Duration::from_millis(idle_ms.parse().expect("a number"));
    options.unclaimed = options.idle;
    let code = match keeper::run(options) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    std::process::exit(code);
}
