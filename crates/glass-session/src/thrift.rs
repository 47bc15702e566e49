//! Gives memory back to the system once something large was freed.
//!
//! A terminal that scrolls holds some MiB for a moment, and what is freed then
//! would stay with the process: it lies between things that are in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between something's end and the giving back: what is freed meanwhile goes with
/// it, and nobody waits for memory more often, however busy terminals are.
const PAUSE: Duration = Duration::from_secs(5);

/// Whether somebody has freed something.
#[derive(Debug, Default)]
pub(crate) struct Thrift {
    is_due: AtomicBool,
}

impl Thrift {
    /// Something was freed that is worth giving back, in a while.
    pub(crate) fn freed(self: &Arc<Thrift>) {
        if self.is_due.swap(true, Ordering::AcqRel) {
            return;
        }
        let thrift = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(PAUSE).await;
            thrift.is_due.store(false, Ordering::Release);
            // It may wait for others, and they are not to wait for a worker.
            tokio::task::spawn_blocking(glass_spawn::give_memory_back);
        });
    }
}
