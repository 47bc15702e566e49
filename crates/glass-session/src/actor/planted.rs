//! Which repositories of the workspace the commands of a session may believe.
//!
//! Invariant: a repository is believed by a command only if it was looked at,
//! and was there before any command with fewer rights ran, or was made by one
//! with as many, or cannot make git execute anything.

use super::Actor;
use crate::sandbox::has_walls;
use glass_model::{Execution, LaunchId, SandboxKind, SandboxPolicy, ShellId};
use glass_sandbox::{Distrust, GitLevel, Look, Makers, Plan, Repositories};
use glass_spawn::tree;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where a session keeps which repositories it believes, for the next daemon.
const BELIEVED_FILE: &str = "believed";

/// Different rights that are told apart; beyond, a command is taken for one
/// that has more than some other.
const PLANTERS_MAX: usize = 32;

/// Which repositories walls protect.
enum Protected {
    These(Vec<PathBuf>),
    /// Those that walls will, which are not planned yet.
    Foreseen,
}

/// Whether what is there was looked at for the command that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    No,
    Now,
}

/// What is known of who may have made which repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trust {
    /// What was there when the first walls around it were planned, or was made
    /// since by commands that had more rights than others; absent before any
    /// walls.
    believed: Option<Repositories>,
    /// What git was kept from believing, at the last look.
    last: Option<Distrust>,
    /// The rights of commands that ran behind walls and may have made some.
    planters: Vec<SandboxPolicy>,
    /// Whether one of those has begun since the last look.
    stale: bool,
    /// Whether one of those is in a session that was cut from this one, where
    /// nobody says when it begins.
    is_cut: bool,
    /// When a command with more rights has begun since the last look, with
    /// nobody else there to make anything.
    made: Option<SystemTime>,
    /// What the command that begins is kept from believing.
    distrust: Option<Distrust>,
}

impl Trust {
    /// The variables of a command, with those that keep it from believing.
    pub(super) fn env_of<'a>(&self, execution: &'a Execution) -> Cow<'a, [(String, String)]> {
        match &self.distrust {
            None => Cow::Borrowed(&execution.env),
            Some(distrust) => {
                let ours = distrust.env.iter();
                Cow::Owned(execution.env.iter().chain(ours).cloned().collect())
            }
        }
    }

    /// What a failure has to do with it.
    pub(super) fn denial(&self, stderr_tail: &[u8]) -> Option<String> {
        self.distrust.as_ref()?.denial(stderr_tail)
    }

    /// What came of a look.
    fn settle(&mut self, distrust: Option<Distrust>) {
        self.stale = false;
        self.last.clone_from(&distrust);
        self.distrust = distrust;
    }

    /// Nothing came of a look: what was held back at the last one is, or else
    /// everything, and the next command looks again.
    fn doubt(&mut self) {
        self.stale = true;
        self.distrust = self.last.clone().or_else(|| Some(Distrust::of_all()));
    }

    /// What goes along into a session that is cut from this one.
    pub(super) fn passed_on(&self) -> Trust {
        Trust {
            stale: true,
            made: None,
            distrust: None,
            ..self.clone()
        }
    }
}

impl Actor {
    /// Walls are planned: what is there now, where nobody could write before,
    /// was made by nobody behind them.
    pub(super) async fn note_planned(&mut self, plan: &Plan) {
        let protected = Protected::These(plan.repositories.clone());
        self.note_places(plan.writable.clone(), protected).await;
    }

    /// A session is cut from this one, for a command with these rights.
    pub(super) async fn note_cut(&mut self, policy: &SandboxPolicy) {
        if !self.may_plant(policy) {
            return;
        }
        let places = policy.readwrite_paths.iter().map(PathBuf::from);
        let places = match policy.kind {
            SandboxKind::WorkspaceReadOnly => places.collect(),
            _ => {
                let workspace = self.workspace.iter();
                let workspace = workspace.map(|workspace| workspace.path().to_path_buf());
                places.chain(workspace).collect()
            }
        };
        self.note_places(places, Protected::Foreseen).await;
        self.note_planter(policy).await;
        self.trust.is_cut = true;
    }

    async fn note_places(&mut self, places: Vec<PathBuf>, protected: Protected) {
        let believed = self.trust.believed.as_ref();
        if places.is_empty() || believed.is_some_and(|believed| believed.has_noted(&places)) {
            return;
        }
        let mut believed = believed.cloned().unwrap_or_default();
        let noting = tokio::task::spawn_blocking(move || {
            let protected = match protected {
                Protected::These(paths) => paths,
                Protected::Foreseen => glass_sandbox::protectable(&places),
            };
            believed.note(&places, &protected);
            believed
        });
        if let Ok(believed) = noting.await {
            self.trust.believed = Some(believed);
            self.keep_believed();
        }
    }

    /// Weighs them for the command that begins.
    pub(super) async fn weigh_repositories_for(&mut self, id: ShellId) {
        let execution = self.accepted.get(&id);
        if let Some(policy) = execution.map(|run| run.sandbox.clone()) {
            self.weigh_repositories(&policy).await;
        }
    }

    /// Looks, where a command with fewer rights may have made repositories,
    /// which of them the command that begins must not believe.
    async fn weigh_repositories(&mut self, policy: &SandboxPolicy) {
        self.trust.distrust = None;
        let plants = self.may_plant(policy);
        let is_alone = match self.trust.planters.as_slice() {
            [] => true,
            [only] => only == policy,
            _ => false,
        };
        if is_alone {
            if plants {
                self.note_planter(policy).await;
            } else if self.trust.believed.is_some() {
                // Nobody else has been here since walls were planned.
                self.trust.made.get_or_insert_with(SystemTime::now);
            }
            return;
        }
        if self.is_beyond_a_planter(policy) {
            let makers = self.makers(policy);
            let trust = &self.trust;
            let may_have_changed = trust.stale || trust.is_cut || makers == Makers::Alive;
            let mut looked = Looked::No;
            if may_have_changed || trust.last.is_some() {
                looked = self.look_for_planted(makers).await;
            }
            self.trust.stale |= makers == Makers::Alive;
            self.trust.made = match makers {
                Makers::Alive => None,
                // Nobody makes anything between a look and the command that begins.
                Makers::Gone if plants && looked == Looked::Now => None,
                Makers::Gone => self.trust.made.or_else(|| Some(SystemTime::now())),
            };
        }
        if plants {
            self.note_planter(policy).await;
        }
        if let Some(distrust) = &self.trust.distrust
            && !distrust.held_back.is_empty()
        {
            let detail = distrust.remark();
            self.remark("repositories", detail);
        }
    }

    /// Takes over what the last daemon's session believed, and looks what the
    /// command that runs must not.
    pub(super) async fn restore_trust(&mut self, executions: &[Execution]) {
        let path = self.dir.join(BELIEVED_FILE);
        let Ok(bytes) = std::fs::read(path) else {
            return;
        };
        let mut believed = Repositories::decode(&bytes);
        let workspace = self.workspace.as_ref();
        believed.assume_noted(workspace.map(|workspace| workspace.path()));
        self.trust.believed = Some(believed);
        self.trust.stale = true;
        for execution in executions {
            if self.may_plant(&execution.sandbox) {
                self.add_planter(&execution.sandbox);
            }
        }
        let running = |run: &&Execution| run.phase == glass_model::Phase::Running;
        let running = executions.iter().find(running);
        if let Some(policy) = running.map(|run| run.sandbox.clone())
            && self.is_beyond_a_planter(&policy)
        {
            self.look_for_planted(Makers::Alive).await;
        }
    }

    /// Finds what is there now, and weighs it.
    async fn look_for_planted(&mut self, makers: Makers) -> Looked {
        if self.trust.believed.is_none() {
            // There never was a place for anybody to make any.
            return Looked::No;
        }
        let Some(look) = self.repositories_now().await else {
            self.trust.doubt();
            return Looked::No;
        };
        self.learn_made(&look);
        let believed = self.trust.believed.clone().unwrap_or_default();
        let weighing =
            tokio::task::spawn_blocking(move || glass_sandbox::distrust(&believed, &look, makers));
        let Ok(distrust) = weighing.await else {
            self.trust.doubt();
            return Looked::No;
        };
        self.trust.settle(distrust);
        Looked::Now
    }

    /// A command that may make repositories begins. What commands with more
    /// rights have made before it is believed.
    async fn note_planter(&mut self, policy: &SandboxPolicy) {
        if self.trust.made.is_some()
            && let Some(look) = self.repositories_now().await
        {
            self.learn_made(&look);
        }
        self.trust.stale = true;
        self.add_planter(policy);
    }

    /// Believes what is new since the last look, if nobody with fewer rights
    /// can have made it.
    fn learn_made(&mut self, look: &Look) {
        let Some(since) = self.trust.made.take() else {
            return;
        };
        let last = self.trust.last.as_ref();
        let was_cut_short = last.is_some_and(|last| last.unseen.is_some()) || self.trust.is_cut;
        let held_back = last.map_or(&[][..], |last| &last.held_back);
        let believed = self.trust.believed.get_or_insert_default();
        believed.learn(look, held_back, was_cut_short.then_some(since));
        self.keep_believed();
    }

    fn add_planter(&mut self, policy: &SandboxPolicy) {
        let planters = &mut self.trust.planters;
        if planters.len() < PLANTERS_MAX && !planters.contains(policy) {
            planters.push(policy.clone());
        }
    }

    async fn repositories_now(&self) -> Option<Look> {
        let believed = self.trust.believed.clone()?;
        let looking = tokio::task::spawn_blocking(move || believed.look());
        looking.await.ok()
    }

    /// Whether a command with these rights may make a repository in the
    /// workspace, and whoever has more rights is to be kept from it.
    fn may_plant(&self, policy: &SandboxPolicy) -> bool {
        let reads_only = policy.kind == SandboxKind::WorkspaceReadOnly;
        let writes = !reads_only || !policy.readwrite_paths.is_empty();
        let makes_none = || {
            self.rights(policy)
                .is_some_and(|it| it.git == GitLevel::All)
        };
        has_walls(policy) && writes && !makes_none()
    }

    fn is_beyond_a_planter(&self, policy: &SandboxPolicy) -> bool {
        let planters = &self.trust.planters;
        let here = self.rights(policy);
        let grows = |planter: &SandboxPolicy| match (self.rights(planter), &here) {
            (Some(from), Some(to)) => glass_sandbox::grows(&from, to),
            // Whoever cannot be compared is not believed.
            _ => true,
        };
        planters.len() >= PLANTERS_MAX || planters.iter().any(|it| it != policy && grows(it))
    }

    /// Whether something that a command with other rights left behind is alive.
    fn makers(&self, policy: &SandboxPolicy) -> Makers {
        let makes_none = |room: &&crate::room::Room| {
            let there = self.policy_of(room);
            there.is_some_and(|there| there == policy || !self.may_plant(there))
        };
        let rooms = std::iter::once(&self.room).chain(&self.parked);
        let ours: Vec<LaunchId> = rooms
            .filter(makes_none)
            .filter_map(|room| room.shell.as_ref())
            .map(|shell| shell.id())
            .collect();
        let others = self.launches.all().into_iter();
        let mut others = others.filter(|launched| !ours.contains(&launched.id));
        let is_alive = others.any(|launched| {
            let own = [Some(launched.child), launched.init];
            let is_own = |pid: i32| own.iter().flatten().any(|own| own.pid == pid);
            let warm = self.warm_launches().contains(&launched.id);
            let below = tree::descendants(&launched.reaper);
            below
                .iter()
                .any(|process| !process.dead && (!warm || !is_own(process.pid)))
        });
        match is_alive {
            true => Makers::Alive,
            false => Makers::Gone,
        }
    }

    fn keep_believed(&self) {
        let Some(believed) = &self.trust.believed else {
            return;
        };
        let (path, new) = (self.dir.join(BELIEVED_FILE), self.dir.join("believed.new"));
        let written = std::fs::write(&new, believed.encode());
        if let Err(error) = written.and_then(|()| std::fs::rename(&new, Path::new(&path))) {
            tracing::error!(%error, "it is not on disk which repositories are believed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Trust;
    use glass_sandbox::Distrust;

    #[test]
    fn a_look_that_came_to_nothing_takes_nothing_back() {
        let held = Distrust {
            held_back: vec!["/w/evil".into()],
            unseen: None,
            env: Vec::new(),
        };
        let mut trust = Trust::default();
        trust.settle(Some(held.clone()));
        assert!(!trust.stale);
        trust.doubt();
        assert_eq!(trust.distrust, Some(held.clone()));
        assert_eq!(trust.last, Some(held));
        assert!(trust.stale, "nobody would look again");
        trust.settle(None);
        assert_eq!((&trust.distrust, &trust.last), (&None, &None));
        assert!(!trust.stale);
        // There is nothing to go by, so nothing is believed.
        trust.doubt();
        assert_eq!(trust.distrust, Some(Distrust::of_all()));
        assert_eq!(trust.last, None);
    }
}
