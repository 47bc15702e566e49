//! Lets deferred changes enter the database, on a thread of its own, so that
//! nobody who runs commands waits for it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::writer::Writer;

/// How long changes wait for others to enter with them.
const GATHER: Duration = Duration::from_millis(50);

#[derive(Default)]
struct State {
    waiting: bool,
    hurry: bool,
    stop: bool,
}

#[derive(Default)]
struct Signal {
    state: Mutex<State>,
    wake: Condvar,
}

/// The thread, until it is dropped; then nothing is deferred any more.
pub(crate) struct Flusher {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    pub(crate) fn spawn(writer: Arc<Mutex<Writer>>) -> std::io::Result<Flusher> {
        let signal = Arc::new(Signal::default());
        let theirs = Arc::clone(&signal);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || run(&theirs, &writer))?;
        Ok(Flusher {
            signal,
            thread: Some(thread),
        })
    }

    /// Notes that changes wait.
    pub(crate) fn wait_for_more(&self) {
        self.tell(|state| state.waiting = true);
    }

    /// Notes that so many wait that others may soon find no place.
    pub(crate) fn hurry(&self) {
        self.tell(|state| (state.waiting, state.hurry) = (true, true));
    }

    fn tell(&self, what: impl FnOnce(&mut State)) {
        what(
            &mut self
                .signal
                .state
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        self.signal.wake.notify_one();
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.tell(|state| state.stop = true);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the journal's thread panicked");
        }
    }
}

fn run(signal: &Signal, writer: &Mutex<Writer>) {
    loop {
        let more = wait_for_work(signal);
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writer.let_enter() {
            // They stay where they are, and whoever writes next meets the same.
            tracing::warn!(%error, "deferred changes cannot enter the database yet");
        }
        if !more {
            return;
        }
    }
}

/// Waits until changes have gathered; false when it is time to stop.
fn wait_for_work(signal: &Signal) -> bool {
    let state = signal.state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut state = signal
        .wake
        .wait_while(state, |state| !state.stop && !state.waiting)
        .unwrap_or_else(PoisonError::into_inner);
    if !state.stop && !state.hurry {
        state = signal
            .wake
            .wait_timeout_while(state, GATHER, |state| !state.stop && !state.hurry)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
    (state.waiting, state.hurry) = (false, false);
    !state.stop
}
