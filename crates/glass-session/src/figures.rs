//! What happened since this daemon began, in numbers.
//!
//! Everything is counted with plain atomics, where it happens; nothing here
//! takes a lock or can fail. The words that go with the numbers are a closed
//! set: no text of a command, a path or a person can become a label.

use glass_model::{AbortReason, Event, EventBody, Outcome, SandboxKind, Stream};
use std::sync::atomic::{AtomicU64, Ordering};

/// Upper bounds of the buckets of a duration, in milliseconds.
const BOUNDS_MS: [u64; 12] = [
    1, 2, 5, 10, 25, 100, 250, 1_000, 5_000, 30_000, 120_000, 600_000,
];

/// Upper bounds of the buckets of what takes no time to speak of, in
/// microseconds.
const BOUNDS_US: [u64; 8] = [25, 50, 100, 250, 1_000, 5_000, 25_000, 250_000];

/// Only ever grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How often something took how long.
#[derive(Debug)]
pub(crate) struct Spread<const N: usize> {
    bounds: &'static [u64; N],
    /// One for each bound.
    within: [AtomicU64; N],
    beyond: AtomicU64,
    sum: AtomicU64,
}

impl<const N: usize> Spread<N> {
    fn new(bounds: &'static [u64; N]) -> Spread<N> {
        Spread {
            bounds,
            within: std::array::from_fn(|_| AtomicU64::new(0)),
            beyond: AtomicU64::new(0),
            sum: AtomicU64::new(0),
        }
    }

    fn note(&self, value: u64) {
        let at = self.bounds.iter().position(|bound| value <= *bound);
        let bucket = at.map_or(&self.beyond, |at| &self.within[at]);
        bucket.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    fn read(&self, per_second: f64) -> Value {
        let mut below = 0;
        let buckets = self.bounds.iter().zip(&self.within).map(|(bound, count)| {
            below += count.load(Ordering::Relaxed);
            (*bound as f64 / per_second, below)
        });
        let buckets = buckets.collect();
        Value::Spread {
            buckets,
            count: below + self.beyond.load(Ordering::Relaxed),
            sum: self.sum.load(Ordering::Relaxed) as f64 / per_second,
        }
    }
}

/// How executions end, as far as one counts.
const ENDINGS: [&str; 7] = [
    "success",
    "failure",
    "cancelled",
    "timeout",
    "rejected",
    "not_started",
    "unknown",
];

/// Behind which walls commands run.
const SANDBOXES: [&str; 3] = ["none", "read_write", "read_only"];

/// How questions are answered.
const ANSWERS: [&str; 3] = ["approved", "refused", "lapsed"];

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Figures {
    sessions: Counter,
    commands: Counter,
    started: [Counter; SANDBOXES.len()],
    ended: [Counter; ENDINGS.len()],
    output_bytes: [Counter; 2],
    /// Of output that is not there any more: what was never kept, and what was
    /// kept for a while.
    dropped_bytes: Counter,
    /// Of output that was never kept.
    lost_bytes: Counter,
    asked: Counter,
    answered: [Counter; ANSWERS.len()],
    views_behind: Counter,
    journal_failures: Counter,
    waited: Spread<{ BOUNDS_MS.len() }>,
    took: Spread<{ BOUNDS_MS.len() }>,
    journal: Spread<{ BOUNDS_US.len() }>,
}

impl Default for Figures {
    fn default() -> Figures {
        Figures {
            sessions: Counter::default(),
            commands: Counter::default(),
            started: Default::default(),
            ended: Default::default(),
            output_bytes: Default::default(),
            dropped_bytes: Counter::default(),
            lost_bytes: Counter::default(),
            asked: Counter::default(),
            answered: Default::default(),
            views_behind: Counter::default(),
            journal_failures: Counter::default(),
            waited: Spread::new(&BOUNDS_MS),
            took: Spread::new(&BOUNDS_MS),
            journal: Spread::new(&BOUNDS_US),
        }
    }
}

impl Figures {
    /// A session was made.
    pub(crate) fn made_session(&self) {
        self.sessions.add(1);
    }

    /// A command begins behind these walls, after so long in the queue.
    pub(crate) fn began(&self, sandbox: SandboxKind, waited_ms: i64) {
        let at = match sandbox {
            SandboxKind::Unspecified | SandboxKind::InsecureNone => 0,
            SandboxKind::WorkspaceReadWrite => 1,
            SandboxKind::WorkspaceReadOnly => 2,
        };
        self.started[at].add(1);
        // A clock that was set back tells nothing.
        self.waited.note(u64::try_from(waited_ms).unwrap_or(0));
    }

    /// A question has its answer; `by` is as the audit has it.
    pub(crate) fn answered(&self, approved: bool, by: &str) {
        let at = match (approved, by) {
            (true, _) => 0,
            (false, "person") => 1,
            (false, _) => 2,
        };
        self.answered[at].add(1);
    }

    /// Output was removed to keep to a quota.
    pub(crate) fn dropped(&self, bytes: u64) {
        self.dropped_bytes.add(bytes);
    }

    /// A client was too slow and is shown the screen anew.
    pub(crate) fn view_fell_behind(&self) {
        self.views_behind.add(1);
    }

    /// The journal took so long to take something.
    pub(crate) fn journaled(&self, took: std::time::Duration) {
        self.journal
            .note(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// The journal could not be written.
    pub(crate) fn journal_failed(&self) {
        self.journal_failures.add(1);
    }

    /// An event is published; `began_ms` is when its execution began, where that
    /// is known.
    pub(crate) fn published(&self, event: &Event, began_ms: Option<i64>) {
        match &event.body {
            EventBody::Output { stream, bytes, .. } => {
                let at = usize::from(*stream == Stream::Stderr);
                self.output_bytes[at].add(*bytes);
            }
            EventBody::Dropped { dropped, .. } => {
                self.dropped_bytes.add(dropped.bytes);
                self.lost_bytes.add(dropped.bytes);
            }
            EventBody::ApprovalPending { .. } => self.asked.add(1),
            EventBody::Exit { outcome, .. } => {
                self.ended[ending(outcome)].add(1);
                if let Some(began_ms) = began_ms {
                    let took_ms = event.at_ms - began_ms;
                    self.took.note(u64::try_from(took_ms).unwrap_or(0));
                }
            }
            EventBody::CommandStart { .. } => self.commands.add(1),
            EventBody::Cwd { .. } | EventBody::Disposed | EventBody::Status { .. } => {}
        }
    }

    /// How many commands began, and how many bytes commands wrote, kept or not.
    pub(crate) fn in_all(&self) -> (u64, u64) {
        let kept: u64 = self.output_bytes.iter().map(Counter::get).sum();
        (self.commands.get(), kept + self.lost_bytes.get())
    }

    /// Everything, to be shown.
    pub(crate) fn read(&self) -> Vec<Family> {
        let one = |counter: &Counter| vec![(None, Value::Count(counter.get()))];
        vec![
            Family::new(
                "sessions_created_total",
                "Sessions made.",
                one(&self.sessions),
            ),
            Family::new(
                "executions_started_total",
                "Commands handed to a shell, by their walls.",
                labelled("sandbox", &SANDBOXES, &self.started),
            ),
            Family::new(
                "executions_ended_total",
                "Commands that are over, by how they ended.",
                labelled("outcome", &ENDINGS, &self.ended),
            ),
            Family::new(
                "output_bytes_total",
                "Bytes of output recorded.",
                labelled("stream", &["stdout", "stderr"], &self.output_bytes),
            ),
            Family::new(
                "output_dropped_bytes_total",
                "Bytes of output that quotas removed.",
                one(&self.dropped_bytes),
            ),
            Family::new(
                "approvals_asked_total",
                "Questions put to persons.",
                one(&self.asked),
            ),
            Family::new(
                "approvals_answered_total",
                "Questions that are over, by their answer.",
                labelled("answer", &ANSWERS, &self.answered),
            ),
            Family::new(
                "views_behind_total",
                "Clients that were too slow and were shown the screen anew.",
                one(&self.views_behind),
            ),
            Family::new(
                "journal_failures_total",
                "Times that the journal could not be written.",
                one(&self.journal_failures),
            ),
            Family::new(
                "execution_wait_seconds",
                "From accepting a command to handing it to a shell.",
                vec![(None, self.waited.read(1e3))],
            ),
            Family::new(
                "execution_duration_seconds",
                "From a command's start to its end.",
                vec![(None, self.took.read(1e3))],
            ),
            Family::new(
                "journal_write_seconds",
                "What writing to the journal takes before a command goes on.",
                vec![(None, self.journal.read(1e6))],
            ),
        ]
    }
}

fn ending(outcome: &Outcome) -> usize {
    let name = if outcome.rejected.is_some() {
        "rejected"
    } else if outcome.spawn_error.is_some() {
        "not_started"
    } else {
        match (outcome.abort, outcome.code) {
            (Some(AbortReason::User), _) => "cancelled",
            (Some(AbortReason::Timeout), _) => "timeout",
            (None, Some(0)) => "success",
            (None, Some(_)) => "failure",
            (None, None) => "unknown",
        }
    };
    let at = ENDINGS.iter().position(|known| *known == name);
    at.expect("every name above is one of the endings")
}

fn labelled(
    label: &'static str,
    values: &'static [&'static str],
    counters: &[Counter],
) -> Vec<(Option<(&'static str, &'static str)>, Value)> {
    let pairs = values.iter().zip(counters);
    pairs
        .map(|(value, counter)| (Some((label, *value)), Value::Count(counter.get())))
        .collect()
}

/// Numbers of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// What they are called.
    pub name: &'static str,
    /// What they say, for people.
    pub help: &'static str,
    /// Each with its label and the label's value.
    pub samples: Vec<(Option<(&'static str, &'static str)>, Value)>,
}

impl Family {
    fn new(
        name: &'static str,
        help: &'static str,
        samples: Vec<(Option<(&'static str, &'static str)>, Value)>,
    ) -> Family {
        Family {
            name,
            help,
            samples,
        }
    }
}

/// One number, or a spread of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Only ever grows.
    Count(u64),
    /// How often something took how long.
    Spread {
        /// An upper bound in seconds, and how many were at or below it.
        buckets: Vec<(f64, u64)>,
        /// How many there were.
        count: u64,
        /// All of them together, in seconds.
        sum: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::{Figures, Spread, Value, ending};
    use glass_model::{AbortReason, Outcome, SandboxKind};

    #[test]
    fn a_spread_counts_everything_below_a_bound() {
        static BOUNDS: [u64; 3] = [1, 10, 100];
        let spread = Spread::new(&BOUNDS);
        for value in [0, 1, 2, 100, 101, u64::from(u32::MAX)] {
            spread.note(value);
        }
        let Value::Spread { buckets, count, .. } = spread.read(1e3) else {
            panic!("a spread");
        };
        assert_eq!(buckets, [(0.001, 2), (0.01, 3), (0.1, 4)]);
        assert_eq!(count, 6);
    }

    #[test]
    fn every_outcome_has_its_name() {
        let outcome = |code, abort| Outcome {
            code,
            abort,
            ..Outcome::default()
        };
        assert_eq!(ending(&outcome(Some(0), None)), 0);
        assert_eq!(ending(&outcome(Some(3), None)), 1);
        assert_eq!(ending(&outcome(None, Some(AbortReason::User))), 2);
        assert_eq!(ending(&outcome(Some(143), Some(AbortReason::Timeout))), 3);
        let rejected = Outcome {
            rejected: Some("no".to_owned()),
            ..Outcome::default()
        };
        assert_eq!(ending(&rejected), 4);
        assert_eq!(ending(&outcome(None, None)), 6);
    }

    #[test]
    fn a_clock_that_was_set_back_counts_as_nothing() {
        let figures = Figures::default();
        figures.began(SandboxKind::WorkspaceReadOnly, -5);
        let families = figures.read();
        let named = |name| families.iter().find(|family| family.name == name);
        let started = named("executions_started_total").expect("it is counted");
        assert_eq!(
            started.samples[2],
            (Some(("sandbox", "read_only")), Value::Count(1))
        );
        let waited = named("execution_wait_seconds").expect("it is measured");
        assert!(matches!(waited.samples[0].1, Value::Spread { count: 1, sum, .. } if sum == 0.0));
    }
}
