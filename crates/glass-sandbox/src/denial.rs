//! What the walls refused, as far as a command's last words tell.

use std::path::Path;

use crate::Plan;

/// Sentences about what the sandbox denied, each with what to ask for.
/// `cwd` is where the command ran.
pub fn denials(plan: &Plan, cwd: &Path, stderr_tail: &[u8], exit_code: Option<i32>) -> Vec<String> {
    let _ = (plan, cwd, stderr_tail, exit_code);
    Vec::new()
}
