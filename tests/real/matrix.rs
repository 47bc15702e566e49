//! The same test in every shell, warm and line by line.

use glass_proto::shellglass::v1::SessionMode;
use glass_proto::shellglass::v1::session_event::Event;
use shellglass_tests::{Daemon, TestSession};
use std::path::PathBuf;

/// Every shell that can be driven.
pub const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "dash"];

/// One shell in one mode, in a directory of its own.
pub struct Case {
    pub shell: &'static str,
    pub mode: SessionMode,
    pub dir: PathBuf,
    pub session: TestSession,
}

/// Runs a test for every shell in both modes; the shells are at work at the
/// same time, and must not disturb each other.
pub async fn each_case(daemon: &Daemon, test: impl AsyncFn(Case)) {
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let [bash, zsh, fish, dash] = SHELLS.map(|shell| Case::make(daemon, shell, mode));
        tokio::join!(
            async { test(bash.await).await },
            async { test(zsh.await).await },
            async { test(fish.await).await },
            async { test(dash.await).await },
        );
    }
}

impl Case {
    /// Makes a session in a directory of its own.
    pub async fn make(daemon: &Daemon, shell: &'static str, mode: SessionMode) -> Case {
        let dir = daemon
            .home()
            .join(format!("{shell}-{}", mode.as_str_name()));
        std::fs::create_dir(&dir).unwrap();
        Case::make_in(daemon, shell, mode, dir).await
    }

    /// Makes a session in a directory that exists.
    pub async fn make_in(
        daemon: &Daemon,
        shell: &'static str,
        mode: SessionMode,
        dir: PathBuf,
    ) -> Case {
        let session = TestSession::with(daemon, shell, mode).await;
        let moved = session.run(&format!("cd '{}'", dir.display())).await;
        assert_eq!(moved.code, Some(0), "{shell} {mode:?}: {moved:?}");
        Case {
            shell,
            mode,
            dir,
            session,
        }
    }

    /// The command that exports a variable.
    pub fn export(&self, name: &str, value: &str) -> String {
        match self.shell {
            "fish" => format!("set -gx {name} {value}"),
            _ => format!("export {name}={value}"),
        }
    }

    /// The execution that began last.
    pub async fn last_started(&self) -> u32 {
        let events = self.session.events().await;
        let started = events.iter().rev().find_map(|event| match event.event {
            Some(Event::CommandStart(_)) => Some(event.shell_id),
            _ => None,
        });
        started.expect("something has begun")
    }

    /// The process of the execution that began last.
    pub async fn running_pid(&self) -> u32 {
        let events = self.session.events().await;
        let pid = events.iter().rev().find_map(|event| match &event.event {
            Some(Event::CommandStart(start)) => Some(start.pid),
            _ => None,
        });
        pid.expect("something has begun")
    }
}
