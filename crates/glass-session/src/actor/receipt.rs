//! What the current command costs, and what it leaves behind.
//!
//! A command that is over within milliseconds pays for two short reads; the
//! others are measured while they run.

use super::{Actor, Running};
use glass_model::{Peak, Receipt, ShellId, Usage};
use glass_spawn::tree::{self, Counters, Left, Meter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A command that ran for less has no figures: the clock of the process table
/// could not tell them from nothing.
const MEASURED_AFTER_MS: u64 = 20;

/// When memory is looked at first; the time between two looks doubles.
const SAMPLE_FIRST_MS: u64 = 10;

/// The longest time between two looks.
const SAMPLE_MS_MAX: u64 = 1000;

/// What is known of the current command while it runs.
#[derive(Default)]
pub(super) struct Cost {
    /// What its shell had used when the command had just begun.
    before: Option<(Counters, Instant)>,
    /// The most memory seen, in bytes; 0 is none.
    peak_bytes: Arc<AtomicU64>,
    /// The time to the next look.
    pause_ms: u64,
    /// What the kernel says of a shell that has ended with its command.
    usage: Option<Usage>,
}

impl Actor {
    /// The command that runs in the warm shell, and what measures it.
    fn measured(&mut self) -> Option<(&Meter, &mut Running)> {
        let shell = self.room.shell.as_ref()?;
        shell.meter.as_ref().zip(self.running.as_mut())
    }

    /// The current command takes its time: from here on it is measured. What it
    /// used until now is a millisecond's worth.
    pub(super) fn begin_metering(&mut self) {
        let Some((meter, running)) = self.measured() else {
            return;
        };
        running.cost.before = meter.counters().map(|before| (before, Instant::now()));
        running.cost.pause_ms = SAMPLE_FIRST_MS;
        self.sample_at = Some(Instant::now() + Duration::from_millis(SAMPLE_FIRST_MS));
    }

    /// Looks at the memory of the current command, elsewhere: a large tree takes
    /// a while to look at.
    pub(super) fn sample_memory(&mut self) {
        let Some((meter, running)) = self.measured() else {
            return;
        };
        let cost = &mut running.cost;
        let (family, peak) = (meter.family().clone(), cost.peak_bytes.clone());
        tokio::task::spawn_blocking(move || {
            if let Some(bytes) = family.peak_memory_bytes() {
                peak.fetch_max(bytes, Ordering::Relaxed);
            }
        });
        cost.pause_ms = (cost.pause_ms * 2).min(SAMPLE_MS_MAX);
        self.sample_at = Some(Instant::now() + Duration::from_millis(cost.pause_ms));
    }

    /// Keeps what the kernel says of a shell that ended with its command.
    pub(super) fn note_usage(&mut self, usage: Option<Usage>) {
        if let Some(running) = &mut self.running {
            running.cost.usage = usage;
        }
    }

    /// The receipt of an execution that ends now; none where nothing is known.
    pub(super) fn receipt(&mut self, id: ShellId) -> Option<Box<Receipt>> {
        let running = self.running.as_ref().filter(|run| run.shell_id == id)?;
        if self.session.is_elsewhere() {
            return None;
        }
        let launch = running.launched.id;
        let is_warm = self.room.shell.as_ref().map(|shell| shell.id()) == Some(launch);
        let receipt = if is_warm {
            self.warm_receipt()
        } else {
            self.line_receipt()
        };
        Some(Box::new(receipt)).filter(|receipt| !receipt.is_empty())
    }

    /// What a command added to its shell's account.
    fn warm_receipt(&mut self) -> Receipt {
        let ephemeral = self.session.ephemeral;
        let (Some(shell), Some(running)) = (&mut self.room.shell, &self.running) else {
            return Receipt::default();
        };
        let Some(meter) = &mut shell.meter else {
            // A shell of the last daemon's: what it has now is not this command's.
            shell.meter = Some(tree::Meter::new(&shell.launched));
            return Receipt::default();
        };
        let cost = &running.cost;
        let shortest = Duration::from_millis(MEASURED_AFTER_MS);
        let before = cost.before.as_ref();
        let measured = before.filter(|(_, since)| since.elapsed() >= shortest);
        let added = measured.and_then(|(before, _)| meter.added(before));
        let peak = match cost.peak_bytes.load(Ordering::Relaxed) {
            0 => None,
            bytes => Some(Peak::Seen(bytes)),
        };
        let left = match meter.is_unchanged() || ephemeral {
            true => Left::default(),
            false => meter.left(running.since_ticks),
        };
        let added = added.unwrap_or_default();
        Receipt {
            cpu_us: added.cpu_us,
            peak_memory: peak,
            io_bytes: added.io_bytes,
            left: left.named,
            left_count: left.count,
        }
    }

    /// What the shell of one command has used with all that it waited for.
    fn line_receipt(&self) -> Receipt {
        let Some(running) = &self.running else {
            return Receipt::default();
        };
        let receipt = running.cost.usage.map(Receipt::of_usage);
        // What a session of one command leaves behind is ended with it.
        let left = match self.session.ephemeral {
            true => Left::default(),
            false => tree::left_below(&running.launched, running.since_ticks),
        };
        Receipt {
            left: left.named,
            left_count: left.count,
            ..receipt.unwrap_or_default()
        }
    }
}
