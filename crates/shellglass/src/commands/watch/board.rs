//! What the overview shows and what its keys mean. Pure: nothing here reads a
//! clock or a terminal.
//!
//! A person answers for what they have seen. So the question in view keeps its
//! place while others come and go, it has to have been seen to its end, and the
//! answer names it once more before it is sent.

use super::keys::Key;
use glass_proto::shellglass::v1::{Approval, Overview, Session, WatchedSession};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Rates are those of this time.
const RATE_WINDOW: Duration = Duration::from_secs(5);

/// Samples that are kept for them.
const SAMPLES_MAX: usize = 64;

/// What a key asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Quit,
    /// Show a session, and type into it or not.
    Open {
        session: String,
        write: bool,
    },
    Cancel {
        session: String,
    },
    Answer {
        approval: String,
        approve: bool,
    },
}

/// How much is done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) commands: f64,
    pub(super) bytes: f64,
}

/// Everything that is shown.
#[derive(Default)]
pub(super) struct Board {
    pub(super) overview: Overview,
    /// The selected session.
    selected: Option<String>,
    /// The question in view.
    asked: Option<String>,
    /// Lines of it that are scrolled out of view.
    pub(super) scroll: usize,
    /// Lines of it beyond the view, as it was drawn last.
    pub(super) below: usize,
    /// Whether its end has been in view.
    seen_to_end: bool,
    /// What `y` would do.
    armed: Option<Act>,
    /// What is said at the bottom.
    pub(super) said: String,
    /// Whether the daemon is gone.
    pub(super) is_lost: bool,
    samples: VecDeque<(Instant, u64, u64)>,
    /// Whether there is anything to take samples of.
    is_known: bool,
}

impl Board {
    /// Takes how things are.
    pub(super) fn take(&mut self, overview: Overview, now: Instant) {
        let totals = (overview.commands_total, overview.output_bytes_total);
        if totals.0 < self.overview.commands_total {
            // Another daemon, which counts anew.
            self.samples.clear();
        }
        (self.is_lost, self.is_known) = (false, true);
        self.overview = overview;
        self.sample(now);
        let position = self.position();
        if position.is_none() {
            let first = self.sessions().next();
            self.selected = first.map(|session| session.session_id.clone());
        }
        if self.question().is_none() {
            let oldest = self.overview.approvals.first();
            self.ask(oldest.map(|approval| approval.approval_id.clone()));
        }
        let is_gone = match &self.armed {
            Some(Act::Answer { approval, .. }) => self.asked.as_ref() != Some(approval),
            Some(Act::Cancel { session }) => {
                !self.sessions().any(|known| known.session_id == *session)
            }
            _ => false,
        };
        if is_gone {
            self.armed = None;
            self.said = "it is over".to_owned();
        }
    }

    /// The daemon is gone.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.said.clear();
        self.armed = None;
    }

    /// Some time has passed.
    pub(super) fn sample(&mut self, now: Instant) {
        if !self.is_known {
            return;
        }
        let totals = (
            self.overview.commands_total,
            self.overview.output_bytes_total,
        );
        self.samples.push_back((now, totals.0, totals.1));
        let is_old = |at: Instant| now.saturating_duration_since(at) > RATE_WINDOW;
        while self.samples.len() > SAMPLES_MAX
            || (self.samples.len() > 2 && self.samples.front().is_some_and(|(at, ..)| is_old(*at)))
        {
            self.samples.pop_front();
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a rate is for people")]
    pub(super) fn rates(&self) -> Rates {
        let (Some(first), Some(last)) = (self.samples.front(), self.samples.back()) else {
            return Rates::default();
        };
        let seconds = last.0.saturating_duration_since(first.0).as_secs_f64();
        if seconds <= 0.0 {
            return Rates::default();
        }
        Rates {
            commands: last.1.saturating_sub(first.1) as f64 / seconds,
            bytes: last.2.saturating_sub(first.2) as f64 / seconds,
        }
    }

    fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.rows().filter_map(|row| row.session.as_ref())
    }

    /// The sessions that are shown.
    pub(super) fn rows(&self) -> impl Iterator<Item = &WatchedSession> {
        self.overview
            .sessions
            .iter()
            .filter(|row| row.session.is_some())
    }

    /// Where the selected session stands.
    pub(super) fn position(&self) -> Option<usize> {
        let selected = self.selected.as_deref()?;
        self.sessions()
            .position(|session| session.session_id == selected)
    }

    /// The question in view.
    pub(super) fn question(&self) -> Option<&Approval> {
        let asked = self.asked.as_deref()?;
        let mut waiting = self.overview.approvals.iter();
        waiting.find(|approval| approval.approval_id == asked)
    }

    fn ask(&mut self, asked: Option<String>) {
        if self.asked != asked {
            self.asked = asked;
            (self.scroll, self.below, self.seen_to_end) = (0, 0, false);
            self.armed = None;
        }
    }

    /// The question was drawn, and so many lines of it are below what is in view.
    pub(super) fn drew(&mut self, below: usize) {
        self.below = below;
        self.seen_to_end |= below == 0 && self.asked.is_some();
    }

    /// What a key does.
    pub(super) fn press(&mut self, key: Key) -> Option<Act> {
        let armed = self.armed.take();
        self.said.clear();
        match (key, armed) {
            (Key::Char('y'), Some(act)) => return Some(act),
            (_, Some(_)) => {
                self.said = "not done".to_owned();
                return None;
            }
            (_, None) => {}
        }
        match key {
            Key::Interrupt | Key::Char('q') => return Some(Act::Quit),
            Key::Up | Key::Char('k') => self.select(|at, _| at.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.select(|at, last| (at + 1).min(last)),
            Key::First | Key::Char('g') => self.select(|_, _| 0),
            Key::Last | Key::Char('G') => self.select(|_, last| last),
            Key::Enter => return self.open(false),
            Key::Char('w') => return self.open(true),
            Key::Char('c') => self.arm_cancel(),
            Key::Char('a') => self.arm_answer(true),
            Key::Char('r') => self.arm_answer(false),
            Key::Tab => self.ask_next(),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(1),
            Key::PageDown => self.scroll += usize::from(self.below > 0),
            Key::Escape | Key::Char(_) => {}
        }
        None
    }

    fn select(&mut self, to: impl Fn(usize, usize) -> usize) {
        let count = self.sessions().count();
        let at = self.position().unwrap_or(0);
        let to = to(at, count.saturating_sub(1));
        let session = self.sessions().nth(to);
        self.selected = session.map(|session| session.session_id.clone());
    }

    fn chosen(&self) -> Option<&Session> {
        self.position().and_then(|at| self.sessions().nth(at))
    }

    fn open(&self, write: bool) -> Option<Act> {
        let session = self.chosen()?.session_id.clone();
        Some(Act::Open { session, write })
    }

    fn arm_cancel(&mut self) {
        let running = self.chosen().filter(|session| session.running);
        let Some(session) = running.map(|session| session.session_id.clone()) else {
            self.said = "nothing runs there".to_owned();
            return;
        };
        self.said = format!("cancel what runs in {session}? y or n");
        self.armed = Some(Act::Cancel { session });
    }

    fn arm_answer(&mut self, approve: bool) {
        let Some(approval) = self.question().map(|asked| asked.approval_id.clone()) else {
            self.said = "nothing waits".to_owned();
            return;
        };
        if approve && !self.seen_to_end {
            self.said = format!("{approval} goes on: read it to its end first (Page Down)");
            return;
        }
        let verb = if approve { "approve" } else { "refuse" };
        self.said = format!("{verb} {approval}? y or n");
        self.armed = Some(Act::Answer { approval, approve });
    }

    fn ask_next(&mut self) {
        let waiting = &self.overview.approvals;
        let at = waiting
            .iter()
            .position(|approval| Some(&approval.approval_id) == self.asked.as_ref());
        let next = at.map_or(0, |at| (at + 1) % waiting.len().max(1));
        let next = waiting
            .get(next)
            .map(|approval| approval.approval_id.clone());
        self.ask(next);
    }
}

#[cfg(test)]
mod tests;
