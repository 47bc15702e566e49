//! The task of one console: what happens, what is typed, what is shown.

use super::Typed;
use super::hearing::{Heard, Hearing};
use crate::engine::{Caller, Engine, OrderSpec, Target};
use crate::errors::LookupError;
use crate::view::Shown;
use bytes::{Bytes, BytesMut};
use glass_model::{AbortReason, Event, EventBody, Outcome, Session, ShellId, Stdin};
use glass_vt::console::{Act, Console, Manner, Whose};
use glass_vt::mirror::MirrorEvent;
use glass_vt::screen::ScreenSize;
use std::collections::VecDeque;
use std::error::Error as _;
use tokio::sync::mpsc;

/// Bytes of a piece.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// Bytes that wait for a client that does not read. Whatever it types then is not
/// taken any more.
const UNREAD_BYTES_MAX: usize = 1 << 20;

/// A piece that still waits and is shorter than this is made longer, where what
/// follows is of the same moment: each piece costs more than its bytes.
const SMALL_BYTES: usize = 1024;

/// The process number of a view that is none.
const NO_PID: i32 = -1;

pub(super) struct Task {
    engine: Engine,
    caller: Caller,
    session: Session,
    /// How large the terminal is that shows this.
    size: ScreenSize,
    console: Console,
    /// What was entered here and has not ended.
    ours: Option<ShellId>,
    /// What runs.
    running: Option<ShellId>,
    ready: VecDeque<Shown>,
    ready_bytes: usize,
    /// Bytes that are not a piece yet.
    out: Vec<u8>,
    /// When the live event happened that these bytes show.
    shown_ms: Option<i64>,
    is_live: bool,
    disposed: bool,
    over: bool,
    failed: Option<LookupError>,
}

impl Task {
    pub(super) fn new(
        engine: &Engine,
        caller: &Caller,
        session: &Session,
        (manner, size): (Manner, ScreenSize),
        hearing: &Hearing,
    ) -> Task {
        let mut out = Vec::new();
        let mut console = Console::open(manner, &session.cwd, size, &mut out);
        let cwd = session.cwd.clone();
        let ready = VecDeque::from([
            Shown::opened(NO_PID, cwd.clone()),
            Shown::undated(Bytes::from(std::mem::take(&mut out))),
            Shown::Property {
                name: "initialCwd",
                value: cwd,
            },
        ]);
        let replay = &hearing.replay;
        console.limit_replay(replay.bytes, replay.bytes_max, &mut out);
        console.feed(session.background == Some(Stdin::Open));
        Task {
            engine: engine.clone(),
            caller: caller.clone(),
            disposed: session.disposed_ms.is_some(),
            session: session.clone(),
            size,
            console,
            ours: None,
            running: None,
            ready,
            ready_bytes: 0,
            out,
            shown_ms: None,
            is_live: false,
            over: false,
            failed: None,
        }
    }

    /// Runs until the session is over, the person leaves, or nobody looks.
    pub(super) async fn run(
        mut self,
        hearing: Hearing,
        mut keys: mpsc::Receiver<Typed>,
        sender: mpsc::Sender<Result<Shown, LookupError>>,
    ) {
        let mut heard = hearing.start();
        let mut may_type = true;
        loop {
            if self.ready.is_empty() && self.over {
                if let Some(error) = self.failed.take() {
                    let _ = sender.send(Err(error)).await;
                }
                return;
            }
            tokio::select! {
                biased;
                () = sender.closed() => return,
                typed = keys.recv(), if may_type && !self.over => match typed {
                    Some(typed) => self.typed(typed).await,
                    // Nobody types here any more; it is still looked at.
                    None => may_type = false,
                },
                permit = sender.reserve(), if !self.ready.is_empty() => {
                    let Ok(permit) = permit else { return };
                    if let Some(shown) = self.ready.pop_front() {
                        if let Shown::Bytes { bytes, .. } = &shown {
                            self.ready_bytes = self.ready_bytes.saturating_sub(bytes.len());
                        }
                        permit.send(Ok(shown));
                    }
                }
                told = heard.recv(), if self.ready.is_empty() && !self.over => {
                    let ran = self.running;
                    self.hear(told.unwrap_or(Heard::Failed(LookupError::Stopping)));
                    if self.running != ran {
                        self.fit_terminal().await;
                    }
                    self.act().await;
                }
            }
        }
    }

    async fn typed(&mut self, typed: Typed) {
        match typed {
            Typed::Keys(_) if self.ready_bytes > UNREAD_BYTES_MAX => {
                // Half of what was meant must not run.
                self.console.forget_typed(&mut self.out);
                self.out.clear();
            }
            Typed::Keys(bytes) if self.on_terminal() => self.press(bytes).await,
            Typed::Keys(bytes) => self.console.type_in(&bytes, &mut self.out),
            Typed::Size(size) => {
                self.size = size;
                self.console.resize(size, &mut self.out);
                self.fit_terminal().await;
            }
        }
        self.act().await;
        self.flush();
    }

    /// Whether what runs has a terminal, which every key is for.
    fn on_terminal(&self) -> bool {
        self.running.is_some() && self.session.background == Some(Stdin::Terminal)
    }

    async fn press(&mut self, keys: Bytes) {
        let Some(running) = self.running else { return };
        let typed = self.engine.type_keys(&self.caller, running, keys).await;
        if let Err(error) = typed {
            self.console.remark(&error.to_string(), &mut self.out);
        }
    }

    /// The terminal of what runs is as large as the one that shows it.
    async fn fit_terminal(&self) {
        if self.on_terminal() {
            let (id, size) = (&self.session.id, self.size);
            self.engine.resize_terminal(id, size).await;
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Event(event, output, has_more) => {
                if self.is_live {
                    self.shown_ms = Some(event.at_ms);
                }
                self.show(&event, &output);
                if has_more && self.out.len() < PIECE_BYTES_MAX {
                    return;
                }
            }
            Heard::Late(bytes) => self.show_output(&bytes),
            Heard::Replayed(next) => {
                self.console.settle(&mut self.out);
                self.flush();
                self.is_live = true;
                self.ready.push_back(Shown::Ready { next: Some(next) });
            }
            Heard::Over if self.disposed => {
                self.flush();
                self.ready.push_back(Shown::Exited { code: None });
                self.over = true;
            }
            // A daemon that stops is no end.
            Heard::Over => self.fail(LookupError::Stopping),
            Heard::Failed(error) => self.fail(error),
        }
        self.flush();
    }

    fn fail(&mut self, error: LookupError) {
        self.failed = Some(error);
        self.over = true;
    }

    fn flush(&mut self) {
        let mut rest = Bytes::from(std::mem::take(&mut self.out));
        self.ready_bytes += rest.len();
        // What comes of keys later is as young as they are, and not as old as this.
        let at_ms = self.shown_ms.take();
        join_small(self.ready.back_mut(), &mut rest, at_ms);
        while !rest.is_empty() {
            let bytes = rest.split_to(rest.len().min(PIECE_BYTES_MAX));
            self.ready.push_back(Shown::Bytes { bytes, at_ms });
        }
    }

    fn whose(&self, id: Option<ShellId>) -> Whose {
        match id.is_some() && id == self.ours {
            true => Whose::Ours,
            false => Whose::Others,
        }
    }

    fn show(&mut self, event: &Event, output: &[u8]) {
        let whose = self.whose(event.shell_id);
        match &event.body {
            EventBody::CommandStart { command, .. } => {
                self.running = event.shell_id;
                let event = MirrorEvent::CommandStart { command };
                self.console.show(event, whose, &mut self.out);
            }
            EventBody::Output { bytes, .. } => {
                if !self.console.drops_whole(*bytes) {
                    self.show_output(output);
                }
            }
            EventBody::Dropped { dropped, .. } => {
                let notice = format!("[{} bytes dropped: {}]\n", dropped.bytes, dropped.reason);
                self.show_output(notice.as_bytes());
            }
            EventBody::Exit { outcome, .. } => self.show_exit(event.shell_id, whose, outcome),
            EventBody::Cwd { cwd } => {
                self.flush();
                self.ready.push_back(Shown::Property {
                    name: "cwd",
                    value: cwd.clone(),
                });
                let event = MirrorEvent::Cwd { path: cwd };
                self.console.show(event, whose, &mut self.out);
            }
            EventBody::ApprovalPending {
                approval_id,
                reason,
                ..
            } if whose == Whose::Ours => {
                let remark = format!("waits for approval {approval_id}: {reason}");
                self.console.remark(&remark, &mut self.out);
            }
            EventBody::Disposed => self.disposed = true,
            EventBody::ApprovalPending { .. } | EventBody::Status { .. } => {}
        }
    }

    fn show_output(&mut self, bytes: &[u8]) {
        let event = MirrorEvent::Output { bytes };
        self.console.show(event, Whose::Others, &mut self.out);
    }

    fn show_exit(&mut self, id: Option<ShellId>, whose: Whose, outcome: &Outcome) {
        let ran = id.is_some() && id == self.running;
        if !ran && whose == Whose::Others {
            // It waited for its turn, and nobody saw it.
            return;
        }
        if let Some(remark) = why(outcome).filter(|_| outcome.code.is_none()) {
            self.console.remark(&remark, &mut self.out);
        }
        let code = outcome.code;
        let event = MirrorEvent::Exit { code };
        self.console.show(event, whose, &mut self.out);
        if ran {
            self.running = None;
        }
        if whose == Whose::Ours {
            self.ours = None;
        }
    }

    /// Does what the keys mean, until more has to be typed or to happen.
    async fn act(&mut self) {
        let before = self.out.len();
        while self.is_live && !self.over {
            let Some(act) = self.console.step(&mut self.out) else {
                break;
            };
            match act {
                Act::Run(command) => self.enter(command).await,
                Act::Interrupt => self.interrupt(),
                Act::Feed(text) => self.give(&text).await,
                Act::EndFeed => self.give("\x04").await,
                Act::Leave => self.leave(),
            }
        }
        if self.out.len() != before {
            self.flush();
        }
    }

    /// Runs a line as any other command of whoever types.
    async fn enter(&mut self, command: String) {
        // It is seen that it was entered before it is known whether it may run.
        self.flush();
        let target = Target::Session(self.session.id.to_string());
        let order = OrderSpec {
            command,
            ..OrderSpec::default()
        };
        match self.engine.execute(&self.caller, target, order).await {
            Ok(ticket) => self.ours = Some(ticket.shell_id),
            Err(error) => {
                let mut why = error.to_string();
                if let Some(source) = error.source() {
                    why = format!("{why}: {source}");
                }
                self.console.refuse(&why, &mut self.out);
            }
        }
    }

    /// The answer comes when nothing of the command is left; the view goes on.
    fn interrupt(&self) {
        let (engine, caller) = (self.engine.clone(), self.caller.clone());
        let id = self.session.id.clone();
        // What is seen to run, which may be over by now, or else what was entered
        // here and waits.
        let which = self.running.or(self.ours);
        tokio::spawn(async move {
            if let Err(error) = engine.cancel(&caller, id.as_str(), which).await {
                tracing::debug!(%error, "nothing was cancelled");
            }
        });
    }

    async fn give(&mut self, text: &str) {
        let Some(running) = self.running else { return };
        let given = self.engine.write_stdin(&self.caller, running, text).await;
        if let Err(error) = given {
            self.console.remark(&error.to_string(), &mut self.out);
        }
    }

    fn leave(&mut self) {
        self.flush();
        self.ready.push_back(Shown::Property {
            name: "left",
            value: "true".to_owned(),
        });
        self.over = true;
    }
}

/// Moves bytes to a small piece before them, if there is one of the same moment.
fn join_small(last: Option<&mut Shown>, rest: &mut Bytes, now: Option<i64>) {
    let Some(Shown::Bytes { bytes, at_ms }) = last else {
        return;
    };
    if *at_ms == now && bytes.len() < SMALL_BYTES {
        let moved = rest.split_to(rest.len().min(SMALL_BYTES));
        let mut joined = BytesMut::from(std::mem::take(bytes));
        joined.extend_from_slice(&moved);
        *bytes = joined.freeze();
    }
}

/// Why a command ended, where its code does not say it.
fn why(outcome: &Outcome) -> Option<String> {
    if let Some(rejected) = &outcome.rejected {
        return Some(format!("refused: {rejected}"));
    }
    if let Some(error) = &outcome.spawn_error {
        return Some(format!("not run: {error}"));
    }
    match outcome.abort {
        Some(AbortReason::User) => Some("cancelled".to_owned()),
        Some(AbortReason::Timeout) => Some("its time was up".to_owned()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES_MAX, SMALL_BYTES, join_small};
    use crate::view::Shown;
    use bytes::Bytes;
    use std::collections::VecDeque;

    /// Flushes as the task does.
    fn push(ready: &mut VecDeque<Shown>, text: &[u8], at_ms: Option<i64>) {
        let mut rest = Bytes::copy_from_slice(text);
        join_small(ready.back_mut(), &mut rest, at_ms);
        if !rest.is_empty() {
            ready.push_back(Shown::Bytes { bytes: rest, at_ms });
        }
    }

    #[test]
    fn what_comes_byte_by_byte_and_is_not_read_waits_in_few_pieces() {
        let mut ready = VecDeque::new();
        for _ in 0..PIECE_BYTES_MAX {
            push(&mut ready, b"\x07", None);
        }
        assert!(
            ready.len() <= PIECE_BYTES_MAX / SMALL_BYTES,
            "{}",
            ready.len()
        );
        let bytes: usize = ready.iter().map(length).sum();
        assert_eq!(bytes, PIECE_BYTES_MAX, "nothing is lost");
    }

    #[test]
    fn what_is_of_another_moment_or_behind_something_else_is_a_piece_of_its_own() {
        let mut ready = VecDeque::new();
        push(&mut ready, b"a", None);
        push(&mut ready, b"b", Some(1));
        ready.push_back(Shown::Ready { next: None });
        push(&mut ready, b"c", Some(1));
        assert_eq!(ready.len(), 4);
    }

    fn length(shown: &Shown) -> usize {
        match shown {
            Shown::Bytes { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }
}
