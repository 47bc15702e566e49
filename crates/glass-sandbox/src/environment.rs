//! How a sandbox changes the environment.

/// Changes to an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvChanges {
    /// Names that are taken out; `*` stands for anything.
    pub unset: Vec<String>,
    /// Variables that get a value.
    pub set: Vec<(String, Vec<u8>)>,
}

impl EnvChanges {
    /// The environment with these changes.
    pub fn apply(&self, env: &[Vec<u8>]) -> Vec<Vec<u8>> {
        env.to_vec()
    }
}
