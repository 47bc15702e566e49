//! Which room the session is in, and what goes with it from one to the next.

use super::Actor;
use crate::context::variable_name;
use crate::room::{Room, room_key};
use crate::sandbox::has_walls;
use crate::shell::{Peeked, WarmShell};
use crate::state::{Input, RoomId};
use glass_model::{Execution, LaunchId, Role, SandboxPolicy, ShellId};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rooms that wait while nobody needs them; beyond, the one that was left longest
/// ago ends, with its shell.
const ROOMS_MAX: usize = 16;

/// How long a shell may take to say what it exports before the next command,
/// which runs in another room, goes on without.
const EXPORTS_WAIT_MS: u64 = 500;

impl Actor {
    /// The room for commands with these rights.
    pub(super) fn room_for(&mut self, policy: &SandboxPolicy) -> RoomId {
        if self.room.policy.as_ref() == Some(policy) {
            return self.room.id;
        }
        let id = self.room_of_key(room_key(policy, &self.session.workspace_root));
        let mut rooms = std::iter::once(&mut self.room).chain(&mut self.parked);
        if let Some(room) = rooms.find(|room| room.id == id) {
            room.policy = Some(policy.clone());
        }
        id
    }

    pub(super) fn room_of_key(&mut self, key: String) -> RoomId {
        let rooms = std::iter::once(&self.room).chain(&self.parked);
        if let Some(room) = rooms.into_iter().find(|room| room.key == key) {
            return room.id;
        }
        self.end_a_room();
        self.rooms_made += 1;
        let id = RoomId(self.rooms_made);
        self.parked.push(Room::new(id, key, &self.dir));
        id
    }

    /// Makes the room of this command the one that is attended to. Says whether
    /// it is: a command must not run in any other.
    pub(super) async fn enter_room_of(&mut self, id: ShellId) -> bool {
        let Some(execution) = self.accepted.get(&id) else {
            return false;
        };
        if self.room.policy.as_ref() == Some(&execution.sandbox) {
            return true;
        }
        let policy = execution.sandbox.clone();
        let room = self.room_for(&policy);
        self.enter_room(room).await;
        self.room.policy.as_ref() == Some(&policy)
    }

    /// Makes this room the one that is attended to. Only while no command runs.
    pub(super) async fn enter_room(&mut self, id: RoomId) {
        if self.room.id == id {
            return;
        }
        if self.room.exports_unsure || self.room.exports_asked {
            self.learn_exports().await;
        }
        self.move_to_room(id);
    }

    /// The same for a room whose shell need not be asked anything.
    pub(super) fn move_to_room(&mut self, id: RoomId) {
        let Some(at) = self.parked.iter().position(|room| room.id == id) else {
            return;
        };
        let next = self.parked.remove(at);
        let last = std::mem::replace(&mut self.room, next);
        self.cross(&last);
        self.parked.push(last);
        self.snapshot_at = None;
    }

    /// Ends the room that nobody has been in for longest, where there are too
    /// many.
    fn end_a_room(&mut self) {
        if self.parked.len() < ROOMS_MAX {
            return;
        }
        let state = &self.state;
        let Some(at) = self
            .parked
            .iter()
            .position(|room| state.is_resting(room.id))
        else {
            return;
        };
        let mut room = self.parked.remove(at);
        self.release(room.enclosure.take());
        if let Some(shell) = room.shell {
            self.end_unneeded(shell.launched.clone());
        }
    }

    /// The shell that this launch is, in whichever room.
    pub(super) fn shell_of(&mut self, launch: LaunchId) -> Option<&mut WarmShell> {
        let rooms = std::iter::once(&mut self.room).chain(&mut self.parked);
        rooms
            .into_iter()
            .filter_map(|room| room.shell.as_mut())
            .find(|shell| shell.id() == launch)
    }

    /// The launches that are somebody's warm shell.
    pub(super) fn warm_launches(&self) -> Vec<LaunchId> {
        let rooms = std::iter::once(&self.room).chain(&self.parked);
        let shells = rooms.filter_map(|room| room.shell.as_ref());
        shells.map(WarmShell::id).collect()
    }

    /// A shell ended that nobody was listening to.
    pub(super) async fn parked_exited(&mut self, launch: LaunchId) -> bool {
        let is_it = |room: &&mut Room| {
            let shell = room.shell.as_ref();
            shell.is_some_and(|shell| shell.id() == launch)
        };
        let Some(room) = self.parked.iter_mut().find(is_it) else {
            return false;
        };
        room.shell = None;
        let id = room.id;
        let status = glass_model::WaitStatus::Unknown;
        self.take(Input::ShellExited(id, status)).await;
        true
    }

    /// What goes along from the room that was left: where the session is, and to
    /// a room without a past what its commands export. A room with fewer rights
    /// must not be able to plant anything in one with more.
    fn cross(&mut self, left: &Room) {
        self.cross_directory(left);
        if self.room.env.is_some() || self.room.id == super::FIRST_ROOM {
            return;
        }
        let exported = left.env.as_ref().unwrap_or(&self.session.env);
        let env = self.arriving(exported, self.policy_of(left), self.policy_of(&self.room));
        self.room.env = Some(env);
    }

    /// Lets nothing of what was exported in the last daemon's time be believed
    /// with more rights than it was exported with. Which rights those were is
    /// not known, so they may have been any that the session had.
    pub(super) fn distrust(&mut self, executions: &[Execution]) {
        let mut others: Vec<&SandboxPolicy> = Vec::new();
        for execution in executions {
            let policy = &execution.sandbox;
            if *policy != self.policy && !others.contains(&policy) {
                others.push(policy);
            }
        }
        for policy in others {
            let exported = &self.session.env;
            self.session.env = self.arriving(exported, Some(policy), Some(&self.policy));
        }
    }

    /// What is exported in one room, as far as another may believe it, over what
    /// the session was made with.
    pub(super) fn arriving(
        &self,
        exported: &[Vec<u8>],
        from: Option<&SandboxPolicy>,
        to: Option<&SandboxPolicy>,
    ) -> Vec<Vec<u8>> {
        let news: Vec<Vec<u8>> = exported
            .iter()
            .filter(|entry| !self.pristine.contains(entry))
            .cloned()
            .collect();
        let rights = |policy: Option<&SandboxPolicy>| policy.and_then(|it| self.rights(it));
        let news = match (rights(from), rights(to)) {
            (Some(from), Some(to)) => glass_sandbox::crossing(&news, &from, &to),
            // Whoever cannot be compared gives nothing.
            _ => Vec::new(),
        };
        let mut env = self.pristine.clone();
        env.retain(|entry| {
            let name = variable_name(entry);
            news.iter().all(|new| variable_name(new) != name)
        });
        env.extend(news);
        env
    }

    /// The rights in a room, where they are known.
    pub(super) fn policy_of<'a>(&'a self, room: &'a Room) -> Option<&'a SandboxPolicy> {
        let of_first = (room.id == super::FIRST_ROOM).then_some(&self.policy);
        room.policy.as_ref().or(of_first)
    }

    /// Stays in the session's directory, if that is the same directory here;
    /// goes to the workspace otherwise.
    fn cross_directory(&mut self, left: &Room) {
        let Some(workspace) = &self.workspace else {
            return;
        };
        let cwd = Path::new(&self.session.cwd);
        let came_from_walls = self.policy_of(left).is_none_or(has_walls);
        let stays = match &self.room.enclosure {
            Some(enclosure) => {
                enclosure.directory(&self.session.cwd, workspace) == self.session.cwd
            }
            None if came_from_walls => glass_sandbox::safe_directory(cwd, workspace).is_some(),
            None => true,
        };
        let planted = self.planted_repository(left, cwd, workspace);
        if !stays || planted.is_some() {
            self.session.cwd = workspace.path().to_string_lossy().into_owned();
        }
        if let Some(planted) = planted {
            let detail = format!(
                "back in the workspace: a command with fewer rights may have made {}",
                planted.display()
            );
            self.remark("directory", detail);
        }
    }

    /// A repository around the directory that git would believe here and that
    /// a command with fewer rights may have made.
    fn planted_repository(
        &self,
        left: &Room,
        cwd: &Path,
        workspace: &glass_sandbox::Workspace,
    ) -> Option<PathBuf> {
        let rights = |room| self.policy_of(room).and_then(|policy| self.rights(policy));
        if let (Some(from), Some(to)) = (rights(left), rights(&self.room))
            && !glass_sandbox::grows(&from, &to)
        {
            return None;
        }
        // Any room may have made it, also one that was left before this one.
        let rooms = self.parked.iter().chain([left]);
        let walled: Vec<&Room> = rooms
            .filter(|room| self.policy_of(room).is_none_or(has_walls))
            .collect();
        let may_be_planted = |path: &PathBuf| {
            walled.iter().any(|room| match &room.enclosure {
                Some(enclosure) => enclosure.plan.may_have_made(path),
                None => true,
            })
        };
        let believed = glass_sandbox::believed_in(cwd, workspace);
        believed.into_iter().find(may_be_planted)
    }

    pub(super) fn rights(&self, policy: &SandboxPolicy) -> Option<glass_sandbox::Effective> {
        let settings = &self.context.settings.sandboxing.settings;
        let workspace = self.workspace.as_ref()?;
        glass_sandbox::resolve(Some(policy), None, settings, Role::Person, workspace).ok()
    }

    /// Asks the shell that is about to be left what it exports, and waits for
    /// the answer.
    pub(super) async fn learn_exports(&mut self) {
        if self.room.exports_unsure {
            self.ask_whether_ready();
        }
        let until = Instant::now() + Duration::from_millis(EXPORTS_WAIT_MS);
        while let Some(shell) = &mut self.room.shell {
            let readable = std::future::poll_fn(|cx| match shell.poll_report(cx) {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            });
            if tokio::time::timeout_at(until.into(), readable)
                .await
                .is_err()
            {
                tracing::debug!(session = %self.session.id, "a shell does not say what it exports");
                return;
            }
            match shell.peek() {
                Ok(Peeked::Reports(reports, bytes)) => {
                    if shell.consume(bytes).is_err() {
                        return;
                    }
                    let state = reports.into_iter().find_map(|report| match report {
                        crate::driver::Report::State { seq } => Some(seq),
                        _ => None,
                    });
                    if let Some(seq) = state {
                        // One that answers reads commands.
                        shell.ready_by = None;
                        self.state.adopt_shell(self.room.id, true);
                        self.keep_snapshot(seq);
                    }
                    if !self.room.exports_asked {
                        return;
                    }
                }
                Ok(Peeked::Nothing) => {}
                Ok(Peeked::End) | Err(_) => return,
            }
        }
    }

    /// What the shells of the current room are started with.
    pub(super) fn room_env(&self) -> Vec<Vec<u8>> {
        match &self.room.env {
            Some(env) => env.clone(),
            None => self.session.env.clone(),
        }
    }

    /// Takes over what the current room's shell exports.
    pub(super) fn keep_env(&mut self, env: Vec<Vec<u8>>) {
        if self.room_env() == env {
            return;
        }
        let secrets = super::lock(&self.live).secrets.clone();
        self.context.detectors.learn(&secrets, &env);
        if self.room.id == super::FIRST_ROOM {
            self.session.env.clone_from(&env);
            let change = self.session_change(Some(env));
            self.write(vec![change], super::Aftermath::default());
        } else {
            self.room.env = Some(env);
        }
    }
}
