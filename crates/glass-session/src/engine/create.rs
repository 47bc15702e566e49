//! Making sessions.

use super::{Caller, Engine, Handle, MAILBOX_MAX};
use crate::actor::{Actor, Inheritance, Live, Parts, lock};
use crate::context::{now_ms, set_variable};
use crate::errors::CreateError;
use crate::feed::Feed;
use crate::{random, shells};
use glass_model::{EventIndex, Mode, SandboxKind, SandboxPolicy, Session, SessionId, Startup};
use glass_store::Change;
use rustix::fs::{Access, AtFlags, CWD};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

/// Lines of scrollback that a view may keep.
const SCROLLBACK_LINES: std::ops::RangeInclusive<u32> = 100..=10_000;

/// Lines of scrollback where none are asked for.
const SCROLLBACK_LINES_DEFAULT: u32 = 1_000;

/// A view's size where none is asked for.
const COLS_DEFAULT: u32 = 80;
const ROWS_DEFAULT: u32 = 30;

/// What keeps programs from waiting for a person where there is no terminal.
/// Weaker than anything a caller or the configuration sets.
const NON_INTERACTIVE: [(&str, &str); 7] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("NO_COLOR", "1"),
];

/// What a caller asks for; empty or zero means the configured default.
#[derive(Clone, Debug, Default)]
pub struct SessionSpec {
    /// Where it begins.
    pub working_directory: String,
    /// Variables on top of the inherited ones.
    pub env: Vec<(String, String)>,
    /// Whether `env` is the whole environment.
    pub env_is_whole: bool,
    /// A shell's name or path.
    pub shell: String,
    /// The mode; none is the configured one, or auto.
    pub mode: Option<Mode>,
    /// A name for people.
    pub name: String,
    /// The task that it belongs to.
    pub task: String,
    /// The rights asked for.
    pub sandbox: Option<SandboxPolicy>,
    /// A view's size.
    pub cols: u32,
    /// A view's size.
    pub rows: u32,
    /// Lines of scrollback.
    pub scrollback: u32,
    /// What a workspace sandbox may write.
    pub workspace_root: String,
    /// Which start files its shell reads.
    pub startup: Option<Startup>,
    /// Where it runs: empty or `local`.
    pub host: String,
    /// Whether it is for one command alone.
    pub ephemeral: bool,
}

impl Engine {
    /// Makes a session and starts its shell.
    pub async fn create(&self, caller: &Caller, spec: SessionSpec) -> Result<Session, CreateError> {
        let session = self.plan_session(caller, spec)?;
        self.context_commit(&session)?;
        self.spawn_actor(session.clone(), EventIndex(0), None)?;
        Ok(session)
    }

    fn context_commit(&self, session: &Session) -> Result<(), CreateError> {
        let change = Change::InsertSession(session.clone());
        Ok(self.0.context.store.commit(&[change])?)
    }

    fn plan_session(&self, caller: &Caller, spec: SessionSpec) -> Result<Session, CreateError> {
        let settings = &self.0.context.settings;
        let max = settings.limits.sessions_max;
        if lock(&self.0.sessions).len() >= max as usize {
            return Err(CreateError::TooMany { max });
        }
        if !matches!(spec.host.as_str(), "" | "local") {
            let why = format!(
                "there is no host '{}'; this daemon has only 'local'",
                spec.host
            );
            return Err(CreateError::Unsupported(why));
        }
        check_sandbox(spec.sandbox.as_ref()).map_err(CreateError::Sandbox)?;
        let cwd = if spec.working_directory.is_empty() {
            settings.working_directory.clone()
        } else {
            spec.working_directory.clone()
        };
        check_directory(&cwd)?;
        let env = self.session_env(&spec)?;
        let asked = if spec.shell.is_empty() {
            &settings.shell
        } else {
            &spec.shell
        };
        let shell = shells::find(asked, &env)?;
        let wanted = spec.mode.or(settings.mode);
        let drivable = shell.kind != glass_model::ShellKind::Other;
        let mode = match wanted {
            Some(Mode::Pipe) if !drivable => {
                let why = format!(
                    "'{}' cannot be kept warm; use mode line or auto",
                    shell.path
                );
                return Err(CreateError::Unsupported(why));
            }
            Some(mode) => mode,
            // Warmth is of no use to a single command.
            None if drivable && !spec.ephemeral => Mode::Pipe,
            None => Mode::Line,
        };
        let or = |value: u32, default: u32| if value == 0 { default } else { value };
        let now = now_ms();
        Ok(Session {
            id: SessionId::from_random(random::bytes()),
            name: spec.name,
            task: spec.task,
            owner: caller.role,
            mode,
            auto: wanted.is_none(),
            shell,
            startup: spec.startup.unwrap_or(settings.startup),
            cwd,
            env,
            sandbox: spec.sandbox,
            workspace_root: spec.workspace_root,
            scrollback: or(spec.scrollback, SCROLLBACK_LINES_DEFAULT)
                .clamp(*SCROLLBACK_LINES.start(), *SCROLLBACK_LINES.end()),
            cols: or(spec.cols, COLS_DEFAULT),
            rows: or(spec.rows, ROWS_DEFAULT),
            ephemeral: spec.ephemeral,
            created_ms: now,
            active_ms: now,
            disposed_ms: None,
        })
    }

    fn session_env(&self, spec: &SessionSpec) -> Result<Vec<Vec<u8>>, CreateError> {
        let settings = &self.0.context.settings;
        let mut env = if spec.env_is_whole {
            Vec::new()
        } else {
            settings.base_env.clone()
        };
        for (name, value) in NON_INTERACTIVE {
            set_variable(&mut env, name, value);
        }
        let extra = settings.extra_env.iter().chain(&spec.env);
        for (name, value) in extra {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(CreateError::Variable { name: name.clone() });
            }
            set_variable(&mut env, name, value);
        }
        Ok(env)
    }

    /// Gives a session its task.
    pub(super) fn spawn_actor(
        &self,
        session: Session,
        next: EventIndex,
        inheritance: Option<Inheritance>,
    ) -> Result<(), CreateError> {
        let context = self.0.context.clone();
        make_private(&context.session_dir(&session))?;
        let id = session.id.clone();
        let (mailbox, receiver) = mpsc::channel(MAILBOX_MAX);
        let feed = Arc::new(Feed::new(next));
        let live = Live {
            session: session.clone(),
            running: None,
            queued: 0,
            last: match &inheritance {
                Some(_) => self.last_ended(&id)?,
                None => None,
            },
        };
        let live = Arc::new(Mutex::new(live));
        let handle = Handle {
            mailbox,
            live: live.clone(),
            feed: feed.clone(),
        };
        lock(&self.0.sessions).insert(id.clone(), handle);
        let actor = Actor::new(Parts {
            context,
            session,
            next,
            feed,
            live,
            mailbox: receiver,
        });
        let engine = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            actor.run(inheritance).await;
            if let Some(engine) = engine.upgrade() {
                lock(&engine.sessions).remove(&id);
            }
        });
        Ok(())
    }
}

/// Whether the walls that are asked for can be had. None can, so far: asking
/// for one is refused and not forgotten.
pub(super) fn check_sandbox(policy: Option<&SandboxPolicy>) -> Result<(), String> {
    let Some(policy) = policy else { return Ok(()) };
    let bare = SandboxPolicy {
        kind: policy.kind,
        network_access: policy.network_access,
        ..SandboxPolicy::default()
    };
    match policy.kind {
        SandboxKind::WorkspaceReadWrite | SandboxKind::WorkspaceReadOnly => {
            Err("no sandbox can be enforced by this version; nothing was run".to_owned())
        }
        SandboxKind::Unspecified | SandboxKind::InsecureNone
            if *policy != bare || policy.network_access == Some(false) =>
        {
            Err("the policy restricts what only a sandbox could, and none was asked for".to_owned())
        }
        SandboxKind::Unspecified | SandboxKind::InsecureNone => Ok(()),
    }
}

fn check_directory(path: &str) -> Result<(), CreateError> {
    let refuse = |why, forbidden| {
        Err(CreateError::Directory {
            path: path.to_owned(),
            why,
            forbidden,
        })
    };
    if !path.starts_with('/') {
        return refuse("it is not an absolute path", false);
    }
    if path.contains('\0') {
        return refuse("it has a NUL byte", false);
    }
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => refuse("it is not a directory", false),
        Ok(_) => match rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS) {
            Ok(()) => Ok(()),
            Err(_) => refuse("it may not be entered", true),
        },
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            refuse("it may not be entered", true)
        }
        Err(_) => refuse("it is not there", false),
    }
}

/// A directory for us alone.
pub(super) fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}
