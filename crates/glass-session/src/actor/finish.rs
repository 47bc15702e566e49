//! The end of an execution: its last bytes, its last event, and what becomes of
//! its pipes.

use super::begin::begun_name;
use super::{Actor, Aftermath, End, OutputEnd, SNAPSHOT_AFTER_MS, Tail};
use crate::driver;
use crate::failpoint;
use crate::recording::When;
use crate::state::Input;
use glass_model::{Event, EventBody, Outcome, ShellId, Stream};
use glass_spawn::tree;
use glass_store::Change;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long orphans of a command may take to end.
pub(crate) const ORPHANS_WITHIN: Duration = Duration::from_millis(500);

/// How much of what a failed command said is looked at.
const LAST_WORDS_BYTES: u64 = 16 * 1024;

impl Actor {
    /// Records how an execution ended. Everything that it wrote is in the
    /// journal before its exit is.
    pub(super) fn finish(&mut self, id: ShellId, mut outcome: Outcome) -> Option<Input> {
        let is_fresh = self.fresh == Some(id);
        if is_fresh && self.refused.is_some() {
            // The journal would not have it, and its caller is told so.
            self.accepted.remove(&id);
            return None;
        }
        self.eager.done(Instant::now());
        let withdrawn = self.withdraw(id);
        self.end_orphans(id);
        let mut events = self.last_output(id);
        let output = match &self.running {
            Some(running) if running.shell_id == id => running.recording.end(),
            _ => OutputEnd::default(),
        };
        failpoint::hit("drained");
        self.explain_failure(id, output, &mut outcome);
        outcome.receipt = self.receipt(id);
        let cwd = self
            .reported_cwd
            .take()
            .filter(|cwd| *cwd != self.session.cwd);
        let has_moved = cwd.is_some();
        let ran = self.running.as_ref().is_some_and(|run| run.shell_id == id);
        if let Some(cwd) = cwd {
            self.session.cwd.clone_from(&cwd);
            events.push(self.event(None, EventBody::Cwd { cwd }));
        }
        if ran {
            self.room.cwd = Some(self.session.cwd.clone());
        }
        let command = self
            .accepted
            .get(&id)
            .map(|execution| execution.command.clone())
            .unwrap_or_default();
        let long = command.len() > driver::INLINE_BYTES_MAX;
        self.room.exports_unsure |= ran && driver::may_export(&command);
        let exit = self.event(
            Some(id),
            EventBody::Exit {
                command,
                outcome: outcome.clone(),
            },
        );
        let (index, at_ms) = (exit.index, exit.at_ms);
        let change = Change::EndExecution {
            shell_id: id,
            end: Some(index),
            ended_ms: at_ms,
            outcome: outcome.clone(),
        };
        events.push(exit);
        let mut changes = Vec::new();
        if is_fresh && let Some(execution) = self.accepted.get(&id) {
            changes.push(Change::InsertExecution(execution.clone()));
            self.fresh = None;
        }
        changes.extend(events.iter().map(|event| self.recorded(event)));
        changes.push(change);
        changes.extend(withdrawn);
        changes.push(self.audit_ended(id, at_ms, &outcome));
        self.passed.remove(&id);
        self.session.active_ms = at_ms;
        if has_moved {
            changes.push(self.session_change(None));
        }
        self.write(
            changes,
            Aftermath {
                events,
                finished: Some(End {
                    shell_id: id,
                    outcome,
                    index,
                    at_ms,
                    output,
                }),
            },
        );
        self.watch_at = None;
        self.sample_at = None;
        self.look_after();
        self.keep_to_quota();
        self.release_pipes(id);
        failpoint::hit("finished");
        if self.session.is_elsewhere() {
            self.forget_relay(id);
        } else if long {
            drop(std::fs::remove_file(
                self.room.dir.join(driver::command_name(u64::from(id.0))),
            ));
        }
        if ran && std::mem::take(&mut self.begun_noted) {
            drop(std::fs::remove_file(self.dir.join(begun_name(id))));
        }
        self.forget_abort(id);
        let rest = if self.room.exports_unsure {
            0
        } else {
            SNAPSHOT_AFTER_MS
        };
        self.snapshot_at = Some(Instant::now() + Duration::from_millis(rest));
        None
    }

    /// Behind walls nothing outlives its command but the jobs of the shell itself:
    /// what got away from its parents could wait for a command with more rights.
    fn end_orphans(&self, id: ShellId) {
        let running = self.running.as_ref().filter(|run| run.shell_id == id);
        let init = running.and_then(|running| running.launched.init);
        if let Some(init) = init {
            tree::end_orphans(&init, ORPHANS_WITHIN);
        }
    }

    /// Says what the walls, or the want of a terminal, had to do with a failure, as
    /// far as that is known.
    fn explain_failure(&self, id: ShellId, output: OutputEnd, outcome: &mut Outcome) {
        let Some(running) = self.running.as_ref().filter(|run| run.shell_id == id) else {
            return;
        };
        if outcome.code == Some(0) {
            return;
        }
        if let Some(before) = running.oom_before {
            let after = glass_spawn::oom_kills(&running.launched);
            outcome.details.out_of_memory = after.is_some_and(|after| after > before);
        }
        let from = output.stderr.saturating_sub(LAST_WORDS_BYTES);
        let store = &self.context.store;
        let length = LAST_WORDS_BYTES as usize;
        let words = match output.stderr {
            0 => Ok(Vec::new()),
            _ => store.read_output(id, Stream::Stderr, from, length),
        };
        let execution = self.accepted.get(&id);
        if !self.has_terminal() {
            let command = execution.map_or("", |execution| execution.command.as_str());
            let said = words.as_deref().unwrap_or_default();
            outcome.details.wants_terminal = glass_adapt::terminal::is_wanted(command, said);
        }
        let cwd = execution.map_or(self.session.cwd.as_str(), |run| run.cwd.as_str());
        let words = words.unwrap_or_default();
        let denials = &mut outcome.details.sandbox_denials;
        if let Some(enclosure) = &self.room.enclosure {
            let plan = &enclosure.plan;
            *denials = glass_sandbox::denials(plan, Path::new(cwd), &words, outcome.code);
        }
        denials.extend(self.trust.denial(&words));
        self.report_denials(id, outcome);
    }

    /// The events for what an execution had in its pipes when it ended.
    fn last_output(&mut self, id: ShellId) -> Vec<Event> {
        let store = self.context.store.clone();
        let Some(running) = self
            .running
            .as_mut()
            .filter(|running| running.shell_id == id)
        else {
            return Vec::new();
        };
        if let Err(error) = running.recording.drain(&store) {
            tracing::error!(%error, "output could not be read");
        }
        let bodies = running
            .recording
            .name(&store, When::Last)
            .unwrap_or_else(|error| {
                tracing::error!(%error, "recorded output could not be read");
                Vec::new()
            });
        bodies
            .into_iter()
            .map(|body| self.event(Some(id), body))
            .collect()
    }

    /// Pipes that a background job holds stay with their execution; others are
    /// for the next one.
    fn release_pipes(&mut self, id: ShellId) {
        let Some(mut running) = self.running.take_if(|running| running.shell_id == id) else {
            return;
        };
        let launch = running.launched.id;
        let own = running.recording.take_back();
        if let Some(shell) = self.shell_of(launch) {
            shell.own = own;
        }
        if running.recording.is_open() {
            self.push_tail(Tail {
                recording: running.recording,
                slot: running.slot,
                launch,
            });
        } else {
            self.reuse(launch, running.slot, running.recording);
        }
        self.forget_unused();
    }

    /// Goes on reading pipes that something holds.
    pub(super) fn push_tail(&mut self, mut tail: Tail) {
        if let Err(error) = tail.recording.watch(None) {
            tracing::error!(%error, "late output cannot be waited for");
        }
        self.tails.push(tail);
    }

    pub(super) fn reuse(
        &mut self,
        launch: glass_model::LaunchId,
        slot: u32,
        recording: crate::recording::Recording,
    ) {
        if let Some(shell) = self.shell_of(launch)
            && let Some(pair) = recording.into_pipes()
        {
            shell.slots.give_back(slot, pair);
        }
    }

    /// Takes back the pipes that nothing holds any more.
    pub(super) fn settle_tails(&mut self) {
        if self.tails.iter().all(|tail| tail.recording.is_open()) {
            return;
        }
        // What is left in them is named before they serve another command.
        self.flush();
        let (open, ended): (Vec<Tail>, Vec<Tail>) = std::mem::take(&mut self.tails)
            .into_iter()
            .partition(|tail| tail.recording.is_open() || tail.recording.has_pending());
        self.tails = open;
        for tail in ended {
            self.reuse(tail.launch, tail.slot, tail.recording);
        }
        self.forget_unused();
    }

    /// Why the current command has no directory to run in.
    pub(super) fn no_directory(&self) -> String {
        let wanted = self
            .running
            .as_ref()
            .and_then(|running| self.accepted.get(&running.shell_id))
            .map(|execution| execution.requested_cwd.clone())
            .unwrap_or_default();
        format!("cannot change to '{wanted}'")
    }
}
