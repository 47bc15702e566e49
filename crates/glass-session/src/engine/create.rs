//! Making sessions.

mod asked;

use super::{Caller, Engine, Handle, MAILBOX_MAX};
use crate::actor::{Actor, Inheritance, Live, Parts, Trust, lock};
use crate::context::{make_private, now_ms, set_variable, variable_name};
use crate::errors::{CreateError, NoWalls};
use crate::feed::Feed;
use crate::habits::HabitWish;
use crate::pty::may_type;
use crate::sandbox::{check_restricts_nothing, has_walls};
use crate::{driver, random, shells};
use asked::check_directory;
use glass_model::{
    EventIndex, LOCAL_HOST, Mode, Role, SandboxPolicy, Session, SessionId, Shell, Startup, Stdin,
};
use glass_sandbox::{Effective, Workspace};
use glass_store::Change;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

pub(super) use asked::{columns, rows, scrollback};

/// Keeps what other terminals bring along for shells from speaking to ours.
const VTE_VERSION: (&str, &str) = ("VTE_VERSION", "0");

/// What keeps programs from waiting for a person where there is no terminal.
/// Weaker than anything a caller or the configuration sets.
pub(crate) const NON_INTERACTIVE: [(&str, &str); 8] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("NO_COLOR", "1"),
    VTE_VERSION,
];

/// The terminal that programs have, as they are told.
pub const TERM: (&str, &str) = ("TERM", "xterm-256color");

/// What tells programs which terminal they have. As weak.
pub(crate) const INTERACTIVE: [(&str, &str); 3] = [TERM, ("COLORTERM", "truecolor"), VTE_VERSION];

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
    /// What is set for its shell.
    pub habits: HabitWish,
    /// Where it runs: `local`, a host's name or its address; empty is wherever sessions
    /// go that do not say.
    pub host: String,
    /// Whether it is for one command alone.
    pub ephemeral: bool,
    /// Set where that command is a background one.
    pub background: Option<Stdin>,
}

/// Characters of a chosen variable that are shown to a person.
const CHOSEN_CHARS_MAX: usize = 200;

/// What was decided about a session, wherever it is.
pub(super) struct Planned {
    pub(super) mode: Mode,
    pub(super) auto: bool,
    pub(super) shell: Shell,
    pub(super) startup: Startup,
    pub(super) cwd: String,
    pub(super) env: Vec<Vec<u8>>,
    pub(super) sandbox: Option<SandboxPolicy>,
    pub(super) chosen: Vec<String>,
    pub(super) host: String,
}

impl Planned {
    /// The session, new and with an id of its own.
    pub(super) fn session(
        self,
        caller: &Caller,
        spec: SessionSpec,
        workspace: &Workspace,
    ) -> Session {
        let now = now_ms();
        Session {
            id: SessionId::from_random(random::bytes()),
            name: spec.name,
            task: spec.task,
            owner: caller.role,
            mode: self.mode,
            auto: self.auto,
            shell: self.shell,
            startup: self.startup,
            cwd: self.cwd,
            env: self.env,
            sandbox: self.sandbox,
            chosen: self.chosen,
            workspace_root: workspace.path().to_string_lossy().into_owned(),
            scrollback: scrollback(spec.scrollback),
            cols: columns(spec.cols),
            rows: rows(spec.rows),
            ephemeral: spec.ephemeral,
            background: spec.background,
            host: self.host,
            created_ms: now,
            active_ms: now,
            disposed_ms: None,
        }
    }
}

impl Engine {
    /// Makes a session and starts its shell.
    pub async fn create(&self, caller: &Caller, spec: SessionSpec) -> Result<Session, CreateError> {
        let ours = self.own_variables(&spec);
        let habits = self.0.context.settings.habits.with(&spec.habits);
        let (session, workspace) = self.plan_session(caller, spec)?;
        self.context_commit(&session)?;
        if session.mode == Mode::Pty {
            return self.begin_terminal(caller, session, ours, habits).await;
        }
        let taken = (ours, Trust::default());
        self.spawn_actor(session.clone(), Some(workspace), EventIndex(0), taken, None)?;
        Ok(session)
    }

    pub(super) fn context_commit(&self, session: &Session) -> Result<(), CreateError> {
        let change = Change::InsertSession(session.clone());
        self.0.context.store.commit(&[change])?;
        self.0.context.figures.made_session();
        tracing::debug!(session = %session.id, mode = ?session.mode, "a session is made");
        Ok(())
    }

    pub(super) fn plan_session(
        &self,
        caller: &Caller,
        spec: SessionSpec,
    ) -> Result<(Session, Workspace), CreateError> {
        let settings = &self.0.context.settings;
        let max = settings.limits.sessions_max;
        if lock(&self.0.sessions).len() >= max as usize {
            return Err(CreateError::TooMany { max });
        }
        if let Some(elsewhere) = self.route(caller, &spec)? {
            let planned = self.plan_elsewhere(caller, spec.clone(), elsewhere);
            // What cannot be had there may be had here, where nobody asked for there.
            if planned.is_ok() || !spec.host.is_empty() {
                return planned;
            }
        }
        let cwd = if spec.working_directory.is_empty() {
            settings.working_directory.clone()
        } else {
            spec.working_directory.clone()
        };
        check_directory(&cwd)?;
        if spec.mode == Some(Mode::Pty) && !may_type(caller.role, &settings.gatekeeping) {
            return Err(CreateError::Unjudged);
        }
        let workspace = self.find_workspace(&spec.workspace_root, &cwd)?;
        let rights = self.rights(None, spec.sandbox.as_ref(), caller.role, &workspace)?;
        if has_walls(&rights.policy) {
            let shown = workspace.check_shown(&settings.sandboxing.settings);
            shown.map_err(|refusal| CreateError::Sandbox(refusal.into()))?;
        }
        let mut env = self.session_env(&spec)?;
        let asked = if spec.shell.is_empty() {
            &settings.shell
        } else {
            &spec.shell
        };
        let shell = shells::find(asked, &env)?;
        let chosen = self.chosen(caller, &env, &shell)?;
        let wanted = spec.mode.or(settings.mode);
        let mode = self.mode_of(wanted, caller, &spec, &shell)?;
        if mode == Mode::Pty {
            // A tool's keeps what keeps programs from asking.
            let given = || settings.extra_env.iter().chain(&spec.env);
            let usual = INTERACTIVE.iter();
            for (name, value) in usual.filter(|(name, _)| !given().any(|(given, _)| given == name))
            {
                set_variable(&mut env, name, value);
            }
        }
        let planned = Planned {
            mode,
            auto: wanted.is_none(),
            shell,
            startup: spec.startup.unwrap_or(settings.startup),
            cwd,
            env,
            sandbox: spec.sandbox.clone(),
            chosen,
            host: LOCAL_HOST.to_owned(),
        };
        Ok((planned.session(caller, spec, &workspace), workspace))
    }

    /// How a session runs its commands.
    fn mode_of(
        &self,
        wanted: Option<Mode>,
        caller: &Caller,
        spec: &SessionSpec,
        shell: &Shell,
    ) -> Result<Mode, CreateError> {
        let drivable = shell.kind.is_driven();
        match wanted {
            Some(Mode::Pipe) if !drivable => {
                let path = &shell.path;
                let why = format!("'{path}' cannot be kept warm; use mode line or auto");
                Err(CreateError::Unsupported(why))
            }
            Some(mode) => Ok(mode),
            None if self.goes_on_terminal(caller, spec, shell) => Ok(Mode::Pty),
            // Warmth is of no use to a single command.
            None if drivable && !spec.ephemeral => Ok(Mode::Pipe),
            None => Ok(Mode::Line),
        }
    }

    /// Whether an agent's session is on a terminal although nobody said so.
    fn goes_on_terminal(&self, caller: &Caller, spec: &SessionSpec, shell: &Shell) -> bool {
        let settings = &self.0.context.settings;
        let wish = settings.habits.with(&spec.habits);
        let is_wanted = settings.agents_on_terminals && caller.role == Role::Agent;
        let is_for_one = spec.ephemeral || spec.background.is_some();
        is_wanted
            && !is_for_one
            && wish.silence(shell).is_none()
            && may_type(caller.role, &settings.gatekeeping)
    }

    /// What a session has from our own environment, and not from its maker.
    fn own_variables(&self, spec: &SessionSpec) -> Vec<Vec<u8>> {
        let base = self.0.context.settings.base_env.iter();
        let is_given = |entry: &&Vec<u8>| {
            let name = variable_name(entry);
            let mut given = spec.env.iter();
            given.any(|(given, _)| given.as_bytes() == name)
        };
        base.filter(|entry| !spec.env_is_whole && !is_given(entry))
            .cloned()
            .collect()
    }

    /// What sandboxes of a session are for.
    pub(super) fn find_workspace(&self, given: &str, cwd: &str) -> Result<Workspace, CreateError> {
        let settings = &self.0.context.settings.sandboxing.settings;
        let given = (!given.is_empty()).then_some(Path::new(given));
        Workspace::find(given, Path::new(cwd), settings)
            .map_err(|refusal| CreateError::Sandbox(refusal.into()))
    }

    /// The rights that a command has, or why it has none. Never fewer walls
    /// than were asked for.
    pub(super) fn rights(
        &self,
        asked: Option<&SandboxPolicy>,
        session: Option<&SandboxPolicy>,
        role: Role,
        workspace: &Workspace,
    ) -> Result<Effective, NoWalls> {
        let settings = &self.0.context.settings.sandboxing.settings;
        let rights = glass_sandbox::resolve(asked, session, settings, role, workspace)?;
        if let Some(asked) = asked.or(session).filter(|_| !has_walls(&rights.policy)) {
            check_restricts_nothing(asked)?;
        }
        self.0.context.can_enforce(&rights.policy)?;
        Ok(rights)
    }

    fn session_env(&self, spec: &SessionSpec) -> Result<Vec<Vec<u8>>, CreateError> {
        let settings = &self.0.context.settings;
        let mut env = if spec.env_is_whole {
            Vec::new()
        } else {
            settings.base_env.clone()
        };
        let defaults: &[(&str, &str)] = match spec.mode {
            Some(Mode::Pty) => &INTERACTIVE,
            _ => &NON_INTERACTIVE,
        };
        for (name, value) in defaults {
            set_variable(&mut env, name, value);
        }
        if !spec.ephemeral {
            settings.habits.with(&spec.habits).apply(&mut env);
        }
        let extra = settings.extra_env.iter().chain(&spec.env);
        for (name, value) in extra {
            let is_odd = name.is_empty() || name.contains(['=', '\0']) || value.contains('\0');
            if is_odd || driver::is_own(name) {
                return Err(CreateError::Variable { name: name.clone() });
            }
            set_variable(&mut env, name, value);
        }
        Ok(env)
    }

    /// What an agent has chosen for its session that decides what words run
    /// there: variables with other values than ours, or a shell that is not one
    /// of this machine's.
    fn chosen(
        &self,
        caller: &Caller,
        env: &[Vec<u8>],
        shell: &Shell,
    ) -> Result<Vec<String>, CreateError> {
        if caller.role == Role::Person {
            return Ok(Vec::new());
        }
        let settings = &self.0.context.settings;
        let usual = self.session_env(&SessionSpec::default())?;
        let mut chosen: Vec<String> = env
            .iter()
            .filter(|entry| glass_sandbox::is_obeyed(variable_name(entry)))
            .filter(|entry| !usual.contains(entry))
            .map(|entry| {
                String::from_utf8_lossy(entry)
                    .chars()
                    .take(CHOSEN_CHARS_MAX)
                    .collect()
            })
            .collect();
        let real = |path: &str| std::fs::canonicalize(path).ok();
        let ours = shells::find(&settings.shell, &usual).ok();
        let mut known = self
            .0
            .shells
            .iter()
            .chain(ours.iter().map(|shell| &shell.path));
        if !known.any(|known| known == &shell.path || real(known) == real(&shell.path)) {
            chosen.push(shell.path.clone());
        }
        Ok(chosen)
    }

    /// Gives a session its task.
    pub(super) fn spawn_actor(
        &self,
        session: Session,
        workspace: Option<Workspace>,
        next: EventIndex,
        (ours, trust): (Vec<Vec<u8>>, Trust),
        inheritance: Option<Inheritance>,
    ) -> Result<(), CreateError> {
        let context = self.0.context.clone();
        if !session.leaves_nothing() {
            make_private(&context.session_dir(&session))?;
        }
        let pristine = match &inheritance {
            // What is known of an older session may be what its commands made
            // of it.
            Some(_) => self.session_env(&SessionSpec::default())?,
            None => session.env.clone(),
        };
        let id = session.id.clone();
        let (mailbox, receiver) = mpsc::channel(MAILBOX_MAX);
        let feed = Arc::new(Feed::new(next, context.figures.clone(), None));
        let live = Live {
            secrets: context.detectors.secrets(&session.env),
            session: session.clone(),
            running: None,
            queued: 0,
            last: match &inheritance {
                Some(_) => self.last_ended(&id)?,
                None => None,
            },
            integration: "none".to_owned(),
            seen: crate::look::Seen::default(),
            approvals: Vec::new(),
        };
        let live = Arc::new(Mutex::new(live));
        let workspace = workspace.map(Arc::new);
        let rights = workspace
            .as_ref()
            .map(|workspace| self.rights(None, session.sandbox.as_ref(), session.owner, workspace));
        let policy = match rights {
            _ if session.is_elsewhere() => SandboxPolicy::none(),
            Some(Ok(rights)) => rights.policy,
            // Commands that ask for nothing are refused; the others say what
            // they want.
            _ => SandboxPolicy::default(),
        };
        let gate = Arc::new(self.gate_of(&session));
        let handle = Handle {
            mailbox,
            live: live.clone(),
            feed: feed.clone(),
            workspace: workspace.clone(),
            gate: gate.clone(),
            terminal: None,
            page: self.terminal_file(&session),
        };
        self.add_page(&session, &handle, next);
        lock(&self.0.sessions).insert(id.clone(), handle);
        self.0.context.note_change();
        let actor = Actor::new(Parts {
            context,
            session,
            policy,
            workspace,
            pristine,
            ours,
            trust,
            next,
            feed,
            live,
            gate,
            mailbox: receiver,
        });
        let engine = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            actor.run(inheritance).await;
            if let Some(engine) = engine.upgrade() {
                lock(&engine.sessions).remove(&id);
                engine.context.note_change();
            }
        });
        Ok(())
    }
}
