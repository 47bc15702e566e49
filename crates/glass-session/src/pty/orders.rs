//! What callers and clients ask of a terminal.

use super::clients::{Client, ClientId};
use super::queue::Submission;
use super::{Ending, Task, Typed, write_some};
use crate::actor::{Message, NotTaken};
use crate::routes::Note;
use crate::view::{Access, Shown};
use bytes::{Buf as _, Bytes};
use glass_model::{Role, SandboxPolicy};
use glass_spawn::terminal;
use glass_vt::screen::ScreenSize;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Ctrl+C, as a keyboard sends it.
pub(super) const CTRL_C: u8 = 0x03;

/// Bytes that wait to be typed without anybody having typed them.
const SAID_BYTES_MAX: usize = 64 * 1024;

/// The way to a terminal's task.
#[derive(Clone)]
pub(crate) struct TerminalHandle {
    pub(crate) orders: mpsc::Sender<Order>,
    /// How many more bytes may be typed before somebody reads them.
    pub(crate) input_room: Arc<Semaphore>,
    /// The rights of its shell.
    pub(crate) policy: SandboxPolicy,
}

/// What a client asks of a terminal.
pub(crate) enum Order {
    /// Look at it.
    Attach {
        access: Access,
        size: Option<ScreenSize>,
        reply: oneshot::Sender<Attached>,
    },
    /// Type something. Room for it has been taken.
    Input { client: ClientId, bytes: Bytes },
    /// The client has another size.
    Resize { client: ClientId, size: ScreenSize },
    /// The client has read on after it was too slow.
    Redraw { client: ClientId },
    /// The client has left.
    Left,
}

/// A client's place.
pub(crate) struct Attached {
    pub(crate) id: ClientId,
    pub(crate) client: Arc<Client>,
    pub(crate) pid: i32,
    pub(crate) cwd: String,
}

impl Task {
    pub(super) fn on_message(&mut self, message: Message) {
        match message {
            Message::Dispose { reply } => {
                self.disposals.push(reply);
                self.end_processes(true);
            }
            Message::Cancel { shell_id, reply } => self.cancel(shell_id, reply),
            Message::Watch { shell_id, done } => self.watch(shell_id, done),
            Message::Execute {
                execution,
                adapted,
                judged,
                reply,
                done,
            } => self.accept(Submission {
                execution: *execution,
                adapted,
                judged,
                reply,
                done,
            }),
            Message::Judge { shell_id, judged } => self.judge(shell_id, judged),
            Message::Remark { shell_id, detail } => self.remark_on(shell_id, "hook", &detail),
            Message::Answer {
                shell_id,
                answer,
                reply,
            } => {
                let _ = reply.send(self.answered(shell_id, &answer));
            }
            // It is typed at, and not written to.
            Message::Type(typed) => {
                let _ = typed.reply.send(Err(NotTaken::Refused));
            }
            Message::Cut(order) => drop(order),
            // Its own size is that of those who type.
            Message::Resize(_) => {}
            Message::Find { launch, reply } => {
                let it = Some(&self.launched).filter(|launched| launched.id == launch);
                let _ = reply.send(it.cloned());
            }
        }
    }

    pub(super) fn on_note(&mut self, note: Note) {
        match note {
            Note::Exited(id, status, _) if id == self.launched.id => {
                self.status = Some(status);
                self.end_processes(false);
            }
            Note::Exited(id, status, _) => self.plain_exited(id, status),
            Note::Saw(seen) => self.saw(*seen),
            Note::TreeEnded(left) => {
                if let Some(left) = left {
                    tracing::error!(session = %self.session.id, left, "processes stay");
                }
                if let Ending::Processes { disposed } = self.ending {
                    let since = Instant::now();
                    self.ending = Ending::Gone { disposed, since };
                }
            }
        }
    }

    pub(super) fn on_order(&mut self, order: Order) {
        match order {
            Order::Attach {
                access,
                size,
                reply,
            } => self.attach(access, size, reply),
            Order::Input { client, bytes } => self.type_in(client, bytes),
            Order::Resize { client, size } => {
                self.clients.resize(client, size);
                self.vote();
            }
            Order::Redraw { client } => {
                self.context.figures.view_fell_behind();
                self.draw(client);
            }
            // Those who have left are found out about after every order.
            Order::Left => {}
        }
    }

    /// The screen has the client's size before it is drawn; the programs hear
    /// of it after that, so that what they draw anew comes last.
    fn attach(
        &mut self,
        access: Access,
        size: Option<ScreenSize>,
        reply: oneshot::Sender<Attached>,
    ) {
        let (id, client) = self.clients.add(access, size);
        let attached = Attached {
            id,
            client,
            pid: self.launched.child.pid,
            cwd: self.session.cwd.clone(),
        };
        let vote = self.clients.vote();
        let size = vote.and_then(|size| self.sizing.want(size, Instant::now()));
        if let Some(size) = size {
            self.display.resize(size);
        }
        self.draw(id);
        self.question.tell_again(Instant::now());
        self.keyboards_told = None;
        if let Some(size) = size {
            self.apply_size(size);
        }
        // A client that has left already is forgotten soon.
        let _ = reply.send(attached);
    }

    fn draw(&mut self, client: ClientId) {
        self.show_whole_frame();
        let drawing = self.display.drawing();
        self.clients.draw(client, self.sizing.current(), &drawing);
    }

    /// Shows the others what a drawing for a new client will contain.
    pub(super) fn show_whole_frame(&mut self) {
        let frame = self.display.whole_frame();
        if !frame.is_empty() {
            self.clients.output(&frame);
        }
    }

    /// Forgets clients that have left, which may let the terminal grow.
    pub(super) fn look_after_clients(&mut self) {
        self.clients.prune();
        if self.clients.is_empty() {
            self.unwatched_since.get_or_insert_with(Instant::now);
        } else {
            self.unwatched_since = None;
            self.vote();
            self.tell_keyboards();
        }
    }

    /// Tells everybody how many may type, when that has changed.
    fn tell_keyboards(&mut self) {
        let count = self.clients.keyboards();
        if self.keyboards_told.replace(count) != Some(count) {
            self.clients.tell(&Shown::Property {
                name: "keyboards",
                value: count.to_string(),
            });
        }
    }

    fn vote(&mut self) {
        let vote = self.clients.vote();
        let size = vote.and_then(|size| self.sizing.want(size, Instant::now()));
        if let Some(size) = size {
            self.apply_size(size);
        }
    }

    /// Tells everybody the size that the terminal has from now on.
    pub(super) fn apply_size(&mut self, size: ScreenSize) {
        self.display.resize(size);
        let ScreenSize { columns, rows } = size;
        if let Err(error) = terminal::resize(self.master.get_ref(), columns, rows) {
            tracing::warn!(session = %self.session.id, %error, "the terminal keeps its size");
        }
        self.display.save(self.recording.recorded_bytes(), size);
        self.clients.resized(size);
        self.show();
    }

    fn type_in(&mut self, client: ClientId, bytes: Bytes) {
        if self.clients.access(client) == Some(Access::Interactive) {
            let sends_line = bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
            if sends_line && self.ending == Ending::No {
                self.mend_walls();
            }
            if self.ending != Ending::No {
                // Nothing that is being ended is told anything more.
                self.input_room.add_permits(bytes.len());
                return;
            }
            self.note_leaving(&bytes);
            self.input.push_back(Typed::Keys(bytes));
            return self.write_input();
        }
        self.input_room.add_permits(bytes.len());
        let cancelled = bytes.contains(&CTRL_C) && self.interrupt();
        if !cancelled || bytes.iter().any(|byte| *byte != CTRL_C) {
            self.clients.flash(client);
        }
    }

    /// Ctrl+C for whatever runs in front of the shell.
    pub(super) fn interrupt(&mut self) -> bool {
        let front = terminal::foreground(self.master.get_ref());
        if front.is_none_or(|group| group == self.launched.child.pid) {
            return false;
        }
        self.say(Bytes::from_static(&[CTRL_C]));
        true
    }

    /// Types something that no client typed. Programs that ask and do not read
    /// the answers get no more of them.
    pub(super) fn say(&mut self, bytes: Bytes) {
        let said = self.input.iter().filter_map(|typed| match typed {
            Typed::Said(bytes) => Some(bytes.len()),
            Typed::Keys(_) => None,
        });
        if said.sum::<usize>() + bytes.len() <= SAID_BYTES_MAX {
            self.input.push_back(Typed::Said(bytes));
            self.write_input();
        }
    }

    pub(super) fn write_input(&mut self) {
        while let Some(typed) = self.input.front_mut() {
            let (Typed::Keys(bytes) | Typed::Said(bytes)) = typed;
            let written = match write_some(&self.master, bytes) {
                Ok(0) => return,
                Ok(written) => written,
                // Nobody can read it any more.
                Err(_) => bytes.len(),
            };
            bytes.advance(written);
            let is_done = bytes.is_empty();
            if matches!(typed, Typed::Keys(_)) {
                self.input_room.add_permits(written);
            }
            if is_done {
                self.input.pop_front();
            }
        }
    }
}

/// Whether a caller may type what nobody judges.
pub(crate) fn may_type(role: Role, gatekeeping: &crate::gate::Gatekeeping) -> bool {
    role == Role::Person || gatekeeping.agent == crate::gate::Scrutiny::Off
}
