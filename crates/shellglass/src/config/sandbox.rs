//! The sandbox, as it is written in a file. `glass_sandbox::Settings` is what
//! the program works with; this mirror is what a person writes.

use glass_model::{Resources, SandboxKind, SandboxPolicy, WallBuild};
use glass_sandbox::{GitLevel, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What of the daemon's environment is of use to commands and says nothing that
/// they could misuse.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "HOSTNAME",
    "MAIL",
    "PWD",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "LS_COLORS",
    "NO_COLOR",
    "CLICOLOR*",
    "FORCE_COLOR",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "*_PAGER",
    "LESS",
    "CI",
    "XDG_*",
    "*_HOME",
    "*_ROOT",
    "*_DIR",
    "*PATH",
    "*_VERSION",
    "*_proxy",
    "*_PROXY",
    "SSL_CERT_*",
    "*_CA_BUNDLE",
    "*_CA_CERTS",
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "PKG_CONFIG_*",
    "CARGO_*",
    "RUST*",
    "GOBIN",
    "GOCACHE",
    "GOENV",
    "GOFLAGS",
    "GOMODCACHE",
    "GOPATH",
    "GOPROXY",
    "GOROOT",
    "GOTOOLCHAIN",
    "NODE_*",
    "NPM_CONFIG_*",
    "npm_config_*",
    "YARN_*",
    "PNPM_*",
    "PYTHON*",
    "PIP_*",
    "UV_*",
    "VIRTUAL_ENV",
    "CONDA_*",
    "PYENV_*",
    "RBENV_*",
    "NVM_*",
    "JAVA_*",
    "GRADLE_*",
    "MAVEN_*",
    "DOTNET_*",
    "NIX_*",
    "GIT_*",
    "DEBIAN_FRONTEND",
    "PERL*",
    "SHELLGLASS*",
];

/// What commands may do when nobody asks for anything else, and the most that
/// an agent may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SandboxSettings {
    /// What a command may write: everything that you may ("none"), its
    /// workspace ("rw"), or nothing ("ro").
    pub default: KindName,
    /// Whether a command reaches the network.
    pub network: bool,
    /// Whether a command has a writable /tmp, which is its session's own.
    pub tmp_write: bool,
    /// How much of a repository is protected: nothing ("none"), what git
    /// executes or believes ("hooks"), or everything ("all").
    pub git: GitName,
    /// Further paths that may be written.
    pub readwrite: Vec<String>,
    /// Further paths that may be read where something hides them.
    pub readonly: Vec<String>,
    /// The most that an agent may write without approval: "none" for no walls,
    /// "rw" or "ro".
    pub agent: KindName,
    /// Whether an agent may ask for the network without approval.
    pub agent_network: bool,
    /// Directories that may be workspaces, with everything below them. Empty
    /// for any but `/`, your home directory and the system's own, which must
    /// be named to count.
    pub workspaces: Vec<String>,
    /// What is unreadable in a sandbox.
    pub hide: Vec<String>,
    /// What is unwritable in a sandbox although it lies in a writable place.
    pub protect: Vec<String>,
    /// Variables of the daemon's own environment that enter a sandbox; those
    /// that a caller gives always do. A `*` stands for any characters.
    pub inherit_env: Vec<String>,
    /// Variables that do not enter a sandbox, whoever gives them. A `*` stands for any characters.
    pub scrub_env: Vec<String>,
    /// The weakest walls that will do: "landlock", or "namespaces" as well.
    pub minimum_mode: BuildName,
    /// Open files of one process; 0 for the usual limit.
    pub open_files_max: u64,
    /// Seconds of processor time of one process; 0 for no limit.
    pub cpu_seconds_max: u64,
    /// Bytes of one file; 0 for no limit.
    pub file_bytes_max: u64,
    /// Bytes of a core dump.
    pub core_bytes_max: u64,
    /// Bytes of address space of one process; 0 for no limit. Breaks programs
    /// that reserve much and use little, such as Node.
    pub address_bytes_max: u64,
    /// Bytes of memory of a shell and all of its processes; 0 for no limit.
    /// Needs cgroups.
    pub memory_bytes_max: u64,
    /// Processes of a shell; 0 for no limit. Needs cgroups.
    pub processes_max: u64,
    /// Processes and threads of a shell behind walls; 0 for no limit. Needs no
    /// cgroups, and means nothing where there are no namespaces.
    pub tasks_max: u64,
}

/// What a command may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindName {
    /// Everything that the user may.
    None,
    /// The workspace.
    Rw,
    /// Nothing.
    Ro,
}

/// How much of a repository is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GitName {
    /// Nothing.
    None,
    /// What git executes or believes: hooks and configuration.
    Hooks,
    /// Everything.
    All,
}

/// What walls are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BuildName {
    /// Namespaces, Landlock and seccomp.
    Namespaces,
    /// Landlock and seccomp alone.
    Landlock,
}

impl Default for SandboxSettings {
    fn default() -> SandboxSettings {
        let Settings {
            default,
            grant,
            workspaces,
            hidden,
            readonly,
            scrub,
            git,
            resources,
            minimum_mode,
            ..
        } = Settings::default();
        SandboxSettings {
            default: KindName::of(default.kind),
            network: default.network_access == Some(true),
            tmp_write: default.disable_tmp_write != Some(true),
            git: match git {
                GitLevel::None => GitName::None,
                GitLevel::HooksAndConfig => GitName::Hooks,
                GitLevel::All => GitName::All,
            },
            readwrite: default.readwrite_paths,
            readonly: default.readonly_paths,
            agent: KindName::of(grant.kind),
            agent_network: grant.network_access == Some(true),
            workspaces,
            hide: hidden,
            protect: readonly,
            inherit_env: INHERITED.iter().map(|name| (*name).to_owned()).collect(),
            scrub_env: scrub,
            minimum_mode: match minimum_mode {
                WallBuild::Namespaces => BuildName::Namespaces,
                WallBuild::LandlockOnly => BuildName::Landlock,
            },
            open_files_max: resources.open_files.unwrap_or(0),
            cpu_seconds_max: resources.cpu_seconds.unwrap_or(0),
            file_bytes_max: resources.file_bytes.unwrap_or(0),
            core_bytes_max: resources.core_bytes.unwrap_or(0),
            address_bytes_max: resources.address_bytes.unwrap_or(0),
            memory_bytes_max: resources.memory_bytes.unwrap_or(0),
            processes_max: resources.processes.unwrap_or(0),
            tasks_max: resources.tasks.unwrap_or(0),
        }
    }
}

impl KindName {
    fn of(kind: SandboxKind) -> KindName {
        match kind {
            SandboxKind::InsecureNone => KindName::None,
            SandboxKind::WorkspaceReadWrite => KindName::Rw,
            SandboxKind::WorkspaceReadOnly | SandboxKind::Unspecified => KindName::Ro,
        }
    }

    fn kind(self) -> SandboxKind {
        match self {
            KindName::None => SandboxKind::InsecureNone,
            KindName::Rw => SandboxKind::WorkspaceReadWrite,
            KindName::Ro => SandboxKind::WorkspaceReadOnly,
        }
    }
}

impl SandboxSettings {
    /// Whether nothing less than namespaces will do.
    pub(crate) fn needs_namespaces(&self) -> bool {
        self.minimum_mode == BuildName::Namespaces && self.default != KindName::None
    }

    /// What the program works with.
    pub(crate) fn settings(&self, home: Option<PathBuf>) -> Settings {
        let git = match self.git {
            GitName::None => GitLevel::None,
            GitName::Hooks => GitLevel::HooksAndConfig,
            GitName::All => GitLevel::All,
        };
        let default = SandboxPolicy {
            kind: self.default.kind(),
            network_access: Some(self.network || self.default == KindName::None),
            readwrite_paths: self.readwrite.clone(),
            readonly_paths: self.readonly.clone(),
            debug_output_dir: None,
            block_git_writes: Some(git == GitLevel::All),
            disable_tmp_write: Some(!self.tmp_write),
            ignore_mapping_json: None,
        };
        let grant = SandboxPolicy {
            kind: self.agent.kind(),
            network_access: Some(self.agent_network || self.agent == KindName::None),
            ..default.clone()
        };
        Settings {
            default,
            grant,
            workspaces: self.workspaces.clone(),
            home,
            hidden: self.hide.clone(),
            readonly: self.protect.clone(),
            scrub: self.scrub_env.clone(),
            git,
            resources: self.resources(),
            minimum_mode: match self.minimum_mode {
                BuildName::Namespaces => WallBuild::Namespaces,
                BuildName::Landlock => WallBuild::LandlockOnly,
            },
            ..Settings::default()
        }
    }

    fn resources(&self) -> Resources {
        let limit = |value: u64| (value > 0).then_some(value);
        Resources {
            open_files: limit(self.open_files_max),
            cpu_seconds: limit(self.cpu_seconds_max),
            file_bytes: limit(self.file_bytes_max),
            core_bytes: Some(self.core_bytes_max),
            address_bytes: limit(self.address_bytes_max),
            memory_bytes: limit(self.memory_bytes_max),
            processes: limit(self.processes_max),
            tasks: limit(self.tasks_max),
        }
    }
}
