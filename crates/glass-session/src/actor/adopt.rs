//! Taking up what the last daemon left: its shells, its commands, its pipes.

use super::begin::begun_name;
use super::{Actor, Aftermath, Cost, OutputEnd, Running, Tail};
use crate::context::now_ms;
use crate::pipes::{self, Pair, Slots, labels};
use crate::recording::{Begun, Recording, When};
use crate::routes::Note;
use crate::shell::{
    self, OWN_LABELS, REPORT_LABEL, REQUEST_LABEL, STDIN_LABEL, WALLS_LABEL, WarmShell,
};
use crate::state::{Held, Input, Way, never_ran};
use crate::tag::Tag;
use glass_model::{
    Answer, Event, Execution, ExitDetails, LaunchId, Outcome, Phase, ShellId, WaitStatus,
};
use glass_spawn::{LaunchInfo, Launched, tree};
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The clock ticks of the process table, in milliseconds.
const TICK_MS: i64 = 10;

/// What the last daemon left of a session.
pub(crate) struct Inheritance {
    /// The keeper's children, with the descriptors that it held.
    pub(crate) children: Vec<Child>,
    /// Every execution of the session, in order.
    pub(crate) executions: Vec<Execution>,
}

/// A child of the keeper that belongs to the session.
pub(crate) struct Child {
    pub(crate) info: LaunchInfo,
    pub(crate) tag: Tag,
    pub(crate) fds: HashMap<String, OwnedFd>,
}

impl Child {
    fn pair(&mut self, slot: u32) -> Option<Pair> {
        let (out, err) = labels(slot);
        Some((self.fds.remove(&out)?, self.fds.remove(&err)?))
    }
}

impl Actor {
    pub(super) async fn inherit(&mut self, inheritance: Inheritance) {
        let Inheritance {
            children,
            executions,
        } = inheritance;
        self.distrust(&executions);
        self.restore_trust(&executions).await;
        let kept = warm_to_keep(&children, &executions);
        let busy = executions.iter().find(|run| run.phase == Phase::Running);
        let busy = busy.and_then(|execution| execution.launch);
        for mut child in children {
            let status = child.info.status;
            let id = child.info.id;
            self.launches.add(launched(&child.info));
            self.context.routes.add(id, self.note_sender.clone());
            let taken = match child.tag.clone() {
                Tag::Warm { nonce, room, .. } if kept.contains(&id) => {
                    let room = self.room_of_key(room);
                    let before = self.room.id;
                    self.move_to_room(room);
                    let taken = self.inherit_warm(&mut child, nonce, &executions);
                    if busy.is_some() && busy != Some(id) {
                        // The room of the command that runs stays the one that
                        // is attended to.
                        self.move_to_room(before);
                    }
                    taken
                }
                Tag::Warm { .. } => {
                    if status.is_none() {
                        self.end_unneeded(launched(&child.info));
                    }
                    self.inherit_tails(&mut child, &executions).map(drop)
                }
                Tag::Line { shell_id, .. } => self.inherit_line(&mut child, shell_id, &executions),
                // A session's mode never becomes another one's.
                Tag::Pty { .. } => {
                    self.end_unneeded(launched(&child.info));
                    Ok(())
                }
            };
            if let Err(error) = taken {
                tracing::error!(session = %self.session.id, %error, "a shell could not be adopted");
            }
            crate::failpoint::hit("adopted-child");
            if let Some(status) = status {
                self.exited_unheard(id, status);
            }
        }
        self.inherit_executions(executions).await;
    }

    fn exited_unheard(&self, id: LaunchId, status: WaitStatus) {
        // Our own receiver is alive as long as we are.
        drop(self.note_sender.send(Note::Exited(id, status, None)));
    }

    fn inherit_warm(
        &mut self,
        child: &mut Child,
        nonce: String,
        executions: &[Execution],
    ) -> io::Result<()> {
        let (Some(request), Some(report)) = (
            child.fds.remove(REQUEST_LABEL),
            child.fds.remove(REPORT_LABEL),
        ) else {
            return Err(io::Error::other("the keeper lost its control channels"));
        };
        let own = match OWN_LABELS.map(|label| child.fds.remove(label)) {
            [Some(out), Some(err)] => Some((out, err)),
            _ => None,
        };
        let slots = self.inherit_tails(child, executions)?;
        let mut shell = WarmShell::adopt(
            launched(&child.info),
            nonce.clone(),
            slots,
            request,
            report,
            child.fds.remove(WALLS_LABEL),
            own,
        )?;
        let running = self.running.as_ref().map(|running| running.shell_id);
        if !self.is_run_by(child.info.id) {
            // Ready or not, it answers when it is.
            let limit = self.context.startup_time(self.session.startup);
            shell.ready_by = Some(Instant::now() + limit);
        }
        self.room.shell = Some(shell);
        let busy = running.filter(|_| self.is_run_by(child.info.id));
        self.state.adopt_shell(self.room.id, busy.is_some());
        let Some(id) = busy else {
            self.ask_whether_ready();
            return Ok(());
        };
        self.watch_warm();
        self.look_at_running();
        if let (Some(shell), Some(running)) = (&mut self.room.shell, &mut self.running) {
            running.recording.lend(shell.own.take());
        }
        self.state.adopt_current(id, self.room.id, Way::Warm);
        if self.dir.join(begun_name(id)).exists() {
            self.begun_noted = true;
            // A command that runs is followed by nothing.
            drop(self.state.step(Input::Began));
        }
        let execution = executions.iter().find(|execution| execution.shell_id == id);
        let Some(execution) = execution.filter(|_| child.info.status.is_none()) else {
            // A shell that has ended reads nothing; what it said is still there.
            return Ok(());
        };
        let slot = execution.slot;
        let encoded = self
            .warm_request(execution, &nonce, slot)
            .map_err(io::Error::other)?;
        if let Some(text) = &encoded.file {
            self.write_command(id, text)?;
        }
        // Sent again in case it never was; a driver ignores what it has run.
        crate::failpoint::hit("adopt-resend");
        if let Some(shell) = &self.room.shell {
            shell.send(&encoded.message)?;
        }
        crate::failpoint::hit("adopt-resent");
        Ok(())
    }

    /// Goes on recording every pair of pipes for the execution that had it last:
    /// the one that runs, or one that left something behind.
    fn inherit_tails(&mut self, child: &mut Child, executions: &[Execution]) -> io::Result<Slots> {
        let launch = child.info.id;
        let mut next = 0;
        let mut free = Vec::new();
        while let Some(pair) = child.pair(next) {
            let slot = next;
            next += 1;
            let owner = executions
                .iter()
                .rev()
                .find(|execution| execution.launch == Some(launch) && execution.slot == slot);
            let Some(owner) = owner else {
                free.push((slot, pair));
                continue;
            };
            let recording = self.go_on_recording(owner.shell_id, pair)?;
            if owner.phase == Phase::Running {
                self.running = Some(self.run_on(owner, recording, &child.info));
            } else {
                self.push_tail(Tail {
                    recording,
                    slot,
                    launch,
                });
            }
        }
        let mut slots = Slots::new(&self.room.dir, next);
        for (slot, pair) in free {
            slots.give_back(slot, pair);
        }
        Ok(slots)
    }

    fn inherit_line(
        &mut self,
        child: &mut Child,
        shell_id: ShellId,
        executions: &[Execution],
    ) -> io::Result<()> {
        // A handle that never came into the journal may have been given out
        // again, so it is the launch that counts.
        let execution = executions
            .iter()
            .find(|run| run.shell_id == shell_id && run.launch == Some(child.info.id));
        let Some(execution) = execution else {
            // It waits for a command that it was never sent, and is not needed.
            self.end_unneeded(launched(&child.info));
            return Ok(());
        };
        let Some(pair) = child.pair(0) else {
            return Err(io::Error::other("the keeper lost its pipes"));
        };
        let mut recording = self.go_on_recording(shell_id, pair)?;
        if self.has_terminal() {
            recording = recording.of_own_terminal();
        }
        if execution.phase == Phase::Ended {
            self.push_tail(Tail {
                recording,
                slot: 0,
                launch: child.info.id,
            });
            return Ok(());
        }
        let room = self.room_for(&execution.sandbox);
        self.move_to_room(room);
        self.running = Some(Running {
            // The keeper has none where it was ended.
            stdin: child.fds.remove(STDIN_LABEL),
            ..self.run_on(execution, recording, &child.info)
        });
        self.watch_running(None);
        self.look_at_running();
        self.state.adopt_current(shell_id, self.room.id, Way::Line);
        let encoded = self.line_request(execution).map_err(io::Error::other)?;
        if let Some(text) = &encoded.file {
            self.write_command(shell_id, text)?;
        }
        crate::failpoint::hit("line-resend");
        if let Some(channel) = child.fds.remove(REQUEST_LABEL) {
            // One that has read its request reads no other, or is gone.
            drop(shell::send_whole(&channel, &encoded.message));
            if let Some(running) = self
                .running
                .as_mut()
                .filter(|_| self.session.is_elsewhere())
            {
                running.relay = Some(channel);
            }
        }
        crate::failpoint::hit("line-resent");
        Ok(())
    }

    fn go_on_recording(&self, shell_id: ShellId, pair: Pair) -> io::Result<Recording> {
        let store = &self.context.store;
        let recorded = store.recorded(shell_id).map_err(io::Error::other)?;
        let named = OutputEnd {
            stdout: recorded.stdout,
            stderr: recorded.stderr,
            position: recorded.position,
        };
        let quota = self.context.settings.limits.execution_output_bytes_max;
        Ok(Recording::new(store, shell_id, pair, named, Begun::Before).within(quota))
    }

    /// Names what an execution has in its files, once its pipes are gone.
    fn name_what_is_left(&mut self, id: ShellId) -> io::Result<()> {
        let deserted = || pipes::plain().map(|(read, _)| read);
        let mut recording = self.go_on_recording(id, (deserted()?, deserted()?))?;
        let bodies = recording.name(&self.context.store, When::Last);
        let events: Vec<Event> = bodies
            .map_err(io::Error::other)?
            .into_iter()
            .map(|body| self.event(Some(id), body))
            .collect();
        let changes = events.iter().map(|event| self.recorded(event)).collect();
        let finished = None;
        self.write(changes, Aftermath { events, finished });
        Ok(())
    }

    fn is_run_by(&self, launch: LaunchId) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.launched.id == launch)
    }

    fn run_on(&self, execution: &Execution, recording: Recording, info: &LaunchInfo) -> Running {
        let elapsed_ms = (now_ms() - execution.started_ms).max(0);
        let ticks = u64::try_from(elapsed_ms / TICK_MS).unwrap_or(0) + 1;
        let left = i64::from(execution.timeout_ms) - elapsed_ms;
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        Running {
            shell_id: execution.shell_id,
            recording,
            slot: execution.slot,
            launched: launched(info),
            since_ticks: tree::now_ticks().saturating_sub(ticks),
            deadline: (execution.timeout_ms > 0).then(|| Instant::now() + left),
            oom_before: glass_spawn::oom_kills(&launched(info)),
            stdin: None,
            relay: None,
            cost: Cost::default(),
        }
    }

    /// Puts every execution that was not over where it belongs.
    async fn inherit_executions(&mut self, executions: Vec<Execution>) {
        let running = self.running.as_ref().map(|running| running.shell_id);
        let mut queued = Vec::new();
        for execution in executions {
            let id = execution.shell_id;
            match execution.phase {
                Phase::Ended => continue,
                Phase::Running if Some(id) == running => {
                    self.accepted.insert(id, execution);
                }
                Phase::Running => {
                    // Its process went with the keeper; nobody knows how.
                    self.accepted.insert(id, execution);
                    if let Err(error) = self.name_what_is_left(id) {
                        tracing::error!(%error, "recorded output could not be named");
                    }
                    let details = ExitDetails {
                        shell_replaced: true,
                        ..ExitDetails::default()
                    };
                    self.finish(
                        id,
                        Outcome {
                            details,
                            ..Outcome::default()
                        },
                    );
                }
                Phase::Queued => queued.push(execution),
            }
        }
        for execution in queued {
            let id = execution.shell_id;
            let attachable = !execution.tool_call_id.is_empty();
            let room = self.room_for(&execution.sandbox);
            let held = match execution.held {
                // Whoever made us asks about it anew.
                true => Held::Yes,
                false => Held::No,
            };
            self.accepted.insert(id, execution);
            if attachable {
                self.take(Input::Submit(id, room, held)).await;
            } else {
                // Its caller lost the connection, cannot find it again, and may
                // have asked anew.
                let why = "the daemon was restarted before the command began";
                if held == Held::Yes {
                    let answered = self.audit_answered(id, &Answer::default(), "restart");
                    self.write(vec![answered], Aftermath::default());
                }
                self.finish(id, never_ran(why.to_owned()));
            }
        }
        let running = self.running.as_ref().map(|running| running.shell_id);
        if let Some((id, reason)) = running.and_then(|id| Some((id, self.noted_abort(id)?))) {
            // The last daemon died while it was ending this command.
            self.take(Input::Abort(Some(id), reason)).await;
        }
        crate::failpoint::hit("adopted");
        self.flush();
        self.show();
    }
}

/// The warm shells to go on with, one for each room: the one that has the
/// running command, also when it has ended since, and otherwise the newest that
/// lives.
fn warm_to_keep(children: &[Child], executions: &[Execution]) -> Vec<LaunchId> {
    let running = executions.iter().find(|run| run.phase == Phase::Running);
    let busy = running.and_then(|execution| execution.launch);
    let mut kept: HashMap<&str, &LaunchInfo> = HashMap::new();
    for child in children {
        let Tag::Warm { room, .. } = &child.tag else {
            continue;
        };
        let info = &child.info;
        let is_busy = Some(info.id) == busy;
        if !is_busy && info.status.is_some() {
            continue;
        }
        let best = kept.entry(room).or_insert(info);
        if is_busy || (Some(best.id) != busy && best.id < info.id) {
            *best = info;
        }
    }
    kept.values().map(|info| info.id).collect()
}

pub(crate) fn launched(info: &LaunchInfo) -> Launched {
    Launched {
        id: info.id,
        child: info.child,
        reaper: info.reaper,
        init: info.init,
        cgroup: info.cgroup.clone(),
        memory: info.memory.clone(),
    }
}
