//! What all sessions of a daemon share.

use crate::engine::{Adapting, Connections, Timeouts, Wording};
use crate::figures::Figures;
use crate::gate::{Gatekeeping, Remembered};
use crate::hosts::Hosts;
use crate::redaction::{Detectors, Redaction};
use crate::repositories::Repositories;
use crate::routes::Routes;
use crate::sandbox::{Sandboxing, feature_names};
use crate::stands::Stands;
use crate::thrift::Thrift;
use glass_hooks::Hooks;
use glass_model::{Limits, Mode, Session, Startup};
use glass_spawn::{Features, Keeper};
use glass_store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Notify, watch};

/// How a daemon runs its sessions.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Every bound.
    pub limits: Limits,
    /// Where sessions have their pipes; private to this user.
    pub runtime_dir: PathBuf,
    /// The environment that a session inherits, as `NAME=VALUE`.
    pub base_env: Vec<Vec<u8>>,
    /// Variables that every session gets on top of it.
    pub extra_env: Vec<(String, String)>,
    /// The mode of a session that asks for none; absent is auto.
    pub mode: Option<Mode>,
    /// The shell of a session that asks for none; empty is `$SHELL`.
    pub shell: String,
    /// The start files of a session that asks for none.
    pub startup: Startup,
    /// The directory of a session that asks for none.
    pub working_directory: String,
    /// Whether shells are put into cgroups where that can be had.
    pub cgroups: bool,
    /// How sandboxes are made.
    pub sandboxing: Sandboxing,
    /// How commands are judged before they run.
    pub gatekeeping: Gatekeeping,
    /// Programs of the user's that are asked before a command and told after it.
    pub hooks: Hooks,
    /// How the contract writes what those are told.
    pub wording: Wording,
    /// What is taken out of output; absent where that is switched off.
    pub redaction: Option<Redaction>,
    /// How long commands of agents may take that say nothing about it.
    pub timeouts: Timeouts,
    /// Which tools of agents are made to answer without a terminal; absent where
    /// none is.
    pub adapting: Option<Adapting>,
    /// Whether sessions of agents that do not say how they run commands are on
    /// terminals, where agents may have those.
    pub agents_on_terminals: bool,
    /// What is set for shells.
    pub habits: crate::habits::Habits,
    /// What a model is shown of output, where its call does not say.
    pub text: glass_vt::text::Budget,
    /// How consoles look.
    pub console: glass_vt::console::Manner,
    /// How long after its last view is closed a session is ended; absent where it
    /// is not.
    pub dispose_after_close: Option<Duration>,
    /// Programs that are not listed among what runs inside a terminal multiplexer.
    pub unlisted: Arc<[String]>,
    /// The other hosts, and the way to them.
    pub hosts: Hosts,
}

/// What all sessions share.
pub(crate) struct Context {
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) keeper: Keeper,
    pub(crate) routes: Routes,
    /// What walls can be made of here.
    pub(crate) features: Features,
    pub(crate) stands: Stands,
    pub(crate) repositories: Repositories,
    /// What people have allowed for always.
    pub(crate) remembered: Remembered,
    pub(crate) detectors: Detectors,
    /// Which other hosts we are connected to.
    pub(crate) connections: Connections,
    /// Counts what can be seen of any session from outside.
    pub(crate) changes: watch::Sender<u64>,
    /// Wakes whoever makes the pages of the terminals folder.
    pub(crate) news: Arc<Notify>,
    /// What happened so far, in numbers.
    pub(crate) figures: Arc<Figures>,
    /// Gives memory back that was freed.
    pub(crate) thrift: Arc<Thrift>,
}

/// Time for a shell without start files: only a machine in trouble needs it.
const BARE_START_MS: u32 = 10_000;

impl Context {
    /// The environment that a shell of this session starts with.
    pub(crate) fn shell_env(&self, session: &Session, mut env: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let ours: [(&str, &str); 2] = [
            ("SHELLGLASS", "1"),
            ("SHELLGLASS_SESSION_ID", session.id.as_str()),
        ];
        for (name, value) in ours {
            set_variable(&mut env, name, value);
        }
        env
    }

    /// Says that something of a session looks different now.
    pub(crate) fn note_change(&self) {
        self.changes
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// What is in force here, for reports.
    pub(crate) fn versions(&self) -> Vec<(String, String)> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let features = feature_names(&self.features).join(" ");
        vec![
            ("shellglass".to_owned(), version),
            ("features".to_owned(), features),
        ]
    }

    pub(crate) fn startup_time(&self, startup: Startup) -> Duration {
        let ms = match startup {
            Startup::Nothing => BARE_START_MS,
            Startup::Login | Startup::Rc => self.settings.limits.startup_ms_max,
        };
        Duration::from_millis(u64::from(ms))
    }

    pub(crate) fn cgroup_name(&self, name: &str) -> String {
        if self.settings.cgroups {
            format!("shellglass-{name}")
        } else {
            String::new()
        }
    }

    pub(crate) fn session_dir(&self, session: &Session) -> PathBuf {
        self.settings
            .runtime_dir
            .join("sessions")
            .join(session.id.as_str())
    }
}

/// Sets a variable in an environment of `NAME=VALUE` entries.
pub(crate) fn set_variable(env: &mut Vec<Vec<u8>>, name: &str, value: &str) {
    env.retain(|entry| variable_name(entry) != name.as_bytes());
    env.push(format!("{name}={value}").into_bytes());
}

/// The name in a `NAME=VALUE` entry.
pub(crate) fn variable_name(entry: &[u8]) -> &[u8] {
    entry.split(|byte| *byte == b'=').next().unwrap_or(entry)
}

/// Now, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// What was left in a directory where commands can write too, so that it may be
/// anything: what is no plain file is not opened, and what is too long is not read.
pub(crate) fn read_left(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    use rustix::fs::{FileType, Mode, OFlags};
    use std::io::Read as _;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let about = rustix::fs::fstat(&file)?;
    let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
    if !is_file || about.st_nlink != 1 || about.st_size.cast_unsigned() > bytes_max {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    std::fs::File::from(file)
        .take(bytes_max)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A directory for us alone.
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}
