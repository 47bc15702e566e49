//! The words around output: what happened, in one line that a model cannot miss.

use super::results::{Executed, SandboxInForce, Shown, Status};
use glass_proto::agent::v1::{ExitDetails, SandboxPolicy, ShellStreamExit, sandbox_policy};
use glass_vt::exit::{Cause, Exit, ExitSignal, explain};
use std::time::Duration;

/// A text: output first, then what happened.
pub(super) fn with_status(shown: &Shown, status: &str) -> String {
    let mut text = shown.output.clone();
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push('[');
    text.push_str(status);
    text.push(']');
    text
}

/// What happened to a command, in one line.
pub(super) fn status_line(executed: &Executed, exit: Option<&str>) -> String {
    let mut parts = vec![match (executed.status, exit) {
        (Status::Exited, Some(exit)) => exit.to_owned(),
        (Status::Running, _) => "still running".to_owned(),
        (Status::Queued, _) => "has not begun: its session is busy".to_owned(),
        _ => "did not run".to_owned(),
    }];
    parts.push(duration(Duration::from_millis(executed.duration_ms)));
    if let Some(cwd) = &executed.cwd {
        let said = if executed.cwd_changed { "now in" } else { "in" };
        parts.push(format!("{said} {}", cwd.escape_debug()));
    }
    if let Some(id) = executed.shell_id {
        parts.push(format!("shell_id {id}"));
    }
    parts.join(" · ")
}

/// A duration as people say it.
pub(super) fn duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// How a command ended, in words.
pub(super) fn exit(exit: &ShellStreamExit) -> String {
    let none = ExitDetails::default();
    let details = exit.exit_details.as_ref().unwrap_or(&none);
    let signal = details.signal_number.map(|number| ExitSignal {
        number,
        name: &details.signal_name,
        core_dump_possible: details.core_dump_possible,
    });
    let cause = match (exit.aborted, exit.abort_reason()) {
        (true, glass_proto::agent::v1::ShellAbortReason::Timeout) => Cause::Timeout,
        (true, _) => Cause::Cancelled,
        (false, _) if details.out_of_memory => Cause::OutOfMemory,
        _ => Cause::Itself,
    };
    explain(&Exit {
        code: (!exit.code_unknown).then_some(exit.code.cast_signed()),
        signal,
        cause,
        denials: &details.sandbox_denials,
        wants_terminal: details.wants_terminal,
    })
}

/// The rights in force, in the words of the arguments.
pub(super) fn sandbox(policy: &SandboxPolicy) -> SandboxInForce {
    SandboxInForce {
        r#type: match policy.r#type() {
            sandbox_policy::Type::Unspecified => "unknown",
            sandbox_policy::Type::InsecureNone => "none",
            sandbox_policy::Type::WorkspaceReadwrite => "rw",
            sandbox_policy::Type::WorkspaceReadonly => "ro",
        },
        network: policy.network_access,
    }
}

/// The last line that has something in it, bounded: for a look at what goes on.
pub(super) fn last_line(bytes: &[u8]) -> Option<String> {
    /// Bytes that are looked at.
    const LOOK_BYTES: usize = 1024;
    /// Characters that are shown.
    const SHOWN_CHARS: usize = 120;
    let text = glass_vt::text::clean(&bytes[bytes.len().saturating_sub(LOOK_BYTES)..]);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(SHOWN_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::{Executed, Shown, Status, duration, exit, last_line, status_line, with_status};
    use crate::commands::mcp::pages::Look;
    use glass_proto::agent::v1::{ExitDetails, ShellStreamExit};
    use proptest::strategy::{Just, Strategy as _};
    use std::time::Duration;

    #[test]
    fn durations_are_short() {
        for (ms, said) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_250, "1.2 s"),
            (61_000, "1 min 1 s"),
        ] {
            assert_eq!(duration(Duration::from_millis(ms)), said);
        }
    }

    #[test]
    fn a_text_ends_with_what_happened() {
        let executed = Executed {
            cwd: Some("/a".to_owned()),
            cwd_changed: true,
            shell_id: Some(7),
            duration_ms: 12,
            ..Executed::default()
        };
        let status = status_line(&executed, Some("exit code 1"));
        let shown = Shown {
            output: "x".to_owned(),
            ..Shown::default()
        };
        let text = with_status(&shown, &status);
        assert_eq!(text, "x\n[exit code 1 · 12 ms · now in /a · shell_id 7]");
        let running = Executed {
            status: Status::Running,
            ..Executed::default()
        };
        let text = with_status(&Shown::default(), &status_line(&running, None));
        assert_eq!(text, "(no output)\n[still running · 0 ms]");
    }

    #[test]
    fn an_end_is_explained_and_its_code_kept() {
        let killed = ShellStreamExit {
            code: 137,
            exit_details: Some(ExitDetails {
                signal_number: Some(9),
                signal_name: "SIGKILL".to_owned(),
                ..ExitDetails::default()
            }),
            ..ShellStreamExit::default()
        };
        assert!(exit(&killed).starts_with("exit code 137: ended by SIGKILL"));
        let timeout = ShellStreamExit {
            aborted: true,
            abort_reason: Some(2),
            ..killed
        };
        assert_eq!(
            exit(&timeout),
            "exit code 137: its time ran out and it was ended"
        );
        let unknown = ShellStreamExit {
            code_unknown: true,
            ..ShellStreamExit::default()
        };
        assert_eq!(exit(&unknown), "exit code unknown");
    }

    proptest::proptest! {
        #[test]
        fn the_exit_code_is_the_commands_own_whatever_it_wrote(
            parts in proptest::collection::vec(
                proptest::prop_oneof![
                    ".{0,40}".prop_map(String::into_bytes),
                    Just(b"\n[exit code 0 \xc2\xb7 0 ms]".to_vec()),
                    Just(b"\r\x1b[2K".to_vec()),
                    proptest::collection::vec(proptest::num::u8::ANY, 0..40),
                ],
                0..30,
            ),
            code in 0u32..256,
            aborted: bool,
            max_chars in proptest::option::of(1u32..600),
            cwd: String,
        ) {
            let executed = Executed {
                shown: Look::new(&crate::config::TextSettings::default(), max_chars).at(&parts.concat()),
                cwd: Some(cwd),
                ..Executed::default()
            };
            let ended = ShellStreamExit { code, aborted, ..ShellStreamExit::default() };
            let status = status_line(&executed, Some(&exit(&ended)));
            let text = with_status(&executed.shown, &status);
            let last = text.lines().next_back().unwrap_or_default();
            let said = last.strip_prefix(&format!("[exit code {code}"));
            proptest::prop_assert!(said.is_some_and(|rest| !rest.starts_with(char::is_numeric)));
        }
    }

    #[test]
    fn a_progress_bar_is_seen_as_it_stands() {
        assert_eq!(last_line(b"a\n10%\r50%\r\n\n").as_deref(), Some("50%"));
        assert_eq!(last_line(b"\n \n"), None);
    }
}
