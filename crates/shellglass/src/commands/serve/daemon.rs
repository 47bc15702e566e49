//! The daemon itself: journal, keeper, sessions, service, in this order, each
//! of which needs the one before.

use super::exposure;
use super::inherited;
use super::pid::PidFile;
use super::plan::Plan;
use super::tokens;
use crate::commands::mcp;
use crate::config::{Level, Listen};
use crate::environment;
use crate::error::{Failure, Kind, with_causes};
use glass_model::Limits;
use glass_proto::{json, parsing_result, sandbox_to_wire};
use glass_server::{Listening, Options, Tcp, Tokens};
use glass_session::{
    Adapting, ConsoleManner, Engine, Habits, Hosts, Redaction, Settings, Timeouts, Wording,
};
use glass_spawn::{Keeper, KeeperEvent, start_keeper};
use glass_store::{OpenError, Store};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

/// Time for a keeper to come up.
const KEEPER_DEADLINE: Duration = Duration::from_secs(5);

/// Time for a daemon that is stopping to let go of the journal, and the pause
/// between two tries to have it.
const HANDOVER_DEADLINE: Duration = Duration::from_secs(3);
const HANDOVER_PAUSE: Duration = Duration::from_millis(20);

/// How often quotas are looked at.
const RETENTION_PAUSE: Duration = Duration::from_secs(5);

/// Where the page is, unless something else is there.
pub(crate) const USUAL_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7583);

/// Answers that hold for always, beside the journal.
pub(crate) const REMEMBERED_FILE: &str = "remembered.toml";

/// Serves until it is told to stop; `announce` says where, once it is ready.
pub(super) async fn run(
    plan: &Plan,
    announce: impl FnOnce(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // From here on a signal ends us in order, also while we begin.
    let stop = stop_signals()?;
    let exposure = exposure::of(&plan.settings.daemon)?;
    #[cfg(feature = "otlp")]
    let collector = super::otlp::Collector::find(&|name| std::env::var(name).ok());
    let inherited = inherited::listener(&plan.socket)?;
    let store = take_journal(plan).await?;
    let tokens = tokens::load(&plan.data_dir)?;
    let (keeper, events) = reach_keeper(plan).await?;
    let started = Engine::start(session_settings(plan)?, store, keeper, events).await;
    let engine = started.map_err(|error| Failure::new(Kind::Failed, with_causes(&error)))?;
    #[cfg(feature = "otlp")]
    if let Some(collector) = collector {
        collector.follow(&engine);
    }
    let _pid_file = PidFile::write(plan.pid_file())?;
    tokio::spawn(keep_within_quotas(engine.clone()));
    let leaving = engine.clone();
    let keeper_lost = engine.keeper_lost();
    let listen = match plan.settings.daemon.listen {
        Listen::Auto => Tcp::Near(USUAL_ADDRESS),
        Listen::Nowhere => Tcp::Closed,
        Listen::On(address) => Tcp::At(address),
    };
    let names = plan.settings.daemon.names.clone();
    let mut announced = Ok(());
    let ready = |listening: Listening| {
        log_ready(&listening);
        announced = announce(&places(&listening, &tokens));
    };
    let mcp = mcp::mount(&mcp::Within {
        settings: &plan.settings,
        socket: &plan.socket,
        data_dir: &plan.data_dir,
        tokens: &tokens,
    });
    let options = Options {
        engine,
        socket: plan.socket.clone(),
        inherited,
        listen,
        exposure,
        names,
        tokens: tokens.clone(),
        mcp,
    };
    let mut end = End::Asked;
    let stop = async {
        tokio::select! {
            () = stop => {}
            () = lost(keeper_lost) => end = End::KeeperLost,
        }
    };
    let served = glass_server::serve(options, ready, stop).await;
    leaving.disconnect().await;
    tracing::info!("the daemon ends; what runs goes on");
    served.map_err(|error| Failure::new(Kind::Failed, with_causes(&error)))?;
    announced?;
    end.into()
}

/// Why a daemon ends.
enum End {
    Asked,
    KeeperLost,
}

impl From<End> for Result<(), Failure> {
    fn from(end: End) -> Result<(), Failure> {
        match end {
            End::Asked => Ok(()),
            End::KeeperLost => Err(Failure::new(Kind::Broken, "the keeper is lost")
                .hint("start the daemon again; what ran in its sessions is gone")),
        }
    }
}

/// Opens the journal. One that is locked although nobody answers, or by a
/// process that is no more, belongs to a daemon that is just stopping or
/// beginning, or to a child that it had just forked; these are waited for.
async fn take_journal(plan: &Plan) -> Result<Store, Failure> {
    let deadline = Instant::now() + HANDOVER_DEADLINE;
    let limits = Limits::from(&plan.settings.limits);
    loop {
        match Store::open(&plan.data_dir, &limits) {
            Err(OpenError::Locked { pid, .. })
                if Instant::now() < deadline
                    && (is_gone(pid) || UnixStream::connect(&plan.socket).is_err()) =>
            {
                tokio::time::sleep(HANDOVER_PAUSE).await;
            }
            opened => return opened.map_err(no_journal),
        }
    }
}

/// Whether it is certain that there is no such process.
fn is_gone(pid: Option<u32>) -> bool {
    let pid = pid.and_then(|pid| Pid::from_raw(pid.cast_signed()));
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

fn no_journal(error: OpenError) -> Failure {
    let failure = Failure::new(Kind::Failed, with_causes(&error));
    match error {
        OpenError::Locked { .. } => failure.hint(
            "a daemon is running there already, and `shellglass run` uses it; \
             another one needs its own --data-dir and --socket",
        ),
        OpenError::ReadOnly { .. } | OpenError::NotADirectory { .. } => {
            failure.hint("choose a directory that you can write with --data-dir")
        }
        OpenError::Unfinished(_) => {
            failure.hint("free space on the disk of the data directory; nothing is lost")
        }
        OpenError::NewerSchema { .. } => failure.hint("use the newer Shellglass that wrote it"),
        OpenError::Corrupt { .. } => failure.hint("move the file away, and a new journal is begun"),
        _ => failure,
    }
}

async fn reach_keeper(plan: &Plan) -> Result<(Keeper, mpsc::Receiver<KeeperEvent>), Failure> {
    let program = own_program()?;
    let socket = plan.keeper_socket();
    let arguments: Vec<OsString> = vec![
        "keeper".into(),
        "--socket".into(),
        socket.clone().into(),
        "--idle-seconds".into(),
        plan.settings.keeper.idle_seconds.to_string().into(),
    ];
    let log = plan.data_dir.join("keeper.log");
    start_keeper(&program, &arguments, &socket, Some(&log), KEEPER_DEADLINE)
        .await
        .map_err(|error| Failure::new(Kind::Failed, with_causes(&error)))
}

fn session_settings(plan: &Plan) -> Result<Settings, Failure> {
    let session = &plan.settings.session;
    let remembered = plan.data_dir.join(REMEMBERED_FILE);
    let policy = plan.settings.policy.in_environment();
    if plan.settings.integration.tools && policy.agent != Level::Off {
        let message = "[integration] tools: agents have terminals only where nothing judges them";
        let hint = "set policy.agent to \"off\" as well, or leave tools out";
        return Err(Failure::new(Kind::Usage, message).hint(hint));
    }
    Ok(Settings {
        limits: Limits::from(&plan.settings.limits),
        runtime_dir: plan.runtime_dir.clone(),
        base_env: environment::entries(std::env::vars_os(), &session.scrub_env),
        extra_env: session.env.clone().into_iter().collect(),
        mode: plan.mode(),
        shell: session.shell.clone(),
        startup: plan.startup(),
        working_directory: plan.working_directory(),
        cgroups: plan.uses_cgroups(),
        sandboxing: plan.sandboxing(),
        gatekeeping: policy.gatekeeping(&plan.settings.approvals, remembered)?,
        hooks: plan.settings.hooks.hooks(std::env::vars_os()),
        wording: Wording {
            policy: |policy| json::value(&sandbox_to_wire(policy)),
            reading: |reading| json::value(&parsing_result(reading)),
        },
        redaction: redaction(plan)?,
        adapting: adapting(plan)?,
        timeouts: Timeouts::from(&plan.settings.commands),
        agents_on_terminals: plan.settings.integration.tools,
        habits: Habits::from(&plan.settings.integration),
        text: (&plan.settings.text).into(),
        console: ConsoleManner::from(&plan.settings.console),
        dispose_after_close: plan.settings.views.dispose_after_close(),
        unlisted: plan.settings.views.unlisted_programs.as_slice().into(),
        hosts: hosts(plan)?,
    })
}

/// The other hosts. Our own program stands beside what runs there.
fn hosts(plan: &Plan) -> Result<Hosts, Failure> {
    let hosts = plan.settings.hosts.hosts(own_program()?);
    hosts.map_err(|why| Failure::new(Kind::Usage, format!("[hosts] cannot be used: {why}")))
}

fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::new(
            Kind::Broken,
            format!("our own program cannot be found: {error}"),
        )
    })
}

fn adapting(plan: &Plan) -> Result<Option<Adapting>, Failure> {
    plan.settings.adapters.adapting().map_err(|name| {
        let message = format!("[adapters] off: there is no tool '{}'", name.escape_debug());
        let known = glass_adapt::names().join(", ");
        Failure::new(Kind::Usage, message).hint(format!("there are {known}"))
    })
}

/// What is taken out of output. Our own environment is read whole: also what is
/// not passed on to commands may be found in a file.
fn redaction(plan: &Plan) -> Result<Option<Redaction>, Failure> {
    let variables: Vec<(Vec<u8>, Vec<u8>)> = std::env::vars_os()
        .map(|(name, value)| (name.into_vec(), value.into_vec()))
        .collect();
    let redaction = plan.settings.redaction.redaction(&variables);
    redaction.map_err(|error| {
        Failure::new(Kind::Usage, format!("[redaction] cannot be used: {error}"))
            .hint("`shellglass filter redact` tries the rules without a daemon")
    })
}

/// The log's first words; a token has no place in them.
fn log_ready(listening: &Listening) {
    let page = listening.page.as_deref().unwrap_or("none");
    let version = env!("CARGO_PKG_VERSION");
    let socket = listening.socket.display();
    tracing::info!(version, %socket, page, "the daemon listens");
}

/// Where we listen, as a person copies it.
fn places(listening: &Listening, tokens: &Tokens) -> String {
    let unix = format!("unix:{}", listening.socket.display());
    match &listening.page {
        Some(page) => format!("{unix} and {page}/#token={}", tokens.person),
        None => unix,
    }
}

fn stop_signals() -> Result<impl Future<Output = ()>, Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Failure::new(Kind::Broken, format!("signals cannot be received: {error}"))
        })
    };
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

async fn lost(mut keeper_lost: watch::Receiver<bool>) {
    // An error means that the engine has gone, and we with it.
    let _ = keeper_lost.wait_for(|lost| *lost).await;
}

async fn keep_within_quotas(engine: Engine) {
    loop {
        tokio::time::sleep(RETENTION_PAUSE).await;
        let engine = engine.clone();
        let _ = tokio::task::spawn_blocking(move || engine.retain()).await;
    }
}
