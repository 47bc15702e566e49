//! The heart of a session: what follows from what, without doing any of it.
//!
//! Invariant: every submitted execution is finished exactly once, and a command
//! that may have executed a word is never begun again.

mod ends;

use ends::{aborted, ended};
use glass_model::{AbortReason, Mode, Outcome, ShellId, Startup, WaitStatus};
use std::collections::{HashMap, VecDeque};

pub(crate) use ends::{never_ran, outcome_of, rejected};

/// How often a command whose shell died before reading it is offered to
/// another one.
const OFFERS_MAX: u32 = 2;

/// Commands with the same rights share a room, and with it a warm shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RoomId(pub(crate) u32);

/// How a command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the warm shell of its room.
    Warm,
    /// By a shell of its own.
    Line,
}

/// Whether a command waits for somebody's word, and not only for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// What a session learns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    /// An accepted command; it is in the journal. One that is held goes no
    /// further before it is released, and those behind it wait for that.
    Submit(ShellId, RoomId, Held),
    /// A held command may have its turn.
    Release(ShellId),
    /// A held command must not run.
    Reject(ShellId, String),
    /// The warm shell of a room reads commands.
    ShellReady(RoomId),
    /// The warm shell of a room could not be started, or is not ready in time.
    ShellFailed(RoomId, String),
    /// The walls of a room cannot be had now.
    RoomRefused(RoomId, String),
    /// The warm shell says that it has begun the current command.
    Began,
    /// The warm shell says how the current command ended.
    Done(i32),
    /// The process of a room's warm shell ended.
    ShellExited(RoomId, WaitStatus),
    /// The process of a line-mode command ended.
    LineExited(WaitStatus),
    /// The current command cannot be run at all.
    CannotRun(String),
    /// The current command must not be run after all; none of it was.
    NotAllowed(String),
    /// Somebody wants this execution, or the current one, to stop.
    Abort(Option<ShellId>, AbortReason),
    /// Nothing of the current command, or of the session, is left.
    TreeEnded,
    /// The session is to end.
    Dispose,
}

/// What a session does about it, in this order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Start a room's warm shell with these start files.
    StartShell(RoomId, Startup),
    /// Listen to this room's shell, for which a command waits.
    Attend(RoomId),
    /// Hand this command over.
    Begin(ShellId, Way),
    /// End the processes of the current command; with `Way::Warm` its shell too.
    EndCommand(ShellId, Way),
    /// End every process of the session.
    EndSession,
    /// Record how this execution ended.
    Finish(ShellId, Outcome),
    /// The session is in line mode from now on.
    BecomeLine,
    /// Tell the watchers.
    Remark(&'static str, String),
    /// The session is over.
    Close,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Warm {
    #[default]
    Absent,
    Starting,
    Ready,
}

#[derive(Clone, Debug)]
struct Current {
    id: ShellId,
    room: RoomId,
    way: Way,
    began: bool,
    /// Known when the command ended by itself while it was being aborted.
    code: Option<i32>,
    abort: Option<AbortReason>,
}

/// Everything that decides what happens next in a session.
#[derive(Debug)]
pub(crate) struct State {
    mode: Mode,
    auto: bool,
    startup: Startup,
    /// The rooms that have a shell, or are getting one.
    warm: HashMap<RoomId, Warm>,
    queue: VecDeque<(ShellId, RoomId, Held)>,
    current: Option<Current>,
    /// How often the command at the head of the queue lost its shell unread.
    offers: u32,
    disposing: bool,
}

impl State {
    pub(crate) fn new(mode: Mode, auto: bool, startup: Startup) -> State {
        State {
            mode,
            auto,
            startup,
            warm: HashMap::new(),
            queue: VecDeque::new(),
            current: None,
            offers: 0,
            disposing: false,
        }
    }

    /// Takes up a warm shell that outlived the last daemon.
    pub(crate) fn adopt_shell(&mut self, room: RoomId, ready: bool) {
        let warm = if ready { Warm::Ready } else { Warm::Starting };
        self.warm.insert(room, warm);
    }

    /// Takes up a command that outlived the last daemon, or that a shell may
    /// have seen.
    pub(crate) fn adopt_current(&mut self, id: ShellId, room: RoomId, way: Way) {
        self.current = Some(Current {
            id,
            room,
            way,
            began: false,
            code: None,
            abort: None,
        });
    }

    /// The command that runs now.
    pub(crate) fn current(&self) -> Option<ShellId> {
        self.current.as_ref().map(|current| current.id)
    }

    /// Why the command that runs now is being ended, if it is.
    pub(crate) fn aborting(&self) -> Option<AbortReason> {
        self.current.as_ref().and_then(|current| current.abort)
    }

    /// How many commands wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing runs, waits or is being ended.
    pub(crate) fn is_idle(&self) -> bool {
        self.current.is_none() && self.queue.is_empty() && !self.disposing
    }

    /// What follows from `input`.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Submit(id, room, held) => self.submit((id, room, held), &mut effects),
            Input::Release(id) => self.release(id),
            Input::Reject(id, why) => self.reject(id, why, &mut effects),
            Input::ShellReady(room) => {
                self.warm.insert(room, Warm::Ready);
            }
            Input::ShellFailed(room, why) => self.shell_failed(room, &why, &mut effects),
            Input::RoomRefused(room, why) => self.room_refused(room, &why, &mut effects),
            Input::Began => {
                if let Some(current) = &mut self.current {
                    current.began = true;
                }
            }
            Input::Done(code) => self.done(code, &mut effects),
            Input::ShellExited(room, status) => self.shell_exited(room, status, &mut effects),
            Input::LineExited(status) => self.line_exited(status, &mut effects),
            Input::CannotRun(why) => self.cannot_run(never_ran(why), &mut effects),
            Input::NotAllowed(why) => self.cannot_run(rejected(why), &mut effects),
            Input::Abort(which, reason) => self.abort(which, reason, &mut effects),
            Input::TreeEnded => self.tree_ended(&mut effects),
            Input::Dispose => self.dispose(&mut effects),
        }
        self.advance(&mut effects);
        effects
    }

    fn submit(&mut self, queued: (ShellId, RoomId, Held), effects: &mut Vec<Effect>) {
        if self.disposing {
            effects.push(Effect::Finish(queued.0, aborted(AbortReason::User)));
        } else {
            self.queue.push_back(queued);
        }
    }

    fn release(&mut self, id: ShellId) {
        for queued in self.queue.iter_mut().filter(|queued| queued.0 == id) {
            queued.2 = Held::No;
        }
    }

    fn reject(&mut self, id: ShellId, why: String, effects: &mut Vec<Effect>) {
        let is_it = |queued: &(ShellId, RoomId, Held)| queued.0 == id && queued.2 == Held::Yes;
        if let Some(at) = self.queue.iter().position(is_it) {
            self.queue.remove(at);
            effects.push(Effect::Finish(id, rejected(why)));
        }
    }

    /// Begins the next command when nothing stands in its way.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        if self.disposing || self.current.is_some() {
            return;
        }
        let Some(&(id, room, Held::No)) = self.queue.front() else {
            return;
        };
        let way = match (self.mode, self.warm_of(room)) {
            // Sessions on a terminal have a task of their own.
            (Mode::Line | Mode::Pty, _) => Way::Line,
            (Mode::Pipe, Warm::Ready) => Way::Warm,
            (Mode::Pipe, Warm::Starting) => return effects.push(Effect::Attend(room)),
            (Mode::Pipe, Warm::Absent) => return self.start_shell(room, effects),
        };
        self.queue.pop_front();
        self.current = Some(Current {
            id,
            room,
            way,
            began: false,
            code: None,
            abort: None,
        });
        effects.push(Effect::Begin(id, way));
    }

    fn warm_of(&self, room: RoomId) -> Warm {
        self.warm.get(&room).copied().unwrap_or_default()
    }

    /// Whether this room's shell could be ended without anybody missing it now.
    pub(crate) fn is_resting(&self, room: RoomId) -> bool {
        self.current
            .as_ref()
            .is_none_or(|current| current.room != room)
            && self.queue.iter().all(|(_, queued, _)| *queued != room)
    }

    fn start_shell(&mut self, room: RoomId, effects: &mut Vec<Effect>) {
        let is_absent = self.warm_of(room) == Warm::Absent;
        // One shell is attended to at a time: a command that runs in another room
        // goes first, and who needs this shell then will start it.
        let is_free = self
            .current
            .as_ref()
            .is_none_or(|current| current.room == room);
        if is_absent && is_free && self.mode == Mode::Pipe && !self.disposing {
            self.warm.insert(room, Warm::Starting);
            effects.push(Effect::StartShell(room, self.startup));
        }
    }

    /// Starts the warm shell of a room before anybody asks for it.
    pub(crate) fn warm_up(&mut self, room: RoomId) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.start_shell(room, &mut effects);
        effects
    }

    fn shell_failed(&mut self, room: RoomId, why: &str, effects: &mut Vec<Effect>) {
        self.warm.remove(&room);
        if self.disposing {
            return;
        }
        if self.startup != Startup::Nothing {
            // Whatever hangs or fails in the start files would do so again.
            self.startup = Startup::Nothing;
            effects.push(Effect::Remark(
                "fallback",
                format!("the shell goes on without its start files: {why}"),
            ));
            self.start_shell(room, effects);
        } else if self.auto {
            self.become_line(why, effects);
        } else {
            let outcome = never_ran(format!("the shell does not start: {why}"));
            self.lose_queued(room, &outcome, effects);
        }
    }

    /// Without its walls nothing runs in a room; the next command tries again.
    fn room_refused(&mut self, room: RoomId, why: &str, effects: &mut Vec<Effect>) {
        self.warm.remove(&room);
        self.lose_queued(room, &never_ran(why.to_owned()), effects);
    }

    fn lose_queued(&mut self, room: RoomId, outcome: &Outcome, effects: &mut Vec<Effect>) {
        let (lost, kept) = std::mem::take(&mut self.queue)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(_, queued, _)| *queued == room);
        self.queue = kept;
        for (id, ..) in lost {
            effects.push(Effect::Finish(id, outcome.clone()));
        }
    }

    fn become_line(&mut self, why: &str, effects: &mut Vec<Effect>) {
        self.mode = Mode::Line;
        effects.push(Effect::BecomeLine);
        effects.push(Effect::Remark(
            "fallback",
            format!("every command gets a shell of its own from now on: {why}"),
        ));
    }

    fn done(&mut self, code: i32, effects: &mut Vec<Effect>) {
        let Some(current) = &mut self.current else {
            return;
        };
        if current.abort.is_some() {
            // Its shell is stopped and will be ended: the answer waits for that.
            current.code = Some(code);
            return;
        }
        let id = current.id;
        self.current = None;
        self.offers = 0;
        effects.push(Effect::Finish(id, ended(code)));
    }

    fn shell_exited(&mut self, room: RoomId, status: WaitStatus, effects: &mut Vec<Effect>) {
        if self.warm_of(room) == Warm::Starting {
            return self.shell_failed(room, "it ended before it was ready", effects);
        }
        self.warm.remove(&room);
        let Some(current) = &self.current else { return };
        if current.room != room || current.way != Way::Warm || current.abort.is_some() {
            return;
        }
        let id = current.id;
        let began = current.began;
        self.current = None;
        if began {
            let mut outcome = outcome_of(status);
            outcome.details.shell_replaced = true;
            effects.push(Effect::Finish(id, outcome));
            self.start_shell(room, effects);
            return;
        }
        // The shell ended before it had begun the command: not a word of it ran.
        self.offers += 1;
        self.queue.push_front((id, room, Held::No));
        if self.offers < OFFERS_MAX {
            self.start_shell(room, effects);
        } else if self.auto {
            self.become_line("its shell keeps dying", effects);
        } else {
            self.queue.pop_front();
            self.offers = 0;
            let why = "the session's shell ended before it read the command".to_owned();
            effects.push(Effect::Finish(id, never_ran(why)));
        }
    }

    fn line_exited(&mut self, status: WaitStatus, effects: &mut Vec<Effect>) {
        let Some(current) = &mut self.current else {
            return;
        };
        let outcome = outcome_of(status);
        if current.abort.is_some() {
            // Without our signal it would have gone on: its code is not its own.
            return;
        }
        effects.push(Effect::Finish(current.id, outcome));
        self.current = None;
    }

    fn cannot_run(&mut self, outcome: Outcome, effects: &mut Vec<Effect>) {
        if let Some(current) = self.current.take() {
            let outcome = match current.abort {
                Some(reason) => aborted(reason),
                None => outcome,
            };
            effects.push(Effect::Finish(current.id, outcome));
        }
    }

    fn abort(&mut self, which: Option<ShellId>, reason: AbortReason, effects: &mut Vec<Effect>) {
        if let Some(current) = &mut self.current
            && which.is_none_or(|id| id == current.id)
        {
            if current.abort.is_none() {
                current.abort = Some(reason);
                effects.push(Effect::EndCommand(current.id, current.way));
            }
        } else if let Some(id) = which
            && let Some(at) = self.queue.iter().position(|(queued, ..)| *queued == id)
        {
            self.queue.remove(at);
            effects.push(Effect::Finish(id, aborted(reason)));
        }
    }

    fn tree_ended(&mut self, effects: &mut Vec<Effect>) {
        let mut lost = None;
        if let Some(current) = self.current.take() {
            let mut outcome = match (current.code, current.abort) {
                // It had ended by itself before the signal reached it.
                (Some(code), _) => ended(code),
                (None, reason) => aborted(reason.unwrap_or(AbortReason::User)),
            };
            if current.way == Way::Warm {
                self.warm.remove(&current.room);
                lost = Some(current.room);
                outcome.details.shell_replaced = !self.disposing;
            }
            effects.push(Effect::Finish(current.id, outcome));
        }
        if self.disposing {
            effects.push(Effect::Close);
        } else if let Some(room) = lost {
            self.start_shell(room, effects);
        }
    }

    fn dispose(&mut self, effects: &mut Vec<Effect>) {
        if self.disposing {
            return;
        }
        self.disposing = true;
        for (id, ..) in std::mem::take(&mut self.queue) {
            effects.push(Effect::Finish(id, aborted(AbortReason::User)));
        }
        if let Some(current) = &mut self.current {
            current.abort.get_or_insert(AbortReason::User);
        }
        effects.push(Effect::EndSession);
    }
}

#[cfg(test)]
mod tests;
