//! What a background command takes along from the session that it is started in.

use super::{Actor, FIRST_ROOM, Trust};
use crate::room::Room;
use crate::sandbox::has_walls;
use glass_model::{LaunchId, SandboxPolicy};
use glass_spawn::Launched;
use std::path::Path;
use tokio::sync::oneshot;

/// Asks for what a command with these rights would find.
pub(crate) struct CutOrder {
    pub(crate) policy: SandboxPolicy,
    pub(crate) reply: oneshot::Sender<Cut>,
}

/// Where a session is and what it exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) cwd: String,
    pub(crate) env: Vec<Vec<u8>>,
    /// What of that is from our own environment.
    pub(crate) ours: Vec<Vec<u8>>,
    /// Which repositories it may believe.
    pub(crate) trust: Trust,
    /// Whether its shell has said all that it has to: its start files and its
    /// last command have had their say.
    pub(crate) settled: bool,
}

impl Actor {
    pub(super) async fn answer_cut(&mut self, order: CutOrder) {
        let cut = self.cut(&order.policy).await;
        // Whoever asked may have left.
        drop(order.reply.send(cut));
    }

    async fn cut(&mut self, policy: &SandboxPolicy) -> Cut {
        let idle = self.state.is_idle();
        let shell = self.room.shell.as_ref();
        let is_up = shell.is_none_or(|shell| shell.ready_by.is_none());
        // One that was asked before it was given a command answers first.
        let settled = is_up && (idle || !self.room.exports_asked);
        if idle && settled {
            // What the last command exported is not known yet.
            self.room.exports_unsure |= self.snapshot_at.take().is_some();
            if self.room.exports_unsure || self.room.exports_asked {
                self.learn_exports().await;
            }
        }
        self.note_cut(policy).await;
        Cut {
            cwd: self.cut_directory(policy),
            env: self.cut_env(policy),
            ours: self.ours.clone(),
            trust: self.trust.passed_on(),
            settled,
        }
    }

    /// What a room with these rights exports, or what may cross into one.
    fn cut_env(&self, policy: &SandboxPolicy) -> Vec<Vec<u8>> {
        let is_it = |room: &&Room| self.policy_of(room) == Some(policy);
        let rooms = std::iter::once(&self.room).chain(&self.parked);
        let same = rooms.into_iter().find(is_it);
        match same {
            Some(room) if room.env.is_some() => room.env.clone().unwrap_or_default(),
            Some(room) if room.id == FIRST_ROOM => self.session.env.clone(),
            _ => self.arriving(&self.room_env(), self.policy_of(&self.room), Some(policy)),
        }
    }

    /// The session's directory; the workspace where a command with fewer rights
    /// may have put something else in its place.
    fn cut_directory(&self, policy: &SandboxPolicy) -> String {
        let here = self.policy_of(&self.room);
        let trusts = here == Some(policy) || has_walls(policy) || !here.is_none_or(has_walls);
        let Some(workspace) = self.workspace.as_ref().filter(|_| !trusts) else {
            return self.session.cwd.clone();
        };
        let cwd = Path::new(&self.session.cwd);
        match glass_sandbox::safe_directory(cwd, workspace) {
            Some(_) => self.session.cwd.clone(),
            None => workspace.path().to_string_lossy().into_owned(),
        }
    }

    /// A child of this session, as long as it is known.
    pub(super) fn launched(&self, id: LaunchId) -> Option<Launched> {
        let all = self.launches.all();
        all.into_iter().find(|launched| launched.id == id)
    }
}
