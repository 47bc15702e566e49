//! One session on one stage, for tests that say policies and commands
//! themselves.

use super::runner::Field;
use super::stage::Stage;
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::agent::v1::{SandboxPolicy, ShellResult, shell_result::Result as Kind};
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Setup, TestSession};
use std::path::PathBuf;
use std::time::Duration;

/// The longest that a command may take; some of them build.
const COMMAND_MS_MAX: i32 = 150_000;

/// A session with its stage; dropped in this order.
pub struct Desk {
    /// The session.
    pub session: TestSession,
    /// Its workspace and what is around it.
    pub stage: Stage,
    /// The daemon and the host.
    pub field: Field,
}

/// How a command ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Absent where it did not run or its code is not known.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Why it was not let run.
    pub refused: Option<String>,
    /// What the walls are said to have refused it.
    pub denials: Vec<String>,
    /// Whether it was ended for its use of memory.
    pub out_of_memory: bool,
    /// The policy that was in force.
    pub policy: Option<SandboxPolicy>,
}

/// The workspace can be written, the network cannot be reached.
pub fn rw() -> SandboxPolicy {
    SandboxPolicy {
        r#type: Type::WorkspaceReadwrite.into(),
        network_access: Some(false),
        ..SandboxPolicy::default()
    }
}

/// Nothing can be written.
pub fn ro() -> SandboxPolicy {
    SandboxPolicy {
        r#type: Type::WorkspaceReadonly.into(),
        ..rw()
    }
}

/// No walls.
pub fn none() -> SandboxPolicy {
    SandboxPolicy {
        r#type: Type::InsecureNone.into(),
        ..SandboxPolicy::default()
    }
}

/// The workspace and the network.
pub fn rw_with_network() -> SandboxPolicy {
    SandboxPolicy {
        network_access: Some(true),
        ..rw()
    }
}

impl Desk {
    /// Opens one with a daemon as people have it.
    pub async fn open(mode: SessionMode) -> Desk {
        Desk::with(Setup::default(), mode, &[]).await
    }

    /// Opens one with this daemon and these additions to its stage.
    pub async fn with(setup: Setup, mode: SessionMode, stages: &[&str]) -> Desk {
        Desk::prepared(setup, mode, stages, |_| ()).await
    }

    /// The same, with a stage that is changed before its session finds it.
    pub async fn prepared(
        setup: Setup,
        mode: SessionMode,
        stages: &[&str],
        prepare: impl Fn(&Stage),
    ) -> Desk {
        let field = Field::open(setup).await;
        let stages: Vec<String> = stages.iter().map(|stage| (*stage).to_owned()).collect();
        let stage = field.stage(&stages);
        prepare(&stage);
        let session = field.session(&stage, mode, None).await;
        let session = session.expect("a session is made");
        Desk {
            session,
            stage,
            field,
        }
    }

    /// Runs a command under a policy.
    pub async fn run(&self, policy: SandboxPolicy, command: &str) -> Ended {
        let request = self.session.with_args(command, |args| {
            args.timeout = COMMAND_MS_MAX;
            args.requested_sandbox_policy = Some(policy);
        });
        let mut client = self.session.client.clone();
        let longest = Duration::from_millis(COMMAND_MS_MAX.unsigned_abs().into()) * 2;
        match tokio::time::timeout(longest, client.run(request)).await {
            Ok(Ok(result)) => ended(result.into_inner()),
            Ok(Err(status)) => Ended {
                refused: Some(status.message().to_owned()),
                ..Ended::default()
            },
            Err(_) => panic!("this does not end: {command}"),
        }
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub async fn works(&self, policy: SandboxPolicy, command: &str) -> String {
        let ended = self.run(policy, command).await;
        assert_eq!(ended.code, Some(0), "{command}\n{ended:#?}");
        ended.stdout
    }

    /// A path in the workspace.
    pub fn inside(&self, name: &str) -> PathBuf {
        self.stage.workspace.join(name)
    }

    /// A path outside.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.stage.outside.join(name)
    }
}

/// Sums a result up.
pub fn ended(result: ShellResult) -> Ended {
    let details = match &result.result {
        Some(Kind::Success(ok)) => ok.exit_details.clone(),
        Some(Kind::Failure(failed)) => failed.exit_details.clone(),
        _ => None,
    };
    let details = details.unwrap_or_default();
    let mut ended = Ended {
        denials: details.sandbox_denials,
        out_of_memory: details.out_of_memory,
        policy: result.sandbox_policy,
        ..Ended::default()
    };
    match result.result.expect("a result has a kind") {
        Kind::Success(ok) => {
            ended.code = Some(ok.exit_code);
            (ended.stdout, ended.stderr) = (ok.stdout, ok.stderr);
        }
        Kind::Failure(failed) => {
            ended.code = (!failed.exit_code_unknown).then_some(failed.exit_code);
            (ended.stdout, ended.stderr) = (failed.stdout, failed.stderr);
        }
        Kind::Timeout(late) => (ended.stdout, ended.stderr) = (late.stdout, late.stderr),
        Kind::SpawnError(error) => ended.refused = Some(error.error),
        Kind::PermissionDenied(denied) => ended.refused = Some(denied.error),
        Kind::Rejected(rejected) => ended.refused = Some(rejected.reason),
    }
    ended
}
