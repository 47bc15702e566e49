//! Every setting, with its type, its default and a sentence about it. This is
//! the one list: the schema, `config show` and the names of environment
//! variables come from it.

use super::adapters::AdapterSettings;
use super::commands::CommandSettings;
use super::console::ConsoleSettings;
use super::hooks::HookSettings;
use super::hosts::HostSettings;
use super::integration::IntegrationSettings;
use super::limits::LimitSettings;
use super::policy::{ApprovalSettings, PolicySettings};
use super::redaction::RedactionSettings;
use super::sandbox::SandboxSettings;
use super::text::TextSettings;
use super::views::ViewSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Shellglass configuration")]
pub(crate) struct Settings {
    /// The daemon itself.
    pub daemon: DaemonSettings,
    /// What a session is like when its maker does not say.
    pub session: SessionSettings,
    /// How shells tell what they do, and what is set for them. A session can be made
    /// otherwise.
    pub integration: IntegrationSettings,
    /// What holds for commands of agents that do not say otherwise.
    pub commands: CommandSettings,
    /// Every bound. A project can only narrow these.
    pub limits: LimitSettings,
    /// What commands may do.
    pub sandbox: SandboxSettings,
    /// Which commands run without a question.
    pub policy: PolicySettings,
    /// Who answers questions, and until when.
    pub approvals: ApprovalSettings,
    /// The process that holds the children.
    pub keeper: KeeperSettings,
    /// What is taken out of output.
    pub redaction: RedactionSettings,
    /// Programs of yours that are asked and told.
    pub hooks: HookSettings,
    /// Which tools of agents are made to answer without a terminal.
    pub adapters: AdapterSettings,
    /// How the console of a pipe or line session looks.
    pub console: ConsoleSettings,
    /// What a model is shown of output, where its call does not say.
    pub text: TextSettings,
    /// Other machines that sessions can be on.
    pub hosts: HostSettings,
    /// What views show, and what closing one means for its session.
    pub views: ViewSettings,
}

/// The daemon itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DaemonSettings {
    /// Where to listen beside the Unix socket: "auto" (127.0.0.1:7583, or any
    /// free port where that is taken), "none", or an address and port; one that
    /// other machines can reach needs a certificate.
    pub listen: Listen,
    /// The certificate with which the page is served, a PEM file; empty for none.
    pub tls_certificate: String,
    /// Its key, a PEM file.
    pub tls_key: String,
    /// Names by which browsers call the page beside its address.
    pub names: Vec<String>,
    /// Serve an address that other machines can reach without a certificate: the
    /// address of `listen`, said a second time.
    pub listen_without_tls: String,
    /// The Unix socket; empty for `daemon.sock` in the runtime directory.
    pub socket: String,
    /// Where the journal lives; empty for the usual place.
    pub data_dir: String,
    /// What is logged: a level, or a filter such as "info,glass_session=debug".
    pub log: String,
    /// How it is written: "text" for people, or "json", one object for each line.
    pub log_format: LogFormat,
}

impl Default for DaemonSettings {
    fn default() -> DaemonSettings {
        DaemonSettings {
            listen: Listen::Auto,
            tls_certificate: String::new(),
            tls_key: String::new(),
            names: Vec::new(),
            listen_without_tls: String::new(),
            socket: String::new(),
            data_dir: String::new(),
            log: "info".to_owned(),
            log_format: LogFormat::Text,
        }
    }
}

/// How a log is written.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

impl LogFormat {
    /// As it is written on a command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        }
    }
}

/// What a session is like when its maker does not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionSettings {
    /// How commands are run: a warm shell ("pipe"), a new shell for every
    /// command ("line"), or whichever works ("auto").
    pub mode: ModeName,
    /// The shell's name or path; empty for `$SHELL`, then bash, then sh.
    pub shell: String,
    /// Which start files a warm shell reads: those of a login shell, those of
    /// an interactive one ("rc"), or none.
    pub startup: StartupName,
    /// Variables that are not passed on to commands. A `*` stands for any
    /// characters: "AWS_*".
    pub scrub_env: Vec<String>,
    /// Variables that every session gets.
    #[serde(deserialize_with = "variables")]
    pub env: BTreeMap<String, String>,
}

/// Variables that the kernel can carry.
fn variables<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let variables = BTreeMap::<String, String>::deserialize(deserializer)?;
    let is_odd = |(name, value): &(&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match variables.iter().find(is_odd) {
        Some((name, _)) => Err(de::Error::custom(format!(
            "'{}' cannot be a variable",
            name.escape_debug()
        ))),
        None => Ok(variables),
    }
}

/// The process that holds the children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct KeeperSettings {
    /// Seconds without a child and without a daemon after which it ends.
    pub idle_seconds: u32,
    /// Whether launches get cgroups of their own where that is possible.
    pub cgroup: CgroupUse,
}

impl Default for KeeperSettings {
    fn default() -> KeeperSettings {
        KeeperSettings {
            idle_seconds: 60,
            cgroup: CgroupUse::Auto,
        }
    }
}

/// How a session runs its commands.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModeName {
    /// A warm shell, and a new one for each command where none can be kept.
    #[default]
    Auto,
    /// A new shell for every command.
    Line,
    /// One warm shell.
    Pipe,
}

/// Which start files a warm shell reads.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StartupName {
    /// Those of a login shell.
    #[default]
    Login,
    /// Those of an interactive shell.
    Rc,
    /// None.
    None,
}

impl StartupName {
    /// The word of the contract.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            StartupName::Login => "login",
            StartupName::Rc => "rc",
            StartupName::None => "none",
        }
    }
}

/// Whether cgroups are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CgroupUse {
    /// Where they can be had.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// Where to listen beside the Unix socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(crate) enum Listen {
    /// On the usual port, or on a free one where that is taken.
    #[default]
    Auto,
    /// Nowhere.
    Nowhere,
    /// On this address.
    On(SocketAddr),
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Auto => f.write_str("auto"),
            Listen::Nowhere => f.write_str("none"),
            Listen::On(address) => address.fmt(f),
        }
    }
}

impl From<Listen> for String {
    fn from(listen: Listen) -> String {
        listen.to_string()
    }
}

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Listen, String> {
        text.parse()
    }
}

impl std::str::FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        match text {
            "auto" => return Ok(Listen::Auto),
            "none" => return Ok(Listen::Nowhere),
            _ => {}
        }
        match text.parse::<SocketAddr>() {
            Ok(address) => Ok(Listen::On(address)),
            Err(_) => Err(format!(
                "'{text}' is neither \"auto\", \"none\" nor an address such as \"127.0.0.1:7583\""
            )),
        }
    }
}
