//! What is said of a session, in words that cannot do anything to a terminal.

use glass_policy::text::visible;
use glass_proto::shellglass::v1::{Session, SessionMode, WatchedSession};

/// Programs that are named; there may be more.
const PROGRAMS_MAX: usize = 3;

/// What a session does.
pub(in crate::commands) fn state(
    row: &WatchedSession,
    session: &Session,
    asks: bool,
) -> &'static str {
    match () {
        () if asks => "asks",
        () if session.running => "runs",
        () if row.queued > 0 => "waits",
        () => "idle",
    }
}

/// What it is called.
pub(in crate::commands) fn name(session: &Session) -> String {
    let name = match session.name.as_str() {
        "" => &session.session_id,
        name => name,
    };
    visible(name)
}

/// How its commands run.
pub(in crate::commands) fn mode(session: &Session) -> &'static str {
    match session.mode() {
        SessionMode::Line => "line",
        SessionMode::Pipe => "pipe",
        SessionMode::Pty => "pty",
        SessionMode::Auto | SessionMode::Unspecified => "auto",
    }
}

/// The command that runs, or how the last one ended.
pub(in crate::commands) fn command(session: &Session) -> String {
    if session.running {
        return visible(&session.active_command);
    }
    let code = session.last_exit_code;
    match (session.last_command.as_str(), code) {
        ("", _) => String::new(),
        (last, Some(0)) => format!("✓ {}", visible(last)),
        (last, Some(code)) => format!("✗ {code} {}", visible(last)),
        (last, None) => format!("? {}", visible(last)),
    }
}

/// What runs inside, shortly.
pub(in crate::commands) fn inside(session: &Session) -> String {
    let programs = session.processes.iter().take(PROGRAMS_MAX);
    let programs: Vec<String> = programs
        .map(|process| {
            let program = process.command.split(' ').next().unwrap_or_default();
            let program = program.rsplit('/').next().unwrap_or_default();
            match process.source.as_str() {
                "" | "direct" => visible(program),
                source => format!("{} ({})", visible(program), visible(source)),
            }
        })
        .collect();
    let mut text = programs.join(", ");
    let more = session.processes.len().saturating_sub(PROGRAMS_MAX);
    if more > 0 {
        text += &format!(" +{more}");
    }
    text
}

/// Why it is quiet, for people.
pub(in crate::commands) fn quiet(session: &Session) -> String {
    match session.quiet_reason.as_str() {
        "" => String::new(),
        "terminal" => "waits for keys".to_owned(),
        "password" => "asks for a password".to_owned(),
        "cpu" => "computes".to_owned(),
        "disk" => "waits for the disk".to_owned(),
        "network" => "waits for the network".to_owned(),
        "child" => "waits for a child".to_owned(),
        other => visible(other),
    }
}

/// A time as people say it.
pub(in crate::commands) fn duration(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{} h {:02}", seconds / 3600, seconds / 60 % 60),
    }
}

/// Bytes as people say them.
pub(in crate::commands) fn bytes(count: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut count = count.max(0.0);
    let mut unit = 0;
    while count >= 1024.0 && unit + 1 < units.len() {
        count /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{count:.digits$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::{bytes, command, duration, inside, name, quiet};
    use glass_proto::shellglass::v1::{ProcessInfo, Session};

    #[test]
    fn nothing_in_a_session_does_anything_to_a_terminal() {
        let hostile = "x\u{1b}[2J\u{202e}\r\n\u{9b}31m";
        let process = ProcessInfo {
            command: format!("/bin/{hostile} y"),
            source: hostile.to_owned(),
            ..ProcessInfo::default()
        };
        let session = Session {
            name: hostile.to_owned(),
            running: true,
            active_command: hostile.to_owned(),
            quiet_reason: hostile.to_owned(),
            processes: vec![process; 5],
            ..Session::default()
        };
        for said in [
            name(&session),
            command(&session),
            inside(&session),
            quiet(&session),
        ] {
            assert!(said.contains("<U+001B>[2J<U+202E>"), "{said}");
            assert!(!said.chars().any(char::is_control), "{said:?}");
        }
        assert!(inside(&session).ends_with("+2"));
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(
            (duration(-5), duration(59_999)),
            ("0 s".into(), "59 s".into())
        );
        assert_eq!(
            (duration(61_000), duration(7_260_000)),
            ("1:01".into(), "2 h 01".into())
        );
        assert_eq!(
            (bytes(12.0), bytes(1536.0)),
            ("12 B".into(), "1.5 KiB".into())
        );
    }
}
