//! What a command behind walls left behind without its shell: started twice
//! removed, so that the first process of its namespace adopted it.

use std::time::{Duration, Instant};

use super::{children, descendants};
use crate::process::ProcessRef;

/// Between two looks at what is left.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Kills everything that the first process of a namespace has adopted, and all
/// below it. What the shell itself started and still has is not among it. Says
/// whether anything was there. Where something does not end in time, the whole
/// namespace does.
pub fn end_orphans(init: &ProcessRef, within: Duration) -> bool {
    if children(init).is_empty() {
        return false;
    }
    let until = Instant::now() + within;
    loop {
        let left = descendants(init);
        if left.iter().all(|process| process.dead) {
            return true;
        }
        if Instant::now() >= until {
            tracing::warn!(
                init = init.pid,
                "orphans do not end, so their namespace does"
            );
            drop(init.signal(libc::SIGKILL));
            return true;
        }
        for process in left.iter().filter(|process| !process.dead) {
            // One that is gone already is what we want.
            drop(process.as_ref().signal(libc::SIGKILL));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
