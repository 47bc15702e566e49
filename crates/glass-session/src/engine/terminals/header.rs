//! What stands at the top of a page.
//!
//! Invariant: how long it is depends on the command and the directory alone, so
//! that what is below stays where it is while a command begins, runs and ends.

/// Characters of the command and of the directory that are shown.
const TEXT_CHARS_MAX: usize = 1000;

/// Widths of the other fields, in characters.
const PID_WIDTH: usize = 10;
const STATUS_WIDTH: usize = 7;
const EXIT_WIDTH: usize = 16;

/// What ends it.
const RULE: &str = "---\n";

/// How far a session's command came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Status {
    /// There was none.
    #[default]
    Idle,
    /// It waits for its turn, or for a person.
    Waiting,
    /// It runs.
    Running,
    /// It is over.
    Exited,
}

/// The fields of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// The process of the shell that runs the command; 0 is none.
    pub(super) pid: u32,
    pub(super) directory: String,
    pub(super) command: String,
    pub(super) status: Status,
    /// The code, and the signal behind it; absent while it runs.
    pub(super) exit: Option<String>,
}

impl Header {
    /// As lines.
    pub(super) fn render(&self) -> String {
        let status = match self.status {
            Status::Idle => "idle",
            Status::Waiting => "waiting",
            Status::Running => "running",
            Status::Exited => "exited",
        };
        let pid = match self.pid {
            0 => String::new(),
            pid => pid.to_string(),
        };
        let exit = self.exit.as_deref().unwrap_or_default();
        format!(
            "pid: {pid:<PID_WIDTH$}\ndirectory: {}\ncommand: {}\nstatus: {status:<STATUS_WIDTH$}\n\
             exit: {:<EXIT_WIDTH$}\n{RULE}",
            one_line(&self.directory),
            one_line(&self.command),
            exit.chars().take(EXIT_WIDTH).collect::<String>(),
        )
    }
}

/// A text on one line, shortened.
pub(super) fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut line: String = text.chars().take(TEXT_CHARS_MAX).map(plain).collect();
    if text.chars().nth(TEXT_CHARS_MAX).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_length_does_not_depend_on_how_far_the_command_came() {
        let begun = Header {
            pid: 7,
            directory: "/a".to_owned(),
            command: "cat\n-".to_owned(),
            status: Status::Running,
            exit: None,
        };
        let text = begun.render();
        let start = "pid: 7         \ndirectory: /a\ncommand: cat -\nstatus: running\nexit: ";
        assert!(text.starts_with(start), "{text:?}");
        assert!(text.ends_with("\n---\n"));
        for (pid, status, exit) in [
            (0, Status::Waiting, None),
            (u32::MAX, Status::Exited, Some("0".to_owned())),
            (4_194_304, Status::Exited, Some("137 SIGKILL".to_owned())),
            (1, Status::Idle, Some("x".repeat(99))),
        ] {
            let other = Header {
                pid,
                status,
                exit,
                ..begun.clone()
            };
            assert_eq!(other.render().len(), text.len(), "{other:?}");
        }
    }
}
