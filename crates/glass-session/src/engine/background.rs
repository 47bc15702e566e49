//! Background commands: each in a session of its own, cut from the one that it
//! is started in. So it outlives that session, its task and the daemon.

use super::{Caller, Engine, Handle, OrderSpec, SessionSpec, Target};
use crate::actor::{Cut, CutOrder, Message, NotTaken, Taken, Typed, lock};
use crate::driver;
use crate::errors::{ExecuteError, LookupError, StdinError};
use bytes::{Buf as _, Bytes};
use glass_model::{EventIndex, Mode, SandboxPolicy, Session, SessionId, ShellId, Stdin};
use glass_vt::screen::ScreenSize;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// What a caller may write at once, in bytes.
const TYPED_BYTES_MAX: usize = 1 << 20;

/// How long a command that does not read is waited for before its caller hears
/// of it, in milliseconds.
const UNREAD_MS_MAX: u64 = 1_000;

/// Between two tries to write to a command that does not read.
const UNREAD_LOOK: Duration = Duration::from_millis(5);

/// Between two looks at a shell that is coming up.
const COMING_UP_LOOK: Duration = Duration::from_millis(10);

/// Characters of a command in the name of its session.
const NAME_CHARS_MAX: usize = 200;

/// A background command's session.
#[derive(Clone, Debug)]
pub struct Background {
    /// What it is made from.
    pub origin: Origin,
    /// What the command reads.
    pub stdin: Stdin,
}

/// What the session of a background command is made from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// From this session: its directory, what it exports, its workspace, its
    /// owner, its task and its rights.
    Session(String),
    /// From nothing.
    Fresh(Box<SessionSpec>),
}

/// What there was before something was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// What the command had written, in bytes.
    pub output_bytes: u64,
    /// How long its page in the terminals folder was with that, in bytes.
    pub page_bytes: u64,
}

impl Engine {
    /// Makes the session of a background command.
    pub(super) async fn background(
        &self,
        caller: &Caller,
        background: Background,
        order: &OrderSpec,
    ) -> Result<Session, ExecuteError> {
        let Background { origin, stdin } = background;
        let (bytes, most) = (order.command.len(), driver::PLAIN_BYTES_MAX);
        if stdin != Stdin::Closed && bytes > most {
            let why = format!(
                "a command with standard input has at most {most} bytes, and this has {bytes}"
            );
            return Err(ExecuteError::Invalid(why));
        }
        let named = SessionSpec {
            name: order.command.chars().take(NAME_CHARS_MAX).collect(),
            ephemeral: true,
            background: Some(stdin),
            mode: Some(Mode::Line),
            ..SessionSpec::default()
        };
        match origin {
            Origin::Session(id) => self.cut_from(caller, &id, named, order).await,
            Origin::Fresh(spec) => {
                let spec = SessionSpec {
                    name: named.name,
                    ephemeral: true,
                    background: named.background,
                    mode: named.mode,
                    ..*spec
                };
                Ok(self.create(caller, spec).await?)
            }
        }
    }

    async fn cut_from(
        &self,
        caller: &Caller,
        id: &str,
        named: SessionSpec,
        order: &OrderSpec,
    ) -> Result<Session, ExecuteError> {
        let from = self.session(caller, id)?.session;
        if from.mode == Mode::Pty {
            return Err(ExecuteError::Interactive(from.id));
        }
        let disposed = || LookupError::Disposed(from.id.clone());
        let handle = self.live(&from.id).ok_or_else(disposed)?;
        let policy = self.order_rights(caller, &from, &handle, order)?;
        let cut = self.ask_cut(&handle, &policy).await.ok_or_else(disposed)?;
        let spec = SessionSpec {
            working_directory: cut.cwd,
            shell: from.shell.path.clone(),
            task: from.task.clone(),
            sandbox: from.sandbox.clone(),
            workspace_root: match from.is_elsewhere() {
                true => String::new(),
                false => from.workspace_root.clone(),
            },
            startup: Some(from.startup),
            host: from.host.clone(),
            ..named
        };
        let (mut session, workspace) = self.plan_session(caller, spec)?;
        session.env = cut.env;
        session.owner = from.owner;
        session.chosen = from.chosen;
        self.context_commit(&session)?;
        let taken = (cut.ours, cut.trust);
        self.spawn_actor(session.clone(), Some(workspace), EventIndex(0), taken, None)?;
        if let Some(made) = lock(&self.0.sessions).get_mut(&session.id) {
            // What a person allowed for the session holds here, too.
            made.gate = handle.gate.clone();
        }
        Ok(session)
    }

    /// What a command with these rights takes along from a session.
    async fn ask_cut(&self, handle: &Handle, policy: &SandboxPolicy) -> Option<Cut> {
        let limits = &self.0.context.settings.limits;
        let until = Instant::now() + Duration::from_millis(u64::from(limits.startup_ms_max));
        loop {
            let (reply, answer) = oneshot::channel();
            let policy = policy.clone();
            let order = Box::new(CutOrder { policy, reply });
            handle.mailbox.send(Message::Cut(order)).await.ok()?;
            let cut = answer.await.ok()?;
            if cut.settled || Instant::now() >= until {
                return Some(cut);
            }
            tokio::time::sleep(COMING_UP_LOOK).await;
        }
    }

    /// Gives a background command what somebody typed. Ctrl+C interrupts it and
    /// Ctrl+D ends its standard input; all else is written as it is. Returns how
    /// much it had written before.
    pub async fn write_stdin(
        &self,
        caller: &Caller,
        id: ShellId,
        typed: &str,
    ) -> Result<Before, StdinError> {
        let (bytes, max) = (typed.len(), TYPED_BYTES_MAX);
        if bytes > max {
            return Err(StdinError::TooLong { bytes, max });
        }
        let execution = self.execution(caller, id)?;
        let handle = self.live(&execution.session).ok_or(StdinError::Over(id))?;
        let mut taken = 0;
        let mut before = None;
        let mut until = Instant::now() + Duration::from_millis(UNREAD_MS_MAX);
        loop {
            let rest = typed.as_bytes()[taken..].to_vec();
            let given = match give(&handle, id, rest).await {
                Ok(given) => given,
                Err(NotTaken::Ended) => return Err(StdinError::Ended { id, taken, bytes }),
                Err(NotTaken::Over) => return Err(StdinError::Over(id)),
                Err(NotTaken::NotBegun) => return Err(StdinError::NotBegun(id)),
                Err(NotTaken::Refused) => return Err(StdinError::Refused(id)),
                Err(NotTaken::Kept) => return Err(StdinError::Kept(id)),
            };
            let before = *before.get_or_insert(given.output_before);
            taken += given.bytes;
            if taken >= bytes {
                return Ok(Before {
                    output_bytes: before,
                    page_bytes: self.page_length(&execution, before)?,
                });
            }
            if given.bytes > 0 {
                until = Instant::now() + Duration::from_millis(UNREAD_MS_MAX);
            } else if Instant::now() >= until {
                return Err(StdinError::Full { id, taken, bytes });
            }
            tokio::time::sleep(UNREAD_LOOK).await;
        }
    }
}

impl Engine {
    /// A command that wants a terminal has one in a session that is one.
    pub(super) fn on_terminal(
        &self,
        caller: &Caller,
        target: Target,
    ) -> Result<Target, ExecuteError> {
        if let Target::Background(background) = &target
            && background.stdin == Stdin::Terminal
            && let Origin::Session(id) = &background.origin
            && self.session(caller, id)?.session.mode == Mode::Pty
        {
            return Ok(Target::Session(id.clone()));
        }
        Ok(target)
    }

    /// Types on the terminal of a command, as its keyboard does: all of it, or
    /// as much as is read within a moment.
    pub(crate) async fn type_keys(
        &self,
        caller: &Caller,
        id: ShellId,
        mut keys: Bytes,
    ) -> Result<(), StdinError> {
        let session = self.execution(caller, id)?.session;
        let handle = self.live(&session).ok_or(StdinError::Over(id))?;
        let until = Instant::now() + Duration::from_millis(UNREAD_MS_MAX);
        while !keys.is_empty() {
            let given = give(&handle, id, keys.to_vec()).await;
            let given = given.map_err(|_| StdinError::Over(id))?;
            keys.advance(given.bytes);
            if given.bytes == 0 {
                if Instant::now() >= until {
                    let (taken, bytes) = (0, keys.len());
                    return Err(StdinError::Full { id, taken, bytes });
                }
                tokio::time::sleep(UNREAD_LOOK).await;
            }
        }
        Ok(())
    }

    /// Gives the terminal of what runs in a session another size.
    pub(crate) async fn resize_terminal(&self, id: &SessionId, size: ScreenSize) {
        if let Some(handle) = self.live(id) {
            // A session that is over has no terminal.
            let _ = handle.mailbox.send(Message::Resize(size)).await;
        }
    }
}

async fn give(handle: &Handle, shell_id: ShellId, bytes: Vec<u8>) -> Result<Taken, NotTaken> {
    let (reply, answer) = oneshot::channel();
    let typed = Typed {
        shell_id,
        bytes,
        reply,
    };
    let sent = handle.mailbox.send(Message::Type(typed)).await;
    sent.map_err(|_| NotTaken::Over)?;
    answer.await.map_err(|_| NotTaken::Over)?
}
