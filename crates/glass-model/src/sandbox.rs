//! The rights that a caller asks for. Intent only: how they are enforced is
//! decided where the command runs.

/// What a command may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SandboxKind {
    /// The configured default.
    #[default]
    Unspecified,
    /// No sandbox.
    InsecureNone,
    /// The workspace may be written.
    WorkspaceReadWrite,
    /// Nothing may be written.
    WorkspaceReadOnly,
}

/// A sandbox policy, as the contract has it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SandboxPolicy {
    /// What may be written.
    pub kind: SandboxKind,
    /// Whether the network may be reached.
    pub network_access: Option<bool>,
    /// Further paths that may be written.
    pub readwrite_paths: Vec<String>,
    /// Further paths that may be read.
    pub readonly_paths: Vec<String>,
    /// Where to leave a report for debugging.
    pub debug_output_dir: Option<String>,
    /// Whether git's own files are protected.
    pub block_git_writes: Option<bool>,
    /// Whether `/tmp` is read-only.
    pub disable_tmp_write: Option<bool>,
    /// Files hidden inside, as JSON.
    pub ignore_mapping_json: Option<String>,
}

impl SandboxPolicy {
    /// No walls at all.
    pub fn none() -> SandboxPolicy {
        SandboxPolicy {
            kind: SandboxKind::InsecureNone,
            ..SandboxPolicy::default()
        }
    }
}
