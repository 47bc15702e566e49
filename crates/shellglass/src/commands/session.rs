//! `session create`, `list`, `show` and `dispose`.

use crate::cli::{Session as Command, SessionCreate, SessionModeName};
use crate::client::{Client, Context, connect};
use crate::commands::run::{directory, is_elsewhere, mode, there};
use crate::error::Failure;
use crate::stdout;
use glass_model::LOCAL_HOST;
use glass_proto::json;
use glass_proto::shellglass::v1::{
    CreateSessionRequest, ListSessionsRequest, Session, SessionMode, SessionRef,
};
use std::process::ExitCode;

/// Does one of them.
pub(super) async fn session(command: Command) -> Result<ExitCode, Failure> {
    let context = Context::load()?;
    let mut client = connect(&context).await?;
    match command {
        Command::Create(arguments) => create(&context, &mut client, *arguments).await?,
        Command::List { all, json } => list(&mut client, all, json).await?,
        Command::Show { id, json } => {
            let session = client
                .get_session(SessionRef { session_id: id })
                .await?
                .into_inner();
            print(&session, json, details)?;
        }
        Command::Dispose { id, json } => {
            let answer = client
                .dispose_session(SessionRef { session_id: id })
                .await?
                .into_inner();
            if json {
                stdout::print_json(&json::value(&answer))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn create(
    context: &Context,
    client: &mut Client,
    arguments: SessionCreate,
) -> Result<(), Failure> {
    if is_elsewhere(arguments.host.as_deref()) {
        return create_elsewhere(client, arguments).await;
    }
    let defaults = &context.loaded.settings.session;
    let workspace = arguments.workspace.as_deref();
    let mut env: std::collections::HashMap<_, _> = defaults.env.clone().into_iter().collect();
    env.extend(arguments.env);
    let request = CreateSessionRequest {
        working_directory: directory(arguments.cwd.as_deref())?,
        env,
        shell: arguments.shell.unwrap_or_else(|| defaults.shell.clone()),
        mode: arguments
            .mode
            .map_or_else(|| mode(defaults.mode), wire_mode)
            .into(),
        name: arguments.name,
        task_id: arguments.task,
        sandbox_policy: arguments.sandbox.policy(),
        workspace_root: workspace
            .map(|path| directory(Some(path)))
            .transpose()?
            .unwrap_or_default(),
        startup: arguments
            .startup
            .unwrap_or(defaults.startup)
            .as_str()
            .to_owned(),
        host: arguments.host.unwrap_or_else(|| LOCAL_HOST.to_owned()),
        ..CreateSessionRequest::default()
    };
    let session = client.create_session(request).await?.into_inner();
    print(&session, arguments.json, |session| {
        format!("{}\n", session.session_id)
    })
}

/// A session on another host. What is configured for sessions here says nothing
/// about it.
async fn create_elsewhere(client: &mut Client, arguments: SessionCreate) -> Result<(), Failure> {
    let workspace = arguments.workspace.as_deref();
    let request = CreateSessionRequest {
        working_directory: there(arguments.cwd.as_deref())?,
        workspace_root: there(workspace)?,
        env: arguments.env.into_iter().collect(),
        shell: arguments.shell.unwrap_or_default(),
        mode: arguments.mode.map_or(SessionMode::Auto, wire_mode).into(),
        name: arguments.name,
        task_id: arguments.task,
        sandbox_policy: arguments.sandbox.policy(),
        host: arguments.host.unwrap_or_default(),
        ..CreateSessionRequest::default()
    };
    let session = client.create_session(request).await?.into_inner();
    print(&session, arguments.json, |session| {
        format!("{}\n", session.session_id)
    })
}

fn wire_mode(name: SessionModeName) -> SessionMode {
    match name {
        SessionModeName::Auto => SessionMode::Auto,
        SessionModeName::Line => SessionMode::Line,
        SessionModeName::Pipe => SessionMode::Pipe,
        SessionModeName::Pty => SessionMode::Pty,
    }
}

async fn list(client: &mut Client, all: bool, json: bool) -> Result<(), Failure> {
    let request = ListSessionsRequest {
        include_disposed: all,
    };
    let answer = client.list_sessions(request).await?.into_inner();
    if json {
        return stdout::print_json(&json::value(&answer));
    }
    stdout::print(&answer.sessions.iter().map(line).collect::<String>())
}

fn print(session: &Session, json: bool, text: fn(&Session) -> String) -> Result<(), Failure> {
    if json {
        stdout::print_json(&json::value(session))
    } else {
        stdout::print(&text(session))
    }
}

/// One session on one line.
fn line(session: &Session) -> String {
    let state = if session.running { "running" } else { "idle" };
    let what = if session.running {
        &session.active_command
    } else {
        &session.last_command
    };
    let number = match session.background {
        true => format!("  (background {})", session.last_shell_id),
        false => String::new(),
    };
    let host = match session.host.as_str() {
        LOCAL_HOST | "" => String::new(),
        host => format!("{}:", host.escape_debug()),
    };
    format!(
        "{}  {state:<7}  {:<4}  {}  {host}{}  {}{number}\n",
        session.session_id,
        mode_word(session),
        session.name.escape_debug(),
        session.working_directory.escape_debug(),
        what.escape_debug(),
    )
}

fn details(session: &Session) -> String {
    let exit = session
        .last_exit_code
        .map_or_else(|| "none".to_owned(), |code| code.to_string());
    let integration = match session.mode() {
        SessionMode::Pty => session.integration.clone(),
        // Nobody types there.
        _ => String::new(),
    };
    let host = match session.host.as_str() {
        LOCAL_HOST => String::new(),
        host => host.to_owned(),
    };
    let processes = session.processes.iter();
    let processes: Vec<String> = processes
        .map(|process| format!("{} {}", process.pid, process.command))
        .collect();
    let rows = [
        ("session", session.session_id.clone()),
        ("name", session.name.clone()),
        ("task", session.task_id.clone()),
        ("mode", mode_word(session).to_owned()),
        ("shell", session.shell.clone()),
        ("directory", session.working_directory.clone()),
        ("host", host),
        ("integration", integration),
        ("branch", session.git_branch.clone()),
        ("running", session.active_command.clone()),
        ("quiet because", session.quiet_reason.clone()),
        ("processes", processes.join(", ")),
        ("last command", session.last_command.clone()),
        ("last exit code", exit),
        ("last execution", session.last_shell_id.to_string()),
        ("page", session.terminal_file.clone()),
        ("created", time(session.created_unix_ms)),
        ("last activity", time(session.last_activity_unix_ms)),
    ];
    let present = rows.iter().filter(|(_, value)| !value.is_empty());
    present
        .map(|(name, value)| format!("{name:<15} {}\n", value.escape_debug()))
        .collect()
}

fn mode_word(session: &Session) -> &'static str {
    match session.mode() {
        SessionMode::Line => "line",
        SessionMode::Pipe => "pipe",
        SessionMode::Pty => "pty",
        SessionMode::Auto | SessionMode::Unspecified => "auto",
    }
}

/// A moment as people write it, in UTC: `2026-11-15 09:30:00Z`.
pub(crate) fn time(unix_ms: i64) -> String {
    let seconds = unix_ms.div_euclid(1000);
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (
        second_of_day / 3600,
        second_of_day / 60 % 60,
        second_of_day % 60,
    );
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// The date that is so many days after 1970-01-01. Years are counted from
/// March, so that the leap day is the last of its year.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_TO_1970: i64 = 719_468;
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let days = days + DAYS_TO_1970;
    let era = days.div_euclid(DAYS_IN_400_YEARS);
    let day_of_era = days.rem_euclid(DAYS_IN_400_YEARS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{line, time};
    use glass_proto::shellglass::v1::Session;

    #[test]
    fn moments_are_written_in_utc() {
        for (unix_ms, expected) in [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_399_999, "2000-02-28 23:59:59Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (1_794_735_000_000, "2026-11-15 09:30:00Z"),
            (-1, "1969-12-31 23:59:59Z"),
        ] {
            assert_eq!(time(unix_ms), expected);
        }
    }

    #[test]
    fn nothing_in_a_session_breaks_its_line() {
        let session = Session {
            session_id: "s-a".to_owned(),
            name: "two\nlines".to_owned(),
            ..Session::default()
        };
        assert_eq!(line(&session), "s-a  idle     auto  two\\nlines    \n");
    }
}
