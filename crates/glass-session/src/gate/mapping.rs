//! The ignore mapping of a command's rights, read for its text. The sandbox
//! hides the same files; a command that names one is told so before it runs.

use crate::actor::lock;
use glass_model::SandboxPolicy;
use glass_policy::Ignored;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A mapping that names nothing, as policies have it.
const NOTHING: &str = "{}";

/// The lists of the mapping that was read last: commands of a session mostly
/// have the same rights.
#[derive(Default)]
pub(super) struct MappingCache(Mutex<Option<(String, Lists)>>);

type Lists = Vec<Arc<Ignored>>;

impl MappingCache {
    /// The lists of a policy. What cannot be read refuses: it would hide
    /// nothing.
    pub(super) fn lists(&self, policy: &SandboxPolicy, workspace: &Path) -> Result<Lists, String> {
        let text = match policy.ignore_mapping_json.as_deref() {
            None | Some("" | NOTHING) => return Ok(Vec::new()),
            Some(text) => text,
        };
        let mut known = lock(&self.0);
        if let Some((read, lists)) = known.as_ref()
            && read == text
        {
            return Ok(lists.clone());
        }
        let mut lists = Vec::new();
        for (root, patterns) in glass_sandbox::mapped(policy, workspace) {
            let patterns = patterns.iter().map(String::as_str);
            let ignored = Ignored::of_patterns(&root.to_string_lossy(), patterns)
                .map_err(|error| format!("the ignore mapping cannot be used: {error}"))?;
            lists.push(Arc::new(ignored));
        }
        *known = Some((text.to_owned(), lists.clone()));
        Ok(lists)
    }
}
