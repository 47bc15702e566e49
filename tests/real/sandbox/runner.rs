//! Runs scripts under their policies and gathers what they say.

use super::outside::Outside;
use super::probe::{Probe, Variables};
use super::stage::{Stage, place};
use glass_proto::agent::v1::{SandboxPolicy, ShellResult, shell_result::Result as Kind};
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::{Daemon, Setup, TestSession};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tonic::Status;

/// Cases that run at the same time.
const CASES_AT_ONCE: usize = 4;

/// The longest that a case may take; one of them builds a crate.
const CASE_MS_MAX: i32 = 150_000;

/// Why a script may say that it cannot judge, and for whom.
const SKIPS: &[(&str, Whom)] = &[
    // Not in a terminal, which `corpus.rs` sees to.
    ("SKIP no tty", Whom::Everybody),
    ("SKIP not a virtual console", Whom::Everybody),
    // What the kernel does not have cannot be misused.
    ("SKIP no AF_VSOCK", Whom::Everybody),
    ("SKIP no ia32 emulation", Whom::Everybody),
    ("SKIP io_uring disabled on this kernel", Whom::Everybody),
    ("SKIP no TCP6_PORT", Whom::Everybody),
    // Only root could do it without a sandbox.
    ("SKIP not root", Whom::OrdinaryUser),
    // A limit for all processes needs a cgroup, which only root has here.
    ("SKIP no PIDS_MAX", Whom::OrdinaryUser),
    ("SKIP no MEM_MAX_MB", Whom::OrdinaryUser),
];

/// Whose run may have a reason.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whom {
    Everybody,
    OrdinaryUser,
}

/// Whether a script may say this instead of a verdict.
fn may_skip(said: &str) -> bool {
    SKIPS.iter().any(|(reason, whom)| {
        said == *reason && (*whom == Whom::Everybody || !super::stage::is_root())
    })
}

/// A daemon and a host around it, for scripts.
pub struct Field {
    /// The daemon; it ends before its place does.
    pub daemon: Daemon,
    /// What is outside.
    pub host: Outside,
    /// What every session here is told beside its stage.
    pub variables: Variables,
    place: TempDir,
}

/// What one script said.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Its name, and how it was run.
    pub name: String,
    /// What it should have said.
    pub expect: String,
    /// What it said.
    pub said: String,
    /// The end of what it wrote beside it.
    pub remarks: String,
}

impl Verdict {
    fn new(probe: &Probe, way: Way, said: &str, remarks: &str) -> Verdict {
        Verdict {
            name: format!("{} [{}]", probe.name, way.name()),
            expect: probe.expect.clone(),
            said: said.to_owned(),
            remarks: remarks.to_owned(),
        }
    }

    /// Whether it is what it should be.
    pub fn is_right(&self) -> bool {
        self.said == self.expect || may_skip(&self.said)
    }
}

/// What a script is run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A session of this mode.
    Session(SessionMode),
    /// A terminal of its own, in a session that has none.
    OwnTerminal,
}

impl From<SessionMode> for Way {
    fn from(mode: SessionMode) -> Way {
        Way::Session(mode)
    }
}

impl Way {
    fn mode(self) -> SessionMode {
        match self {
            Way::Session(mode) => mode,
            Way::OwnTerminal => SessionMode::Pipe,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Way::Session(mode) => mode.as_str_name(),
            Way::OwnTerminal => "tty",
        }
    }

    /// Whether both outputs are one.
    fn is_terminal(self) -> bool {
        matches!(self, Way::OwnTerminal | Way::Session(SessionMode::Pty))
    }
}

/// How a script's policy is asked for.
#[derive(Clone, Debug)]
pub enum Asked {
    /// As the script wants it.
    ByTheScript,
    /// This one instead.
    Instead(SandboxPolicy),
}

impl Field {
    /// Opens one with a daemon that is started like this.
    pub async fn open(setup: Setup) -> Field {
        let place = place();
        let home = tempfile::Builder::new()
            .prefix("h")
            .tempdir_in(place.path());
        let home = home.unwrap();
        for (file, text) in SECRETS {
            let path = home.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let daemon = Daemon::set_up(home, setup);
        let config = daemon.home().join("config").to_string_lossy().into_owned();
        let home = daemon.home().to_string_lossy().into_owned();
        let variables = [("AGENT_CONFIG_DIR", config), ("PERSON_HOME", home)];
        Field {
            daemon,
            host: Outside::open().await,
            variables: variables
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            place,
        }
    }

    /// A stage for one case.
    pub fn stage(&self, stages: &[String]) -> Stage {
        let mut stage = Stage::build(self.place.path(), &self.host, stages);
        stage.variables.extend(self.variables.clone());
        stage
    }

    /// A session whose workspace is the stage's.
    pub async fn session(
        &self,
        stage: &Stage,
        mode: SessionMode,
        policy: Option<SandboxPolicy>,
    ) -> Result<TestSession, Status> {
        let workspace = stage.workspace.to_string_lossy().into_owned();
        let request = CreateSessionRequest {
            working_directory: workspace.clone(),
            workspace_root: workspace,
            env: stage.variables.clone().into_iter().collect(),
            shell: "bash".to_owned(),
            mode: mode.into(),
            startup: "none".to_owned(),
            sandbox_policy: policy,
            ..CreateSessionRequest::default()
        };
        let mut client = self.daemon.client().await;
        let id = client
            .create_session(request)
            .await?
            .into_inner()
            .session_id;
        Ok(TestSession { client, id })
    }

    /// Runs one script, or several that belong together, in one session.
    pub async fn judge(
        &self,
        probes: &[Probe],
        way: impl Into<Way>,
        asked: &Asked,
    ) -> Vec<Verdict> {
        let way = way.into();
        let mode = way.mode();
        let stages: Vec<String> = probes.iter().flat_map(|p| p.stages.clone()).collect();
        let stage = self.stage(&stages);
        let policy = |probe: &Probe| match asked {
            Asked::ByTheScript => probe.policy(&stage.variables),
            Asked::Instead(policy) => policy.clone(),
        };
        // Half of the runs have their policy from the session, half from the
        // request: both must lead to the same walls.
        // A terminal has one policy, which is its session's.
        let is_of_session = mode != SessionMode::Pipe || matches!(asked, Asked::Instead(_));
        let of_session = is_of_session.then(|| policy(&probes[0]));
        let session = match self.session(&stage, mode, of_session.clone()).await {
            Ok(session) => session,
            Err(status) => {
                let refused = |probe| Verdict::new(probe, way, "REFUSED", status.message());
                return probes.iter().map(refused).collect();
            }
        };
        let mut verdicts = Vec::new();
        for probe in probes {
            let mut request = session.with_args(&in_bash(&probe.script), |args| {
                args.timeout = CASE_MS_MAX;
                if of_session.is_none() {
                    args.requested_sandbox_policy = Some(policy(probe));
                }
            });
            request.tty = way == Way::OwnTerminal;
            let mut client = session.client.clone();
            let result = client.run(request);
            let longest = Duration::from_millis(CASE_MS_MAX.unsigned_abs().into()) * 2;
            let (said, remarks) = match tokio::time::timeout(longest, result).await {
                Ok(Ok(result)) if way.is_terminal() => shown(said(result.into_inner())),
                Ok(Ok(result)) => said(result.into_inner()),
                Ok(Err(status)) => ("REFUSED".to_owned(), status.message().to_owned()),
                Err(_) => ("HANGS".to_owned(), String::new()),
            };
            verdicts.push(Verdict::new(probe, way, &said, &remarks));
        }
        session.dispose().await;
        verdicts
    }
}

/// What nobody inside may read of the person's home.
const SECRETS: &[(&str, &str)] = &[
    (".ssh/id_ed25519", "SBX-HOME-SECRET\n"),
    (".gnupg/secring.gpg", "SBX-HOME-SECRET\n"),
    (".aws/credentials", "SBX-HOME-SECRET\n"),
    (".netrc", "SBX-HOME-SECRET\n"),
    (".git-credentials", "SBX-HOME-SECRET\n"),
    (".config/gh/hosts.yml", "SBX-HOME-SECRET\n"),
];

/// A script as a word for bash.
pub fn in_bash(script: &str) -> String {
    format!("bash -c '{}'", script.replace('\'', r"'\''"))
}

/// A script's verdict is all of its standard output.
fn said(result: ShellResult) -> (String, String) {
    let tail = |text: String| {
        let skip = text.chars().count().saturating_sub(600);
        text.chars().skip(skip).collect::<String>()
    };
    match result.result.expect("a result has a kind") {
        Kind::Success(ok) => (ok.stdout.trim().to_owned(), tail(ok.stderr)),
        Kind::Failure(failed) => {
            let said = format!("{} (exit {})", failed.stdout.trim(), failed.exit_code);
            (said, tail(failed.stderr))
        }
        Kind::Timeout(late) => ("TIMEOUT".to_owned(), tail(late.stderr)),
        Kind::SpawnError(error) => ("NOT STARTED".to_owned(), error.error),
        Kind::PermissionDenied(denied) => ("DENIED".to_owned(), denied.error),
        Kind::Rejected(rejected) => ("REJECTED".to_owned(), rejected.reason),
    }
}

/// In a terminal the verdict is the last line, behind all remarks.
fn shown((said, _): (String, String)) -> (String, String) {
    let last = said
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    (last.unwrap_or_default().to_owned(), said.clone())
}

/// Runs every script in both modes, several at once, and gives what they said.
pub async fn judge_all(field: Field, probes: Vec<Probe>, asked: Asked) -> Vec<Verdict> {
    let modes = [SessionMode::Pipe, SessionMode::Line].map(Way::Session);
    let groups = groups(&probes).into_iter();
    let cases = groups.flat_map(|group| modes.map(|way| (group.clone(), way)));
    judge_cases(field, cases.collect(), asked).await
}

/// Runs every script in one of two kinds of terminals: half of them each, and
/// the other halves where the tests run as an ordinary user.
pub async fn judge_in_terminals(field: Field, probes: Vec<Probe>) -> Vec<Verdict> {
    let mut kinds = [SessionMode::Pty.into(), Way::OwnTerminal];
    if !super::stage::is_root() {
        kinds.reverse();
    }
    let groups = groups(&probes).into_iter();
    let cases = groups.zip(kinds.into_iter().cycle());
    judge_cases(field, cases.collect(), Asked::ByTheScript).await
}

async fn judge_cases(field: Field, given: Vec<(Vec<Probe>, Way)>, asked: Asked) -> Vec<Verdict> {
    let field = Arc::new(field);
    let places = Arc::new(Semaphore::new(CASES_AT_ONCE));
    let mut cases = JoinSet::new();
    for (group, way) in given {
        let (field, places, asked) = (field.clone(), places.clone(), asked.clone());
        cases.spawn(async move {
            let _place = places.acquire().await.unwrap();
            field.judge(&group, way, &asked).await
        });
    }
    let mut verdicts: Vec<Verdict> = cases.join_all().await.into_iter().flatten().collect();
    verdicts.sort_by(|a, b| a.name.cmp(&b.name));
    verdicts
}

/// A script that checks what another one left comes after it.
fn groups(probes: &[Probe]) -> Vec<Vec<Probe>> {
    let only = std::env::var("SHELLGLASS_TEST_ONLY").unwrap_or_default();
    let mut groups: Vec<Vec<Probe>> = Vec::new();
    for probe in probes.iter().filter(|probe| probe.name.contains(&only)) {
        match groups.last_mut() {
            Some(last) if probe.name.contains("_2_") => last.push(probe.clone()),
            _ => groups.push(vec![probe.clone()]),
        }
    }
    groups
}

/// The verdicts that are wrong, one on each line.
pub fn wrong(verdicts: &[Verdict]) -> String {
    let line = |verdict: &Verdict| {
        let (name, expect, said) = (&verdict.name, &verdict.expect, &verdict.said);
        let remarks = verdict.remarks.trim().replace('\n', "\n        | ");
        format!("{name}: {said:?}, not {expect:?}\n        | {remarks}\n")
    };
    let wrong = verdicts.iter().filter(|verdict| !verdict.is_right());
    wrong.map(line).collect()
}

/// The programs that scripts find: the system's, and the Rust toolchain that
/// runs the tests.
pub fn search_path() -> String {
    let sysroot = match std::env::var("SHELLGLASS_TEST_RUST") {
        Ok(given) => PathBuf::from(given),
        Err(_) => {
            let asked = std::process::Command::new("rustc")
                .args(["--print", "sysroot"])
                .output();
            let answer = asked.expect("there is a Rust compiler").stdout;
            PathBuf::from(String::from_utf8(answer).unwrap().trim())
        }
    };
    let system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    format!("{}:{system}", sysroot.join("bin").display())
}
