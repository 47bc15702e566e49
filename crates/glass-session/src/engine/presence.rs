//! How many look at each session, and what follows when nobody does any more.

use super::{Caller, Engine};
use crate::actor::lock;
use glass_model::SessionId;
use std::collections::HashMap;
use std::time::Duration;

/// Who looks at what.
#[derive(Debug, Default)]
pub(super) struct Views {
    /// Only sessions that somebody looks at, or is about to be missed at.
    sessions: HashMap<SessionId, Looked>,
    /// The daemon stops: views that close now say nothing about their sessions.
    is_leaving: bool,
}

#[derive(Debug, Default)]
struct Looked {
    views: usize,
    /// How often somebody came: whoever waits for nobody to be there starts again
    /// when somebody was.
    arrivals: u64,
}

/// One view of a session, for as long as it is open.
pub(crate) struct Presence {
    engine: Engine,
    caller: Caller,
    id: SessionId,
}

impl Engine {
    /// Counts a view.
    pub(crate) fn arrive(&self, caller: &Caller, id: &SessionId) -> Presence {
        let mut views = lock(&self.0.views);
        let looked = views.sessions.entry(id.clone()).or_default();
        looked.views += 1;
        looked.arrivals += 1;
        Presence {
            engine: self.clone(),
            caller: caller.clone(),
            id: id.clone(),
        }
    }

    /// From now on no session is ended because its views are closed: the daemon
    /// stops, and its clients with it.
    pub fn leave_sessions(&self) {
        lock(&self.0.views).is_leaving = true;
    }

    /// Ends a session if nobody has looked at it since then.
    async fn dispose_unwatched(self, caller: Caller, id: SessionId, seen: u64, delay: Duration) {
        tokio::time::sleep(delay).await;
        let is_unwatched = {
            let mut views = lock(&self.0.views);
            let looked = views.sessions.get(&id);
            let is_unwatched =
                looked.is_some_and(|looked| looked.views == 0 && looked.arrivals == seen);
            if is_unwatched {
                views.sessions.remove(&id);
            }
            is_unwatched && !views.is_leaving
        };
        if !is_unwatched {
            return;
        }
        match self.dispose(&caller, id.as_str()).await {
            Ok(()) => tracing::info!(session = %id, "ended with its last view"),
            Err(error) => tracing::debug!(%error, "nothing to end with a view"),
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let delay = self.engine.0.context.settings.dispose_after_close;
        let mut views = lock(&self.engine.0.views);
        let is_leaving = views.is_leaving;
        let Some(looked) = views.sessions.get_mut(&self.id) else {
            return;
        };
        looked.views = looked.views.saturating_sub(1);
        if looked.views > 0 {
            return;
        }
        let seen = looked.arrivals;
        // Where no runtime is left, the daemon is gone as well.
        let runtime = tokio::runtime::Handle::try_current().ok();
        match (delay, runtime) {
            (Some(delay), Some(runtime)) if !is_leaving => {
                let engine = self.engine.clone();
                let (caller, id) = (self.caller.clone(), self.id.clone());
                runtime.spawn(engine.dispose_unwatched(caller, id, seen, delay));
            }
            _ => drop(views.sessions.remove(&self.id)),
        }
    }
}
