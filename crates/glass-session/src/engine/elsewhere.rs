//! Sessions on other hosts: where one goes, what it is there, and the rights that it
//! cannot have.

use super::create::Planned;
use super::{Caller, Engine, SessionSpec};
use crate::context::set_variable;
use crate::driver;
use crate::errors::{CreateError, ExecuteError, NoWalls};
use crate::gate::SessionGate;
use crate::hosts::{AgentUse, Elsewhere};
use crate::pty::may_type;
use crate::remote::{UNHEARD_OF, is_script, terminal_command};
use crate::sandbox::{check_restricts_nothing, has_walls};
use glass_model::{Mode, Role, SandboxKind, SandboxPolicy, Session, Shell, ShellKind, Startup};
use glass_sandbox::Workspace;

/// Where a session elsewhere begins that names no directory.
const HOME: &str = "~";

impl Engine {
    /// Where a new session goes; none is this machine.
    pub(super) fn route(
        &self,
        caller: &Caller,
        spec: &SessionSpec,
    ) -> Result<Option<Elsewhere>, CreateError> {
        let hosts = &self.0.context.settings.hosts;
        match spec.host.as_str() {
            "" => Ok(self.preferred(caller, spec)),
            asked => Ok(hosts.find(asked, caller.role)?),
        }
    }

    /// A connected host for a session that asks for nothing that is only here.
    fn preferred(&self, caller: &Caller, spec: &SessionSpec) -> Option<Elsewhere> {
        let asks_for_here = !spec.working_directory.is_empty()
            || !spec.workspace_root.is_empty()
            || spec.sandbox.as_ref().is_some_and(has_walls)
            || spec.mode == Some(Mode::Pipe)
            || spec.ephemeral;
        if asks_for_here {
            return None;
        }
        let context = &self.0.context;
        let mut listed = context.settings.hosts.listed.iter();
        let host = listed.find(|host| {
            let may_use = caller.role == Role::Person || host.agents != AgentUse::Deny;
            may_use && context.is_connected(&host.name)
        });
        host.map(Elsewhere::from)
    }

    /// A session on another host. What it is there is found out by its first command.
    pub(super) fn plan_elsewhere(
        &self,
        caller: &Caller,
        spec: SessionSpec,
        elsewhere: Elsewhere,
    ) -> Result<(Session, Workspace), CreateError> {
        let settings = &self.0.context.settings;
        let is_terminal = spec.mode == Some(Mode::Pty);
        check_supported(&spec, &elsewhere)?;
        let is_judged = !may_type(caller.role, &settings.gatekeeping);
        let is_asked = caller.role == Role::Agent && elsewhere.agents != AgentUse::Allow;
        if is_terminal && (is_judged || is_asked) {
            return Err(CreateError::Unjudged);
        }
        if let Some(asked) = &spec.sandbox {
            no_walls_there(asked, &elsewhere.name)?;
        }
        let cwd = directory(&spec, &elsewhere)?;
        let shell = shell(&spec, &elsewhere)?;
        let workspace = self.find_workspace("", &settings.working_directory)?;
        let mut env = vec![UNHEARD_OF.to_vec()];
        for (name, value) in &spec.env {
            let is_ours = driver::is_own(name) || is_script(name.as_bytes());
            if !driver::is_name(name) || is_ours || value.contains('\0') {
                return Err(CreateError::Variable { name: name.clone() });
            }
            set_variable(&mut env, name, value);
        }
        let obeyed = spec.env.iter().filter(|_| caller.role == Role::Agent);
        let obeyed = obeyed.filter(|(name, _)| glass_sandbox::is_obeyed(name.as_bytes()));
        let chosen = obeyed.map(|(name, value)| format!("{name}={value}"));
        let planned = Planned {
            mode: if is_terminal { Mode::Pty } else { Mode::Line },
            auto: spec.mode.is_none(),
            shell,
            startup: Startup::Nothing,
            cwd,
            env,
            sandbox: None,
            chosen: chosen.collect(),
            host: elsewhere.name,
        };
        Ok((planned.session(caller, spec, &workspace), workspace))
    }

    /// Whose rules hold for a session, and what its sandboxes are for. A session
    /// elsewhere has none here; the rules of where we are hold for it.
    pub(super) fn workspace_of(&self, session: &Session) -> Result<Workspace, CreateError> {
        let settings = &self.0.context.settings;
        let cwd = match session.is_elsewhere() {
            true => &settings.working_directory,
            false => &session.cwd,
        };
        self.find_workspace(&session.workspace_root, cwd)
    }

    /// What judges the commands of a session.
    pub(super) fn gate_of(&self, session: &Session) -> SessionGate {
        let gate = SessionGate::new(session.chosen.clone());
        if !session.is_elsewhere() {
            return gate;
        }
        // One that is configured no more cannot be reached, either.
        let hosts = &self.0.context.settings.hosts;
        gate.at(hosts.resolve(&session.host).ok())
    }

    /// The rights of a command elsewhere: no walls, and it cannot ask for any.
    pub(super) fn rights_elsewhere(
        &self,
        session: &Session,
        asked: Option<&SandboxPolicy>,
    ) -> Result<SandboxPolicy, ExecuteError> {
        if let Some(asked) = asked {
            no_walls_there(asked, &session.host).map_err(ExecuteError::Sandbox)?;
        }
        if session.mode == Mode::Pty {
            let why = "commands are typed into a terminal on another host, and not handed over";
            return Err(ExecuteError::Invalid(why.to_owned()));
        }
        Ok(SandboxPolicy::none())
    }
}

/// Never fewer walls than were asked for.
fn no_walls_there(asked: &SandboxPolicy, host: &str) -> Result<(), NoWalls> {
    let wants_walls = !matches!(
        asked.kind,
        SandboxKind::InsecureNone | SandboxKind::Unspecified
    );
    if wants_walls {
        return Err(NoWalls {
            why: format!("there are no walls on '{host}'"),
            hint: "ask for no sandbox, or use the host 'local'".to_owned(),
        });
    }
    check_restricts_nothing(asked)
}

fn check_supported(spec: &SessionSpec, elsewhere: &Elsewhere) -> Result<(), CreateError> {
    let name = &elsewhere.name;
    let why = if spec.mode == Some(Mode::Pipe) {
        format!("no shell can be kept warm on '{name}'; use mode line, auto or pty")
    } else if !spec.workspace_root.is_empty() {
        format!("a session on '{name}' has no workspace here")
    } else if spec.mode == Some(Mode::Pty) && !spec.env.is_empty() {
        format!("a terminal on '{name}' cannot be given variables")
    } else {
        return Ok(());
    };
    Err(CreateError::Unsupported(why))
}

/// Where a session elsewhere begins: an absolute path, or one below the home directory.
fn directory(spec: &SessionSpec, elsewhere: &Elsewhere) -> Result<String, CreateError> {
    let path = match (
        spec.working_directory.as_str(),
        elsewhere.directory.as_str(),
    ) {
        ("", "") => HOME,
        ("", configured) => configured,
        (asked, _) => asked,
    };
    let refuse = |why| CreateError::Directory {
        path: path.to_owned(),
        why,
        forbidden: false,
    };
    if !path.starts_with('/') && path != HOME && !path.starts_with("~/") {
        return Err(refuse("it is not an absolute path"));
    }
    if path.contains('\0') {
        return Err(refuse("it has a NUL byte"));
    }
    if spec.mode == Some(Mode::Pty) && path != HOME {
        if path.starts_with('~') {
            return Err(refuse("a terminal elsewhere begins in an absolute path"));
        }
        if terminal_command(path).is_none() {
            return Err(refuse("it has characters that not every shell reads alike"));
        }
    }
    Ok(path.to_owned())
}

/// The shell of a session elsewhere. Whether the host has it is found out there.
fn shell(spec: &SessionSpec, elsewhere: &Elsewhere) -> Result<Shell, CreateError> {
    let path = match spec.shell.as_str() {
        "" => elsewhere.shell.as_str(),
        asked => asked,
    };
    let kind = ShellKind::of_program(path.rsplit('/').next().unwrap_or(path));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if path.starts_with('-') || !path.chars().all(is_plain) || !kind.is_driven() {
        let shown: String = path.escape_debug().take(80).collect();
        let why = format!("'{shown}' cannot be used on another host; use bash, zsh, fish or sh");
        return Err(CreateError::Unsupported(why));
    }
    Ok(Shell {
        kind,
        path: path.to_owned(),
    })
}
