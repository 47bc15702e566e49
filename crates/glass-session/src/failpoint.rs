//! Places where a test can kill the daemon.
//!
//! `SHELLGLASS_FAILPOINT=name` in the daemon's environment makes it die, as by
//! SIGKILL, at the first hit of that name; `name:3` at the third. This is how
//! the crash tests reach every gap between two steps; unset, a hit costs one
//! load.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

struct Armed {
    name: String,
    hits_left: AtomicU32,
}

/// Dies here if a test asked for it.
pub(crate) fn hit(name: &str) {
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    let armed = ARMED.get_or_init(|| {
        let wanted = std::env::var("SHELLGLASS_FAILPOINT").ok()?;
        let (name, count) = wanted.split_once(':').unwrap_or((&wanted, "1"));
        Some(Armed {
            name: name.to_owned(),
            hits_left: AtomicU32::new(count.parse().ok()?),
        })
    });
    if let Some(armed) = armed
        && armed.name == name
        && armed.hits_left.fetch_sub(1, Ordering::Relaxed) == 1
    {
        let ourselves = rustix::process::getpid();
        let _ = rustix::process::kill_process(ourselves, rustix::process::Signal::KILL);
        std::process::abort();
    }
}
