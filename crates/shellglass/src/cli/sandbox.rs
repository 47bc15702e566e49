//! The flags that say what a command may do.

use clap::{Args, ValueEnum};
use glass_proto::agent::v1::{SandboxPolicy, sandbox_policy};
use std::path::PathBuf;

/// What a command may do. What is not said here is as the session, or else the
/// configuration, has it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SandboxFlags {
    /// What may be written.
    #[arg(long, value_name = "KIND")]
    pub sandbox: Option<Sandbox>,
    /// Whether the network may be reached.
    #[arg(long, value_name = "WHETHER")]
    pub network: Option<Switch>,
    /// Keep everything of git's read-only, not only hooks and configuration.
    #[arg(long)]
    pub block_git_writes: bool,
    /// Have no writable /tmp.
    #[arg(long)]
    pub no_tmp_write: bool,
    /// Let this path be written as well.
    #[arg(long, value_name = "PATH")]
    pub rw: Vec<PathBuf>,
    /// Let this path be read, and not written.
    #[arg(long, value_name = "PATH")]
    pub ro: Vec<PathBuf>,
}

/// What a command may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sandbox {
    /// Everything that you may.
    None,
    /// The workspace.
    Rw,
    /// Nothing.
    Ro,
}

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// It is.
    On,
    /// It is not.
    Off,
}

impl SandboxFlags {
    /// The policy that they ask for; none where no flag was given. Relative
    /// paths are those of the caller.
    pub(crate) fn policy(&self) -> Option<SandboxPolicy> {
        let kind = match self.sandbox {
            None => sandbox_policy::Type::Unspecified,
            Some(Sandbox::None) => sandbox_policy::Type::InsecureNone,
            Some(Sandbox::Rw) => sandbox_policy::Type::WorkspaceReadwrite,
            Some(Sandbox::Ro) => sandbox_policy::Type::WorkspaceReadonly,
        };
        let policy = SandboxPolicy {
            r#type: kind.into(),
            network_access: self.network.map(|network| network == Switch::On),
            additional_readwrite_paths: absolute(&self.rw),
            additional_readonly_paths: absolute(&self.ro),
            block_git_writes: self.block_git_writes.then_some(true),
            disable_tmp_write: self.no_tmp_write.then_some(true),
            ..SandboxPolicy::default()
        };
        (policy != SandboxPolicy::default()).then_some(policy)
    }
}

fn absolute(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()))
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}
