//! Why a command gets no sandbox, and what to do about it.

use std::path::PathBuf;

/// Why there is no plan. Nothing is ever weakened instead.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// An agent asks for more than it was granted.
    #[error("{what} is more than an agent may have without approval")]
    NeedsApproval {
        /// What goes beyond the grant.
        what: String,
    },
    /// The workspace cannot be used in this way.
    #[error("{} cannot be the workspace: {why}", path.display())]
    Workspace {
        /// The workspace.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A path of the policy cannot be used.
    #[error("{} cannot be used: {why}", path.display())]
    Path {
        /// The path as it was given.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The working directory lies outside of what the sandbox is for.
    #[error("{} lies outside of the workspace {}", cwd.display(), workspace.display())]
    Directory {
        /// The working directory.
        cwd: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// The ignore mapping cannot be understood.
    #[error("the ignore mapping cannot be used: {why}")]
    Ignore {
        /// Why not.
        why: String,
    },
    /// The walls that the policy needs cannot be had on this machine.
    #[error("{what} cannot be enforced here")]
    Unsupported {
        /// The part of the policy.
        what: String,
        /// What would help.
        hint: String,
    },
    /// The plan would be larger than a bound.
    #[error("the sandbox would need more than {max} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        max: usize,
    },
    /// Something that the plan depends on cannot be read or made.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl Refusal {
    /// What to do next, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Refusal::NeedsApproval { .. } => {
                "ask a person to approve it, or ask for less".to_owned()
            }
            Refusal::Workspace { .. } => {
                "use a project's own directory, ask for a read-only sandbox, or list the \
                 directory in `sandbox.workspaces` of the configuration"
                    .to_owned()
            }
            Refusal::Path { .. } => "name a path that exists and that a sandbox may use".to_owned(),
            Refusal::Directory { .. } => {
                "use a directory in the workspace, or name it in additional_readwrite_paths or \
                 additional_readonly_paths"
                    .to_owned()
            }
            Refusal::Ignore { .. } => {
                "the mapping is JSON: {\"<directory>\": [\"<gitignore pattern>\", …]}".to_owned()
            }
            Refusal::Unsupported { hint, .. } => hint.clone(),
            Refusal::TooMany { .. } => {
                "ignore whole directories instead of many files, or use a smaller workspace"
                    .to_owned()
            }
            Refusal::Read { .. } => "see that it exists and can be read".to_owned(),
        }
    }
}
