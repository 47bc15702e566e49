//! What the keeper does for its clients.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use super::{Daemon, Greeting, Server};
use crate::channel::{ReceiveError, Received};
use crate::keeper::begin::{BeginError, are_labels, begin};
use crate::keeper::connection::Connection;
use crate::keeper::launches::HoldError;
use crate::keeper::record::Asker;
use crate::limits::{OUTBOX_MAX, PROTOCOL_OLDEST, PROTOCOL_VERSION};
use crate::stage::Stage;
use crate::walls;
use crate::wire::{self, Ask, Request, Say, compatible, decode};

/// What our side says first.
const HELLO: wire::Hello = wire::Hello {
    version: PROTOCOL_VERSION,
    oldest: PROTOCOL_OLDEST,
};

impl Server {
    /// Lets in whoever has said hello, and shows out whoever takes too long.
    pub(super) fn serve_greetings(&mut self, ready: &[bool]) {
        let now = Instant::now();
        let greetings = std::mem::take(&mut self.greetings);
        let ready = ready.iter().copied().chain(std::iter::repeat(false));
        for (greeting, ready) in greetings.into_iter().zip(ready) {
            if ready {
                self.greet(greeting);
            } else if now < greeting.until {
                self.greetings.push(greeting);
            }
        }
    }

    fn greet(&mut self, greeting: Greeting) {
        match greeting.connection.receive() {
            Ok(received) => self.let_in(greeting.connection, &received.bytes),
            Err(ReceiveError::NotYet) => self.greetings.push(greeting),
            Err(error) => tracing::debug!(%error, "a client left without a word"),
        }
    }

    fn let_in(&mut self, mut connection: Connection, bytes: &[u8]) {
        let (seq, hello) = match decode::<Request>(bytes) {
            Ok(Request {
                seq,
                ask: Some(Ask::Hello(hello)),
            }) => (seq, hello),
            _ => return tracing::warn!("a client did not say hello"),
        };
        if let Err(error) = connection.say(seq, Say::Welcome(HELLO), Vec::new()) {
            return tracing::debug!(%error, "a client left too early");
        }
        // Our hello told it why it is not let in.
        if !compatible(&HELLO, &hello) {
            return tracing::warn!(version = hello.version, "a client speaks another protocol");
        }
        self.daemons_seen += 1;
        tracing::info!(daemon = self.daemons_seen, "a daemon is here");
        self.waiting_lists.clear();
        // What the old daemon has sent and we have not read is never done:
        // the new one must see every launch there is in its first list.
        self.daemon = Some(Daemon {
            number: self.daemons_seen,
            connection,
        });
    }

    pub(super) fn say(&mut self, seq: u64, say: Say, fds: Vec<Arc<OwnedFd>>) {
        if let Some(daemon) = &mut self.daemon
            && let Err(error) = daemon.connection.say(seq, say, fds)
        {
            self.drop_daemon(&error);
        }
    }

    pub(super) fn serve_request(&mut self, received: Received) {
        let Received {
            bytes,
            fds,
            fds_lost,
        } = received;
        let Request { seq, ask } = match decode::<Request>(&bytes) {
            Ok(request) => request,
            Err(error) => return self.drop_daemon(&error),
        };
        let answer = match ask {
            _ if fds_lost => Err(refusal("the keeper has too many descriptors open")),
            Some(Ask::Launch(launch)) => self.launch(seq, *launch, fds),
            Some(Ask::List(list)) => self.queue_list(seq, list.after),
            Some(Ask::Adopt(named)) => return self.adopt(seq, named.id),
            Some(Ask::Hold(labels)) => self.hold(labels, fds),
            Some(Ask::Unhold(labels)) => done(self.launches.unhold(labels.id, &labels.labels)),
            Some(Ask::Forget(named)) => {
                let forgotten = self.launches.forget(named.id);
                done(forgotten.map(|effects| self.perform(effects)))
            }
            Some(Ask::Probe(_)) => {
                let features = walls::probe(self.setting.cgroups.as_ref());
                Ok(Some(Say::Features(features)))
            }
            Some(Ask::Hello(_)) => Ok(Some(Say::Welcome(HELLO))),
            None => Err(refusal("this keeper does not know this request")),
        };
        match answer {
            Ok(Some(say)) => self.say(seq, say, Vec::new()),
            Ok(None) => {}
            Err(refused) => self.say(seq, Say::Refused(refused), Vec::new()),
        }
    }

    /// Answered when the launch's reaper reports.
    fn launch(
        &mut self,
        seq: u64,
        launch: wire::Launch,
        fds: Vec<OwnedFd>,
    ) -> Result<Option<Say>, wire::Refused> {
        if self.leaving {
            return Err(refusal("the keeper is leaving"));
        }
        let connection = self.daemons_seen;
        let id = self
            .launches
            .next_id()
            .ok_or_else(|| refusal("there are too many launches"))?;
        match begin(id, launch, fds, Asker { connection, seq }, &self.setting) {
            Ok(record) => {
                self.launches.insert(id, record);
                Ok(None)
            }
            Err(BeginError::Limits(error)) => Ok(Some(Say::Failed(wire::Failed {
                stage: Stage::Limits.into(),
                errno: error.raw_os_error().unwrap_or(libc::EOPNOTSUPP),
                detail: 0,
            }))),
            Err(error) => Err(refusal(&error.to_string())),
        }
    }

    fn queue_list(&mut self, seq: u64, after: u64) -> Result<Option<Say>, wire::Refused> {
        if self.waiting_lists.len() >= OUTBOX_MAX {
            return Err(refusal("too many lists were asked for"));
        }
        self.waiting_lists.push((seq, after));
        Ok(None)
    }

    pub(super) fn answer_waiting_lists(&mut self) {
        if self.waiting_lists.is_empty() || self.launches.any_nameless() {
            return;
        }
        for (seq, after) in std::mem::take(&mut self.waiting_lists) {
            let page = self.launches.page(after);
            self.say(seq, Say::Page(page), Vec::new());
        }
    }

    fn adopt(&mut self, seq: u64, id: u64) {
        let Some(held) = self.launches.held(id) else {
            return self.say(
                seq,
                Say::Refused(hold_refusal(&HoldError::UnknownLaunch)),
                Vec::new(),
            );
        };
        let (labels, fds) = held.iter().cloned().unzip();
        self.say(seq, Say::Held(wire::Labels { id, labels }), fds);
    }

    fn hold(
        &mut self,
        labels: wire::Labels,
        fds: Vec<OwnedFd>,
    ) -> Result<Option<Say>, wire::Refused> {
        if labels.labels.len() != fds.len() {
            return Err(refusal("descriptors are missing or left over"));
        }
        if !are_labels(&labels.labels) {
            return Err(refusal("a label is too long or used twice"));
        }
        let held = labels
            .labels
            .into_iter()
            .zip(fds.into_iter().map(Arc::new))
            .collect();
        done(self.launches.hold(labels.id, held))
    }
}

fn done<T>(result: Result<T, HoldError>) -> Result<Option<Say>, wire::Refused> {
    match result {
        Ok(_) => Ok(Some(Say::Done(wire::Done {}))),
        Err(error) => Err(hold_refusal(&error)),
    }
}

fn hold_refusal(error: &HoldError) -> wire::Refused {
    let unknown_launch = *error == HoldError::UnknownLaunch;
    wire::Refused {
        reason: error.to_string(),
        unknown_launch,
    }
}

fn refusal(reason: &str) -> wire::Refused {
    wire::Refused {
        reason: reason.to_owned(),
        unknown_launch: false,
    }
}
