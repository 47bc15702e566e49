//! Requests and sessions between the wire and the engine's words.

use crate::shorten::shorten;
use crate::status;
use glass_model::{Answer, Approval, ApprovalScope, Mode, Role, ShellId, Startup, Stdin};
use glass_proto::agent::v1 as agent;
use glass_proto::shellglass::v1 as wire;
use glass_proto::{sandbox_from_wire, sandbox_to_wire};
use glass_session::{
    AgentUse, Background, CheckSpec, DELAY_MS_MAX, HabitWish, Held, HostState, HostView,
    INTEGRATION_MS_MAX, OrderSpec, Origin, SessionSpec, SessionView, Target, WaitSpec, Waited,
};
use std::time::Duration;
use tonic::{Code, Status};

/// Longest reason that a person can give, in bytes.
const REASON_BYTES_MAX: usize = 4096;

/// What a session shows of its command, in bytes. One may have megabytes, and whoever lists
/// sessions has many; the history has it whole.
const LISTED_COMMAND_BYTES_MAX: usize = 4096;

pub(crate) fn threshold_of(request: &wire::ExecuteRequest) -> Option<u64> {
    request
        .args
        .as_ref()
        .and_then(|args| args.file_output_threshold_bytes)
}

fn invalid(message: String, hint: &str) -> Status {
    status::with_hint(Code::InvalidArgument, message, hint)
}

pub(crate) fn spec_from_wire(request: wire::CreateSessionRequest) -> Result<SessionSpec, Status> {
    let mode = match request.mode() {
        wire::SessionMode::Unspecified | wire::SessionMode::Auto => None,
        wire::SessionMode::Line => Some(Mode::Line),
        wire::SessionMode::Pipe => Some(Mode::Pipe),
        wire::SessionMode::Pty => Some(Mode::Pty),
    };
    let startup = match request.startup.as_str() {
        "" => None,
        "login" => Some(Startup::Login),
        "rc" => Some(Startup::Rc),
        "none" => Some(Startup::Nothing),
        other => {
            let message = format!("'{}' is no way to start a shell", other.escape_debug());
            return Err(invalid(message, "use login, rc or none"));
        }
    };
    let habits = request.habits.map(habits_from_wire).transpose()?;
    Ok(SessionSpec {
        working_directory: request.working_directory,
        env: request.env.into_iter().collect(),
        env_is_whole: false,
        shell: request.shell,
        mode,
        name: request.name,
        task: request.task_id,
        sandbox: request.sandbox_policy.map(sandbox_from_wire),
        cols: request.cols,
        rows: request.rows,
        scrollback: request.scrollback,
        workspace_root: request.workspace_root,
        startup,
        habits: habits.unwrap_or_default(),
        host: request.host,
        ephemeral: false,
        background: None,
    })
}

fn habits_from_wire(habits: wire::ShellHabits) -> Result<HabitWish, Status> {
    let within = |name: &str, asked: Option<u32>, max: u32| match asked {
        Some(ms) if ms > max => {
            let message = format!("{name} is {ms}, and at most {max} milliseconds");
            Err(invalid(message, "ask for less, or leave it out"))
        }
        asked => Ok(asked),
    };
    let (wait, delay) = (habits.integration_timeout_ms, habits.prompt_delay_ms);
    Ok(HabitWish {
        integration: habits.integration,
        integration_ms: within("integration_timeout_ms", wait, INTEGRATION_MS_MAX)?,
        zdotdir: habits.zsh_zdotdir,
        clears_eol_mark: habits.zsh_clear_eol_mark,
        oh_my_zsh: habits.zsh_oh_my_zsh,
        powerlevel10k: habits.zsh_powerlevel10k,
        delay_ms: within("prompt_delay_ms", delay, DELAY_MS_MAX)?,
        powershell_counter: habits.powershell_counter,
    })
}

pub(crate) fn order_from_wire(
    request: wire::ExecuteRequest,
) -> Result<(Target, OrderSpec), Status> {
    let args = request.args.unwrap_or_default();
    let stdin = match (request.tty, request.enable_write_shell_stdin_tool) {
        (true, _) => Stdin::Terminal,
        (false, true) => Stdin::Open,
        (false, false) => Stdin::Closed,
    };
    let target = match request.ephemeral {
        Some(_) if !request.session_id.is_empty() => {
            let message = "a command has either a session or an ephemeral one".to_owned();
            return Err(invalid(message, "leave out session_id"));
        }
        Some(spec) => {
            let spec = spec_from_wire(spec)?;
            Target::Ephemeral(Box::new(SessionSpec {
                env_is_whole: true,
                ephemeral: true,
                ..spec
            }))
        }
        None if request.session_id.is_empty() => Target::Any {
            task: request.task_id.clone(),
        },
        None => Target::Session(request.session_id),
    };
    // A terminal is beside the session as well, also where it is waited for.
    let target = match args.is_background || request.tty {
        true => behind(target, stdin),
        false => target,
    };
    let order = OrderSpec {
        command: args.command,
        working_directory: args.working_directory,
        timeout_ms: args.timeout,
        tool_call_id: args.tool_call_id,
        task: request.task_id,
        env: request.env.into_iter().collect(),
        sandbox: args.requested_sandbox_policy.map(sandbox_from_wire),
        skip_approval: args.skip_approval,
    };
    Ok((target, order))
}

/// A command to be looked at, and the session that it would run in.
pub(crate) fn check_from_wire(request: wire::CheckCommandRequest) -> (String, CheckSpec) {
    let spec = CheckSpec {
        command: request.command,
        shell: request.shell,
        cwd: request.working_directory,
        role: match request.as_person {
            true => Role::Person,
            false => Role::Agent,
        },
    };
    (request.session_id, spec)
}

/// The same in the background: beside the session, and not in it.
fn behind(target: Target, stdin: Stdin) -> Target {
    let origin = match target {
        Target::Session(id) => Origin::Session(id),
        Target::Ephemeral(spec) => Origin::Fresh(spec),
        Target::Any { task } => Origin::Fresh(Box::new(SessionSpec {
            task,
            ..SessionSpec::default()
        })),
        Target::Background(_) => return target,
    };
    Target::Background(Box::new(Background { origin, stdin }))
}

/// A background command as a request like any other.
pub(crate) fn spawn_from_wire(request: wire::SpawnBackgroundRequest) -> wire::ExecuteRequest {
    let args = request.args.unwrap_or_default();
    wire::ExecuteRequest {
        session_id: request.session_id,
        task_id: request.task_id,
        env: request.env,
        enable_write_shell_stdin_tool: args.enable_write_shell_stdin_tool,
        args: Some(agent::ShellArgs {
            command: args.command,
            working_directory: args.working_directory,
            tool_call_id: args.tool_call_id,
            parsing_result: args.parsing_result,
            requested_sandbox_policy: args.sandbox_policy,
            is_background: true,
            ..agent::ShellArgs::default()
        }),
        ..wire::ExecuteRequest::default()
    }
}

pub(crate) fn wait_from_wire(request: wire::WaitRequest) -> (ShellId, WaitSpec) {
    let milliseconds = |count: u32| Duration::from_millis(u64::from(count));
    let spec = WaitSpec {
        exit: request.exit,
        pattern: request.pattern,
        offset: request.offset,
        port: request.port,
        file: request.file,
        quiet: milliseconds(request.quiet_ms),
        timeout: milliseconds(request.timeout_ms),
    };
    (ShellId(request.shell_id), spec)
}

pub(crate) fn waited_to_wire(waited: Waited) -> wire::WaitResponse {
    let reason = match waited.held {
        Held::Exit => "exit",
        Held::Pattern => "pattern",
        Held::Port => "port",
        Held::File => "file",
        Held::Quiet => "quiet",
        Held::Timeout => "timeout",
    };
    wire::WaitResponse {
        reason: reason.to_owned(),
        matched: waited.matched,
        exit_code: waited.code,
    }
}

/// How a command begins.
fn beginning(mut command: String) -> String {
    if shorten(&mut command, LISTED_COMMAND_BYTES_MAX) {
        command.push('…');
    }
    command
}

pub(crate) fn session_to_wire(view: SessionView) -> wire::Session {
    let SessionView {
        session,
        running,
        queued,
        last,
        terminal_file,
        integration,
        processes,
        quiet,
        quiet_since_ms,
        branch,
    } = view;
    let processes = processes.into_iter().map(|process| wire::ProcessInfo {
        pid: u32::try_from(process.pid).unwrap_or(0),
        command: process.command,
        source: process.source.to_owned(),
    });
    let mode = match session.mode {
        Mode::Line => wire::SessionMode::Line,
        Mode::Pipe => wire::SessionMode::Pipe,
        Mode::Pty => wire::SessionMode::Pty,
    };
    let (last_id, last_command, last_exit_code) = last
        .map_or((0, String::new(), None), |(id, command, code)| {
            (id.0, beginning(command), code)
        });
    let last_shell_id = running.as_ref().map_or(last_id, |(id, _)| id.0);
    wire::Session {
        session_id: session.id.to_string(),
        name: session.name,
        mode: mode.into(),
        working_directory: session.cwd,
        shell: session.shell.path,
        host: session.host,
        task_id: session.task,
        busy: running.is_some() || queued > 0,
        running: running.is_some(),
        active_command: running.map_or_else(String::new, |(_, command)| beginning(command)),
        cols: session.cols,
        rows: session.rows,
        created_unix_ms: session.created_ms,
        last_activity_unix_ms: session.active_ms,
        terminal_file: terminal_file
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default(),
        last_shell_id,
        last_command,
        last_exit_code,
        integration,
        processes: processes.collect(),
        quiet_reason: quiet.to_owned(),
        quiet_since_unix_ms: quiet_since_ms,
        git_branch: branch,
        background: session.background.is_some(),
        accepts_stdin: matches!(session.background, Some(Stdin::Open | Stdin::Terminal)),
    }
}

pub(crate) fn approval_to_wire(approval: Approval) -> wire::Approval {
    let asked_by = match approval.asked_by {
        Role::Agent => "agent",
        Role::Person => "person",
    };
    let prefixes = approval.prefixes.iter().map(|prefix| prefix.join(" "));
    wire::Approval {
        approval_id: approval.id.to_string(),
        session_id: approval.session.to_string(),
        reason: approval.reason,
        asked_unix_ms: approval.asked_ms,
        working_directory: approval.cwd,
        sandbox_policy: Some(sandbox_to_wire(&approval.sandbox)),
        asked_by: asked_by.to_owned(),
        task_id: approval.task,
        deadline_unix_ms: approval.deadline_ms.unwrap_or(0),
        prefixes: prefixes.collect(),
        shell_id: approval.id.0.0,
        command: approval.command,
    }
}

/// What a person says, and about which question.
pub(crate) fn answer_from_wire(
    request: wire::ResolveApprovalRequest,
) -> Result<(String, Answer), Status> {
    let scope = match request.scope() {
        wire::ApprovalScope::Once => ApprovalScope::Once,
        wire::ApprovalScope::Session => ApprovalScope::Session,
        wire::ApprovalScope::Always => ApprovalScope::Always,
    };
    if wire::ApprovalScope::try_from(request.scope).is_err() {
        let message = format!("{} is no scope of an approval", request.scope);
        return Err(invalid(message, "use once, session or always"));
    }
    let (bytes, most) = (request.reason.len(), REASON_BYTES_MAX);
    if bytes > most {
        let message = format!("the reason has {bytes} bytes, and {most} are the limit");
        return Err(invalid(message, "say it shorter"));
    }
    let answer = Answer {
        approve: request.approve,
        reason: request.reason,
        scope,
    };
    Ok((request.approval_id, answer))
}

pub(crate) fn host_to_wire(host: HostView) -> wire::HostInfo {
    let state = match host.state {
        HostState::Here => "here",
        HostState::Up => "up",
        HostState::Down => "down",
        HostState::Idle => "idle",
    };
    let agents = match host.agents {
        AgentUse::Deny => "deny",
        AgentUse::Ask => "ask",
        AgentUse::Allow => "allow",
    };
    wire::HostInfo {
        name: host.name,
        address: host.address,
        state: state.to_owned(),
        agents: agents.to_owned(),
        problem: host.problem,
    }
}
