//! What wakes a session, and what it makes of that.

use super::{Actor, BATCH_BYTES_MAX, BATCH_MS, Message, WATCH_AFTER_MS, absolute};
use crate::driver::Report;
use crate::recording::Turn;
use crate::routes::Note;
use crate::shell::{Peeked, WarmShell};
use crate::state::Input;
use glass_model::{AbortReason, ShellId, WaitStatus};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

impl Actor {
    pub(super) async fn on_message(&mut self, message: Message) {
        match message {
            Message::Execute {
                execution,
                adapted,
                judged,
                reply,
                done,
            } => {
                self.accept(*execution, adapted, judged, reply, done).await;
            }
            Message::Judge { shell_id, judged } => self.judge(shell_id, judged).await,
            Message::Remark { shell_id, detail } => self.note_of_hook(shell_id, detail),
            Message::Answer {
                shell_id,
                answer,
                reply,
            } => {
                let _ = reply.send(self.answered(shell_id, &answer).await);
            }
            Message::Watch { shell_id, done } => self.watch(shell_id, done),
            Message::Cancel { shell_id, reply } => self.cancel(shell_id, reply).await,
            Message::Type(typed) => self.take_typed(typed).await,
            Message::Resize(size) => self.resize_terminal(size),
            Message::Cut(order) => self.answer_cut(*order).await,
            Message::Find { launch, reply } => drop(reply.send(self.launched(launch))),
            Message::Dispose { reply } => {
                self.disposals.push(reply);
                self.take(Input::Dispose).await;
            }
        }
    }

    async fn cancel(&mut self, shell_id: Option<ShellId>, reply: oneshot::Sender<bool>) {
        let Some(id) = shell_id.or(self.state.current()) else {
            let _ = reply.send(false);
            return;
        };
        if !self.accepted.contains_key(&id) {
            let _ = reply.send(false);
            return;
        }
        self.cancels.push((id, reply));
        self.take(Input::Abort(Some(id), AbortReason::User)).await;
    }

    pub(super) async fn on_note(&mut self, note: Note) {
        match note {
            Note::TreeEnded(left) => {
                if let Some(left) = left {
                    self.remark("stuck", left);
                }
                self.take(Input::TreeEnded).await;
            }
            Note::Saw(seen) => self.saw(*seen),
            Note::Exited(id, status, usage) => {
                crate::failpoint::hit("exit-heard");
                self.launches.exited(id);
                if self
                    .room
                    .shell
                    .as_ref()
                    .is_some_and(|shell| shell.id() == id)
                {
                    // What it said before it ended comes first.
                    self.on_report().await;
                    self.keep_exit_state();
                    let status = if self.retire_shell() {
                        WaitStatus::Unknown
                    } else {
                        status
                    };
                    let room = self.room.id;
                    self.take(Input::ShellExited(room, status)).await;
                } else if self.parked_exited(id).await {
                    // Its room gets another shell when it needs one.
                } else if self
                    .running
                    .as_ref()
                    .is_some_and(|run| run.launched.id == id)
                {
                    self.keep_line_state();
                    let input = if self.session.is_elsewhere() {
                        // What the relay used is not what the command did.
                        self.relay_ended()
                    } else {
                        self.note_usage(usage);
                        Input::LineExited(status)
                    };
                    self.take(input).await;
                }
                self.forget_unused();
            }
        }
    }

    /// Attends to everything that the shell has reported.
    pub(super) async fn on_report(&mut self) {
        while let Some(shell) = &mut self.room.shell {
            let id = shell.id();
            let (reports, bytes) = match shell.peek() {
                Ok(Peeked::Reports(reports, bytes)) => (reports, bytes),
                Ok(Peeked::Nothing | Peeked::End) => return,
                Err(error) => {
                    tracing::warn!(session = %self.session.id, %error, "a shell speaks nonsense");
                    shell.stop_listening();
                    self.kill_shell();
                    return;
                }
            };
            crate::failpoint::hit("report-peeked");
            let only_begun = matches!(reports.last(), Some(Report::Started { .. }));
            for report in reports {
                self.believe(report).await;
            }
            crate::failpoint::hit("report-handled");
            if !self.backlog.is_empty() {
                // What it says could not be written: should we die, the next
                // daemon must hear of it. Said twice, it is known to be old.
                if let Some(shell) = &mut self.room.shell {
                    shell.leave(bytes);
                }
                return;
            }
            if only_begun {
                self.watch_at = Some(Instant::now() + Duration::from_millis(WATCH_AFTER_MS));
                if !self.hides_something(bytes) {
                    // It stays until the command is done: should we die, the
                    // next daemon must know that the command has begun.
                    if let Some(shell) = &mut self.room.shell {
                        shell.leave(bytes);
                    }
                    return;
                }
                self.note_begun();
            }
            // Only now: whoever dies before this finds the report again.
            if let Some(shell) = &mut self.room.shell
                && shell.id() == id
                && shell.consume(bytes).is_err()
            {
                self.kill_shell();
            }
            crate::failpoint::hit("report-consumed");
        }
    }

    /// Whether something stands in the channel behind these bytes. Others can
    /// write to it, and the kernel shows one writer's bytes at a time.
    fn hides_something(&self, bytes: usize) -> bool {
        let shell = self.room.shell.as_ref();
        shell.is_some_and(|shell| shell.has_more_than(bytes))
    }

    async fn believe(&mut self, report: Report) {
        let current = self
            .running
            .as_ref()
            .map(|running| u64::from(running.shell_id.0));
        let ours = |nonce: &str, shell: &Option<WarmShell>| {
            shell.as_ref().is_some_and(|shell| shell.nonce == nonce)
        };
        match report {
            Report::Ready => {
                self.shell_is_ready();
                self.take(Input::ShellReady(self.room.id)).await;
            }
            Report::Started { seq } if Some(seq) == current => self.take(Input::Began).await,
            Report::Done {
                seq,
                nonce,
                status,
                cwd,
            } if Some(seq) == current && ours(&nonce, &self.room.shell) => {
                self.reported_cwd = absolute(&cwd);
                self.take(Input::Done(status)).await;
            }
            Report::NoCwd { seq, nonce }
                if Some(seq) == current && ours(&nonce, &self.room.shell) =>
            {
                let why = self.no_directory();
                self.take(Input::CannotRun(why)).await;
            }
            Report::State { seq } => {
                self.keep_snapshot(seq);
                if let Some(shell) = &mut self.room.shell {
                    shell.ready_by = None;
                }
                // A shell of the last daemon's answers: it reads commands.
                self.take(Input::ShellReady(self.room.id)).await;
            }
            // Said before a crash and dealt with then, or not the driver's.
            stale => tracing::debug!(session = %self.session.id, ?stale, "a report without use"),
        }
    }

    pub(super) async fn on_output(&mut self) {
        let store = &self.context.store;
        let running = self
            .running
            .iter_mut()
            .map(|running| &mut running.recording);
        let tails = self.tails.iter_mut().map(|tail| &mut tail.recording);
        self.looks.wrote();
        let (mut pending, mut more) = (0, false);
        for recording in running.chain(tails) {
            match recording.turn(store) {
                Ok(turn) => more |= turn == Turn::More,
                Err(error) => tracing::error!(%error, "output could not be read"),
            }
            pending += recording.pending_bytes();
        }
        crate::failpoint::hit("output-spliced");
        let batch = Duration::from_millis(BATCH_MS);
        if pending >= BATCH_BYTES_MAX || self.last_flush.elapsed() >= batch {
            self.flush();
        } else if self.flush_at.is_none() {
            self.flush_at = Some(self.last_flush + batch);
        }
        self.settle_tails();
        if more {
            // A flood must not keep other sessions waiting.
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn on_clock(&mut self) {
        let now = Instant::now();
        if due(&mut self.retry_at, now) {
            self.retry_backlog();
            if self.backlog.is_empty() {
                self.on_report().await;
                self.forget_unused();
            }
        }
        if due(&mut self.flush_at, now) {
            self.flush();
        }
        if due(&mut self.watch_at, now) {
            self.watch_warm();
            self.begin_metering();
            self.look_at_running();
        }
        if self.looks.is_due(now) {
            self.look();
        }
        if due(&mut self.sample_at, now) {
            self.sample_memory();
        }
        if due(&mut self.snapshot_at, now) {
            self.ask_for_snapshot();
        }
        self.end_unanswered(now).await;
        if let Some(running) = &mut self.running
            && due(&mut running.deadline, now)
        {
            let id = running.shell_id;
            self.tell_timeout(id);
            self.take(Input::Abort(Some(id), AbortReason::Timeout))
                .await;
        }
        if let Some(shell) = &mut self.room.shell
            && due(&mut shell.ready_by, now)
        {
            self.kill_shell();
            self.retire_shell();
            let limit = self.context.settings.limits.startup_ms_max;
            let why = format!("it was not ready within {limit} ms");
            self.take(Input::ShellFailed(self.room.id, why)).await;
        }
    }
}

/// Whether a deadline has passed; it is then over.
fn due(deadline: &mut Option<Instant>, now: Instant) -> bool {
    let passed = deadline.is_some_and(|at| at <= now);
    if passed {
        *deadline = None;
    }
    passed
}
