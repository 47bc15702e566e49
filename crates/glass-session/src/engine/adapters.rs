//! Agents' commands of known tools, so that they answer without a terminal.
//!
//! What a person types is run as it is typed. What is changed for an agent is
//! changed before anything else happens: the gate, the hooks, the journal and
//! the shell see what runs, and the history says what was added and why.

use super::gate::INLINE_BYTES_MAX;
use super::{Caller, Engine, OrderSpec};
use crate::context::variable_name;
use glass_adapt::Adapted;
use glass_model::{Role, Session, ShellKind};

/// Most characters of a command that are repeated in a remark.
const SHOWN_CHARS_MAX: usize = 200;

/// Which tools are adapted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adapting {
    /// Tools that are left alone.
    pub off: Vec<String>,
}

impl Engine {
    /// Adds to an order what its tool needs here. Answers with what was added
    /// and why.
    pub(super) async fn adapt(
        &self,
        caller: &Caller,
        session: &Session,
        order: &mut OrderSpec,
    ) -> Option<String> {
        let settings = &self.0.context.settings;
        let adapting = settings.adapting.as_ref()?;
        if caller.role != Role::Agent {
            return None;
        }
        let mut adapted = adapted(&order.command, session.shell.kind).await?;
        if adapting.off.iter().any(|tool| tool == adapted.tool) {
            return None;
        }
        // What somebody has set stays.
        adapted.env.retain(|(name, _)| {
            let is_given = order.env.iter().any(|(given, _)| given == name);
            let mut exports = session.env.iter();
            !is_given && !exports.any(|entry| variable_name(entry) == name.as_bytes())
        });
        let fits = adapted.command.len() as u64 <= settings.limits.command_bytes_max;
        if !fits || adapted.env.is_empty() && adapted.command == order.command {
            return None;
        }
        let said = remark(&order.command, &adapted);
        let env = adapted.env.into_iter();
        order
            .env
            .extend(env.map(|(name, value)| (name.to_owned(), value.to_owned())));
        order.command = adapted.command;
        Some(said)
    }
}

/// Whether an execution's command is what came of this one, whatever was
/// switched on when it was accepted.
pub(super) async fn came_of(ran: &str, asked: &str, session: &Session) -> bool {
    if ran == asked {
        return true;
    }
    let adapted = adapted(asked, session.shell.kind).await;
    adapted.is_some_and(|adapted| adapted.command == ran)
}

/// Lines that may take their time are read off the reactor. One that cannot be
/// is left as it is.
async fn adapted(command: &str, shell: ShellKind) -> Option<Adapted> {
    if command.len() <= INLINE_BYTES_MAX {
        return glass_adapt::adapt(command, shell);
    }
    let command = command.to_owned();
    let adapted = tokio::task::spawn_blocking(move || glass_adapt::adapt(&command, shell));
    adapted.await.ok()?
}

/// The original, what runs instead, and why.
fn remark(original: &str, adapted: &Adapted) -> String {
    let mut runs = String::new();
    for (name, value) in &adapted.env {
        runs += &format!("{name}={value} ");
    }
    runs += &adapted.command;
    format!("{} → {}: {}", shown(original), shown(&runs), adapted.why)
}

fn shown(command: &str) -> String {
    let mut chars = command.trim().chars();
    let mut text: String = chars.by_ref().take(SHOWN_CHARS_MAX).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    text
}
