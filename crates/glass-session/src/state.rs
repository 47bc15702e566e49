//! The heart of a session: what follows from what, without doing any of it.
//!
//! Invariant: every submitted execution is finished exactly once, and a command
//! that may have executed a word is never begun again.

use glass_model::signal_of_exit_code;
use glass_model::{AbortReason, ExitDetails, Mode, Outcome, ShellId, Startup, WaitStatus};
use std::collections::VecDeque;

/// How often a command whose shell died before reading it is offered to
/// another one.
const OFFERS_MAX: u32 = 2;

/// How a command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the session's warm shell.
    Warm,
    /// By a shell of its own.
    Line,
}

/// What a session learns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    /// An accepted command; it is in the journal.
    Submit(ShellId),
    /// The warm shell reads commands.
    ShellReady,
    /// The warm shell could not be started, or is not ready in time.
    ShellFailed(String),
    /// The warm shell says that it has begun the current command.
    Began,
    /// The warm shell says how the current command ended.
    Done(i32),
    /// The warm shell's process ended.
    ShellExited(WaitStatus),
    /// The process of a line-mode command ended.
    LineExited(WaitStatus),
    /// The current command cannot be run at all.
    CannotRun(String),
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
    /// Start a warm shell with these start files.
    StartShell(Startup),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warm {
    Absent,
    Starting,
    Ready,
}

#[derive(Clone, Debug)]
struct Current {
    id: ShellId,
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
    warm: Warm,
    queue: VecDeque<ShellId>,
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
            warm: Warm::Absent,
            queue: VecDeque::new(),
            current: None,
            offers: 0,
            disposing: false,
        }
    }

    /// Takes up a warm shell that outlived the last daemon.
    pub(crate) fn adopt_shell(&mut self, ready: bool) {
        self.warm = if ready { Warm::Ready } else { Warm::Starting };
    }

    /// Takes up a command that outlived the last daemon, or that a shell may
    /// have seen.
    pub(crate) fn adopt_current(&mut self, id: ShellId, way: Way) {
        self.current = Some(Current {
            id,
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
            Input::Submit(id) => self.submit(id, &mut effects),
            Input::ShellReady => self.warm = Warm::Ready,
            Input::ShellFailed(why) => self.shell_failed(&why, &mut effects),
            Input::Began => {
                if let Some(current) = &mut self.current {
                    current.began = true;
                }
            }
            Input::Done(code) => self.done(code, &mut effects),
            Input::ShellExited(status) => self.shell_exited(status, &mut effects),
            Input::LineExited(status) => self.line_exited(status, &mut effects),
            Input::CannotRun(why) => self.cannot_run(why, &mut effects),
            Input::Abort(which, reason) => self.abort(which, reason, &mut effects),
            Input::TreeEnded => self.tree_ended(&mut effects),
            Input::Dispose => self.dispose(&mut effects),
        }
        self.advance(&mut effects);
        effects
    }

    fn submit(&mut self, id: ShellId, effects: &mut Vec<Effect>) {
        if self.disposing {
            effects.push(Effect::Finish(id, aborted(AbortReason::User)));
        } else {
            self.queue.push_back(id);
        }
    }

    /// Begins the next command when nothing stands in its way.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        if self.disposing || self.current.is_some() {
            return;
        }
        let Some(&id) = self.queue.front() else {
            return;
        };
        let way = match (self.mode, self.warm) {
            (Mode::Line, _) => Way::Line,
            (Mode::Pipe, Warm::Ready) => Way::Warm,
            (Mode::Pipe, Warm::Starting) => return,
            (Mode::Pipe, Warm::Absent) => return self.start_shell(effects),
        };
        self.queue.pop_front();
        self.current = Some(Current {
            id,
            way,
            began: false,
            code: None,
            abort: None,
        });
        effects.push(Effect::Begin(id, way));
    }

    fn start_shell(&mut self, effects: &mut Vec<Effect>) {
        if self.warm == Warm::Absent && self.mode == Mode::Pipe && !self.disposing {
            self.warm = Warm::Starting;
            effects.push(Effect::StartShell(self.startup));
        }
    }

    /// Starts the warm shell before anybody asks for it.
    pub(crate) fn warm_up(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.start_shell(&mut effects);
        effects
    }

    fn shell_failed(&mut self, why: &str, effects: &mut Vec<Effect>) {
        self.warm = Warm::Absent;
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
            self.start_shell(effects);
        } else if self.auto {
            self.become_line(why, effects);
        } else {
            let outcome = never_ran(format!("the shell does not start: {why}"));
            for id in std::mem::take(&mut self.queue) {
                effects.push(Effect::Finish(id, outcome.clone()));
            }
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

    fn shell_exited(&mut self, status: WaitStatus, effects: &mut Vec<Effect>) {
        if self.warm == Warm::Starting {
            return self.shell_failed("it ended before it was ready", effects);
        }
        self.warm = Warm::Absent;
        let Some(current) = &self.current else { return };
        if current.way != Way::Warm || current.abort.is_some() {
            return;
        }
        let id = current.id;
        let began = current.began;
        self.current = None;
        if began {
            let mut outcome = outcome_of(status);
            outcome.details.shell_replaced = true;
            effects.push(Effect::Finish(id, outcome));
            self.start_shell(effects);
            return;
        }
        // The shell ended before it had begun the command: not a word of it ran.
        self.offers += 1;
        self.queue.push_front(id);
        if self.offers < OFFERS_MAX {
            self.start_shell(effects);
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

    fn cannot_run(&mut self, why: String, effects: &mut Vec<Effect>) {
        if let Some(current) = self.current.take() {
            let outcome = match current.abort {
                Some(reason) => aborted(reason),
                None => never_ran(why),
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
            && let Some(at) = self.queue.iter().position(|queued| *queued == id)
        {
            self.queue.remove(at);
            effects.push(Effect::Finish(id, aborted(reason)));
        }
    }

    fn tree_ended(&mut self, effects: &mut Vec<Effect>) {
        if let Some(current) = self.current.take() {
            let mut outcome = match (current.code, current.abort) {
                // It had ended by itself before the signal reached it.
                (Some(code), _) => ended(code),
                (None, reason) => aborted(reason.unwrap_or(AbortReason::User)),
            };
            if current.way == Way::Warm {
                self.warm = Warm::Absent;
                outcome.details.shell_replaced = !self.disposing;
            }
            effects.push(Effect::Finish(current.id, outcome));
        }
        if self.disposing {
            effects.push(Effect::Close);
        } else {
            self.start_shell(effects);
        }
    }

    fn dispose(&mut self, effects: &mut Vec<Effect>) {
        if self.disposing {
            return;
        }
        self.disposing = true;
        for id in std::mem::take(&mut self.queue) {
            effects.push(Effect::Finish(id, aborted(AbortReason::User)));
        }
        if let Some(current) = &mut self.current {
            current.abort.get_or_insert(AbortReason::User);
        }
        effects.push(Effect::EndSession);
    }
}

fn ended(code: i32) -> Outcome {
    let details = ExitDetails {
        signal: signal_of_exit_code(code),
        ..ExitDetails::default()
    };
    Outcome {
        code: Some(code),
        details,
        ..Outcome::default()
    }
}

fn outcome_of(status: WaitStatus) -> Outcome {
    match status {
        WaitStatus::Exited(code) => ended(code),
        WaitStatus::Signaled(signal) => ended(128 + signal),
        WaitStatus::Unknown => Outcome::default(),
    }
}

fn aborted(reason: AbortReason) -> Outcome {
    Outcome {
        abort: Some(reason),
        ..Outcome::default()
    }
}

pub(crate) fn never_ran(why: String) -> Outcome {
    Outcome {
        spawn_error: Some(why),
        ..Outcome::default()
    }
}

#[cfg(test)]
mod tests;
