//! Kills what has no reaper any more.
//!
//! The keeper forks nothing but reapers, so every other child of it is what a
//! killed reaper left. It cannot be told which launch such a process was of,
//! and nobody could end it later: it must go now.

use crate::process::ProcessRef;
use crate::tree;

/// Stops, then kills, every child that is no reaper with everything below it.
/// Gives how many such children there still are; those that were killed are
/// counted until they have been waited for.
pub(super) fn sweep(is_reaper: impl Fn(i32) -> bool) -> usize {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    let Some(keeper) = ProcessRef::of(me) else {
        return 0;
    };
    let unknown: Vec<_> = tree::children(&keeper)
        .into_iter()
        .filter(|child| !is_reaper(child.pid))
        .collect();
    let all: Vec<ProcessRef> = unknown
        .iter()
        .flat_map(|child| {
            let below = tree::descendants(child)
                .into_iter()
                .map(|process| process.as_ref());
            [*child].into_iter().chain(below)
        })
        .collect();
    // Stopped first, parents before children, so that none forks meanwhile.
    for process in &all {
        let _ = process.stop();
    }
    for process in &all {
        if let Err(error) = process.kill() {
            tracing::warn!(pid = process.pid, %error, "an orphan cannot be killed");
        }
    }
    unknown.len()
}
