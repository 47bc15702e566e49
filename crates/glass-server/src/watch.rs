//! The living sessions as they change.
//!
//! Nothing is kept for a client: one that is slow is told less often, and always
//! the truth.

use crate::service::Answers;
use crate::translate::{approval_to_wire, session_to_wire};
use glass_model::ShellId;
use glass_proto::shellglass::v1 as wire;
use glass_session::{Caller, Engine, SessionView};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Changes within this time are told as one.
const GATHER: Duration = Duration::from_millis(200);

/// When what runs in a session began. The journal knows; this remembers, so that
/// it is asked once for each command.
#[derive(Default)]
pub(crate) struct Began(BTreeMap<String, (ShellId, i64)>);

impl Began {
    /// When what runs there began; none where nothing does.
    pub(crate) fn of(
        &mut self,
        engine: &Engine,
        caller: &Caller,
        view: &SessionView,
    ) -> Option<i64> {
        let (shell_id, _) = view.running.as_ref()?;
        let id = view.session.id.as_str();
        if let Some((_, began)) = self.0.get(id).filter(|(known, _)| known == shell_id) {
            return Some(*began);
        }
        let execution = engine.execution(caller, *shell_id).ok()?;
        self.0
            .insert(id.to_owned(), (*shell_id, execution.started_ms));
        Some(execution.started_ms)
    }

    /// Forgets sessions that are gone.
    pub(crate) fn keep(&mut self, lives: impl Fn(&str) -> bool) {
        self.0.retain(|id, _| lives(id));
    }
}

/// Tells a client of one session, or of all where none is named.
pub(crate) fn watch(engine: Engine, caller: Caller, only: String) -> Answers<wire::Overview> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut changes = engine.changes();
        let mut began = Began::default();
        let mut told = None;
        loop {
            // Room first, then the mark, then the look: what changes after it is
            // looked at again.
            let Ok(room) = sender.reserve().await else {
                return;
            };
            changes.borrow_and_update();
            let now = overview(&engine, &caller, &only, &mut began);
            let is_over = !only.is_empty() && now.sessions.is_empty();
            if told.as_ref() != Some(&now) {
                told = Some(now.clone());
                room.send(Ok(wire::Overview {
                    unix_ms: now_ms(),
                    ..now
                }));
            } else {
                drop(room);
            }
            if is_over {
                return;
            }
            tokio::time::sleep(GATHER).await;
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    });
    Box::pin(ReceiverStream::new(receiver))
}

/// How it is now, but for the time.
fn overview(engine: &Engine, caller: &Caller, only: &str, began: &mut Began) -> wire::Overview {
    let is_wanted = |id: &str| only.is_empty() || id == only;
    let mut views = engine.overview(caller);
    views.retain(|view| is_wanted(view.session.id.as_str()));
    began.keep(|id| views.iter().any(|view| view.session.id.as_str() == id));
    let sessions = views.into_iter().map(|view| {
        let since = began.of(engine, caller, &view);
        wire::WatchedSession {
            running_since_unix_ms: since.unwrap_or(0),
            queued: u32::try_from(view.queued).unwrap_or(u32::MAX),
            ephemeral: view.session.ephemeral,
            session: Some(session_to_wire(view)),
        }
    });
    let sessions = sessions.collect();
    let approvals = engine.approvals(caller).into_iter();
    let approvals = approvals.map(approval_to_wire);
    let totals = engine.totals();
    wire::Overview {
        sessions,
        approvals: approvals
            .filter(|approval| is_wanted(&approval.session_id))
            .collect(),
        commands_total: totals.commands,
        output_bytes_total: totals.output_bytes,
        unix_ms: 0,
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
