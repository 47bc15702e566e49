//! The end of a terminal: nothing of it is left but its history, and everything
//! that it wrote is told before its end is.

use super::reader::Reading;
use super::{Ending, Task};
use crate::actor::{Finished, OutputEnd, lock, tree_end};
use crate::routes::Note;
use glass_model::{AbortReason, ExitDetails, Outcome, Phase, Role, WaitStatus};
use glass_spawn::tree::{self, Manner, Scope};
use glass_vt::sieve::Sieve;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for processes to leave by themselves.
const GRACE: Duration = Duration::from_millis(100);

/// How long the news of a shell's end may take once its processes are gone.
const STATUS_WAIT: Duration = Duration::from_secs(10);

/// How long the last output may take to be read.
const DRAIN_DEADLINE: Duration = Duration::from_secs(2);

/// How often a journal that cannot be written is tried at the end.
const RETRY: Duration = Duration::from_millis(500);

/// Undoes what programs may have left on: keypad, mouse, focus, paste, margins,
/// the cursor, colours and character set. Whatever sequence is unfinished ends
/// first.
const RESET: &[u8] = b"\x18\x1b>\x1b[?1l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\
\x1b[?1006l\x1b[?2004l\x1b[?2026l\x1b[4l\x1b[20l\x1b[?6l\x1b7\x1b[r\x1b8\x1b[?7h\x1b[?25h\x1b[0 q\x1b[m\x1b(B\x0f";

impl Task {
    /// Ends every process of the session, once.
    pub(super) fn end_processes(&mut self, disposed: bool) {
        if self.ending != Ending::No {
            return;
        }
        self.ending = Ending::Processes { disposed };
        let manner = Manner::Terminate { grace: GRACE };
        let tree = tree_end(&self.launched, Scope::Everything, manner, None);
        let tell = self.note_sender.clone();
        tokio::task::spawn_blocking(move || {
            let left = tree::end(&tree).err().map(|error| error.to_string());
            // A task that is gone needs no news.
            drop(tell.send(Note::TreeEnded(left)));
        });
    }

    /// When a terminal that nobody looks at is ended.
    pub(super) fn abandoned_at(&self) -> Option<Instant> {
        if self.ending != Ending::No {
            return None;
        }
        let limits = &self.context.settings.limits;
        let seconds = match self.session.owner {
            Role::Person => limits.terminal_idle_seconds_max,
            Role::Agent => limits.agent_terminal_idle_seconds_max,
        };
        let since = self.unwatched_since?;
        since.checked_add(Duration::from_secs(u64::from(seconds)))
    }

    pub(super) fn abandon(&mut self) {
        self.remark(
            "timeout",
            "nobody has looked at the terminal for too long (limits.terminal_idle_seconds_max)",
        );
        self.end_processes(true);
    }

    /// When a shell whose processes are gone is taken for ended.
    pub(super) fn close_by(&self) -> Option<Instant> {
        match self.ending {
            Ending::Gone { since, .. } => Some(since + STATUS_WAIT),
            Ending::No | Ending::Processes { .. } => None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let is_known = self.status.is_some() || self.close_by() <= Some(Instant::now());
        matches!(self.ending, Ending::Gone { .. }) && is_known
    }

    /// Tells everybody, in order: the last output, the end, and that nothing is
    /// left.
    pub(super) async fn close(mut self) {
        self.drain().await;
        let outcome = self.outcome();
        self.finish_all(&outcome);
        self.write_end(&outcome);
        while !self.backlog.is_empty() {
            tokio::time::sleep(RETRY).await;
            self.write_backlog();
        }
        self.show_whole_frame();
        for client in self.clients.lagging() {
            let drawing = self.display.drawing();
            self.clients.draw(client, self.sizing.current(), &drawing);
        }
        self.clients.output(RESET);
        self.clients.exit(outcome.code);
        self.tell_watchers(&outcome);
        self.show_end(&outcome);
        if let Some(walls) = &self.walls {
            walls.release(&self.context);
        }
        if let Err(error) = std::fs::remove_dir_all(&self.dir) {
            tracing::warn!(%error, dir = %self.dir.display(), "a session's directory stays");
        }
        self.context.remove_page(&self.session);
        self.feed.close();
        if self.context.keeper.forget(self.launched.id).await.is_err() {
            // A keeper that is gone remembers nothing.
            tracing::debug!("the keeper is gone");
        }
        self.input_room.close();
        for reply in std::mem::take(&mut self.disposals) {
            // Whoever asked may have left.
            let _ = reply.send(());
        }
    }

    /// The daemon stops; the shell goes on.
    pub(super) fn leave(mut self) {
        self.reader.stop(&mut self.buffer);
        self.take_output();
        // The beginning of a marker is no output, and may hold the nonce.
        let rest = self.sieve.as_mut().map(Sieve::leave).unwrap_or_default();
        if !rest.is_empty() {
            self.take_bytes(&rest);
        }
        self.name(crate::recording::When::Running);
        self.display
            .save(self.recording.recorded_bytes(), self.sizing.current());
        self.input_room.close();
    }

    /// Takes what the terminal still has. No process is left that could write
    /// more, so it comes to its end.
    async fn drain(&mut self) {
        let deadline = Instant::now() + DRAIN_DEADLINE;
        loop {
            let reading = self.reader.turn(&self.master, &mut self.buffer);
            let reading = tokio::time::timeout_at(deadline.into(), reading).await;
            self.take_output();
            if reading != Ok(Reading::Open) {
                return self.take_rest();
            }
        }
    }

    fn outcome(&self) -> Outcome {
        let (code, signal) = match self.status {
            Some(WaitStatus::Exited(code)) => (Some(code), None),
            Some(WaitStatus::Signaled(signal)) => (Some(128 + signal), Some(signal)),
            Some(WaitStatus::Unknown) | None => (None, None),
        };
        let disposed = match self.ending {
            Ending::No => false,
            Ending::Processes { disposed } | Ending::Gone { disposed, .. } => disposed,
        };
        Outcome {
            code,
            abort: disposed.then_some(AbortReason::User),
            details: ExitDetails {
                signal,
                ..ExitDetails::default()
            },
            ..Outcome::default()
        }
    }

    fn show_end(&self, outcome: &Outcome) {
        let command = self.execution.command.clone();
        {
            let mut live = lock(&self.live);
            live.last = Some((self.execution.shell_id, command, outcome.code));
        }
        self.show();
    }

    fn tell_watchers(&mut self, outcome: &Outcome) {
        let mut execution = self.execution.clone();
        execution.phase = Phase::Ended;
        execution.ended_ms = self.session.disposed_ms;
        execution.outcome = outcome.clone();
        let finished = Finished {
            execution: Ok(Arc::new(execution)),
            cwd: self.session.cwd.clone(),
            output: Some(self.recording.end()),
        };
        for watcher in std::mem::take(&mut self.watchers) {
            drop(watcher.send(finished.clone()));
        }
    }
}

/// An output of nothing, for a shell that never wrote.
pub(super) const NO_OUTPUT: OutputEnd = OutputEnd {
    stdout: 0,
    stderr: 0,
    position: 0,
};
