//! Which executions speak in events although nobody asked for those.

use super::Engine;
use crate::errors::LookupError;
use glass_adapt::Sections;
use glass_model::{EventBody, Execution};

/// Tools whose events are known. Whoever else is adapted prints text.
const TOOLS: &[&str] = &["codex", "claude"];

/// The word for a command that was made to answer without a terminal.
pub(crate) const ADAPTED: &str = "adapted";

/// Remarks about one execution that are looked at; that it was adapted is said
/// before anything else.
const REMARKS_MAX: usize = 16;

/// Whether the tool of a command may speak in events.
pub(crate) fn speaks(command: &str) -> bool {
    TOOLS.iter().any(|tool| command.contains(tool))
}

impl Engine {
    /// What makes readable that which an execution wrote, where its tool was made
    /// to speak in events. Whoever asked for events by name gets events.
    pub fn sections_of(&self, execution: &Execution) -> Result<Option<Sections>, LookupError> {
        if !speaks(&execution.command) {
            return Ok(None);
        }
        let store = &self.0.context.store;
        let remarks = store.remarks(&execution.session, execution.shell_id, REMARKS_MAX)?;
        let says_so = |body: &EventBody| match body {
            EventBody::Status { status, .. } => status == ADAPTED,
            _ => false,
        };
        let is_adapted = remarks.iter().any(|event| says_so(&event.body));
        Ok(is_adapted.then(|| Sections::new(None)))
    }
}
