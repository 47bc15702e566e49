//! `/ws/events`: sessions and approvals, as they change.
//!
//! Each client is told how what it knows differs from what is. Nothing is kept
//! for it: one that is slow is told less often, and always the truth.

mod bounded;

use super::Glass;
use super::socket::{Gone, Socket, Upgrade, accept};
use crate::service::capabilities;
use crate::translate::{approval_to_wire, session_to_wire};
use crate::watch::Began;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use bounded::bound;
use glass_proto::json::value;
use glass_session::{Caller, SessionView};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Changes within this time are told as one.
const GATHER: Duration = Duration::from_millis(50);

/// Opens the stream.
pub(super) async fn open(
    State(glass): State<Arc<Glass>>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Response {
    accept(glass, headers, upgrade, run).await
}

async fn run(glass: Arc<Glass>, caller: Caller, mut socket: Socket) -> Result<(), Gone> {
    let mut changes = glass.engine.changes();
    let mut known = Known::default();
    let mut is_first = true;
    loop {
        // First the mark and then the look: what changes in between is looked
        // at again.
        changes.borrow_and_update();
        for message in known.update(&glass, &caller) {
            socket.tell(&message).await?;
        }
        if std::mem::take(&mut is_first) {
            socket.tell(&json!({ "type": "ready" })).await?;
        }
        loop {
            tokio::select! {
                changed = changes.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return Err(Gone),
                },
                // Nothing that a client says here means anything.
                heard = socket.hear() => drop(heard?),
            }
        }
        tokio::time::sleep(GATHER).await;
    }
}

/// What a client has been told.
#[derive(Default)]
struct Known {
    capabilities: Value,
    sessions: BTreeMap<String, Value>,
    approvals: BTreeMap<String, Value>,
    began: Began,
}

impl Known {
    /// What is to be told now.
    fn update(&mut self, glass: &Glass, caller: &Caller) -> Vec<Value> {
        let mut sessions = BTreeMap::new();
        for view in glass.engine.overview(caller) {
            let id = view.session.id.to_string();
            let shown = self.show(glass, caller, view);
            sessions.insert(id, shown);
        }
        self.began.keep(|id| sessions.contains_key(id));
        let waiting = glass.engine.approvals(caller).into_iter();
        let approvals = waiting.map(|approval| {
            let shown = value(&approval_to_wire(approval));
            (text(&shown, "approvalId"), shown)
        });
        let approvals: BTreeMap<String, Value> = approvals.collect();
        let mut messages = Vec::new();
        let capabilities = value(&capabilities(&glass.engine, &glass.addresses.page()));
        if capabilities != self.capabilities {
            messages.push(json!({ "type": "capabilities", "capabilities": capabilities }));
            self.capabilities = capabilities;
        }
        differences(&self.sessions, &sessions, &mut messages);
        for (id, approval) in &approvals {
            if !self.approvals.contains_key(id) {
                let mut shown = approval.clone();
                // Nobody can say yes to what they are not shown whole.
                shown["isCut"] = bound(&mut shown).into();
                messages.push(json!({ "type": "approval:pending", "approval": shown }));
            }
        }
        for id in self.approvals.keys() {
            if !approvals.contains_key(id) {
                messages.push(json!({ "type": "approval:resolved", "approvalId": id }));
            }
        }
        self.sessions = sessions;
        self.approvals = approvals;
        messages
    }

    /// A session, with what the contract's message has no place for.
    fn show(&mut self, glass: &Glass, caller: &Caller, view: SessionView) -> Value {
        let (ephemeral, queued) = (view.session.ephemeral, view.queued);
        let began = self.began.of(&glass.engine, caller, &view);
        let mut session = value(&session_to_wire(view));
        bound(&mut session);
        json!({
            "session": session,
            "runningSinceUnixMs": began,
            "isEphemeral": ephemeral,
            "queued": queued,
        })
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// What has to be told about sessions.
fn differences(
    before: &BTreeMap<String, Value>,
    now: &BTreeMap<String, Value>,
    messages: &mut Vec<Value>,
) {
    for (id, shown) in now {
        let kind = match before.get(id) {
            None => "session:created",
            Some(known) if known != shown => "session:updated",
            Some(_) => continue,
        };
        let mut message = shown.clone();
        message["type"] = kind.into();
        messages.push(message);
    }
    for id in before.keys() {
        if !now.contains_key(id) {
            messages.push(json!({ "type": "session:disposed", "sessionId": id }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::differences;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn check(before: &[(&str, u32)], now: &[(&str, u32)], expected: &[Value]) {
        let known = |sessions: &[(&str, u32)]| -> BTreeMap<String, Value> {
            let shown = sessions.iter();
            shown
                .map(|(id, state)| ((*id).to_owned(), json!({ "state": state })))
                .collect()
        };
        let mut messages = Vec::new();
        differences(&known(before), &known(now), &mut messages);
        assert_eq!(messages, expected);
    }

    #[test]
    fn only_what_differs_is_told() {
        check(&[("a", 1)], &[("a", 1)], &[]);
        check(
            &[("a", 1), ("b", 1)],
            &[("b", 2), ("c", 1)],
            &[
                json!({ "type": "session:updated", "state": 2 }),
                json!({ "type": "session:created", "state": 1 }),
                json!({ "type": "session:disposed", "sessionId": "a" }),
            ],
        );
    }
}
