//! The walls of the current room: planned before its shell starts, and looked
//! after before each of its commands.

use super::Actor;
use crate::context::variable_name;
use crate::sandbox::{Enclosure, Setting, explain, has_walls};
use crate::shell::existing_directory;
use glass_model::{Outcome, SandboxPolicy, ShellId};
use glass_sandbox::Verification;
use std::os::fd::AsFd;

/// How the walls of a room are before a command.
pub(super) enum Standing {
    /// As they should be.
    Sound,
    /// They cannot be mended; the shell has to be begun anew behind new ones.
    Lost(String),
}

impl Actor {
    /// The rights in the current room.
    fn policy(&self) -> &SandboxPolicy {
        self.room.policy.as_ref().unwrap_or(&self.policy)
    }

    /// Plans the current room's walls, if it has any.
    pub(super) async fn plan_walls(&mut self) -> Result<(), String> {
        let policy = self.policy().clone();
        if has_walls(&policy) || !self.session.leaves_nothing() {
            crate::context::make_private(&self.room.dir).map_err(|error| error.to_string())?;
        }
        if !has_walls(&policy) {
            return Ok(());
        }
        let Some(workspace) = self.workspace.clone() else {
            return Err("the session's workspace is gone".to_owned());
        };
        let private_tmp = self.dir.join(format!("{}.tmp", self.room.key));
        make_tmp(&private_tmp).map_err(|error| format!("no /tmp could be made: {error}"))?;
        let context = self.context.clone();
        let facts = context.facts(private_tmp, &self.session);
        let room_dir = self.room.dir.clone();
        let planned = tokio::task::spawn_blocking(move || {
            let sandboxing = &context.settings.sandboxing;
            context.stands.plan(
                || Enclosure::plan(sandboxing, &policy, &workspace, &facts, &room_dir),
                |enclosure| &enclosure.plan.placeholders,
            )
        });
        match planned.await {
            Ok(Ok(enclosure)) => {
                self.context
                    .repositories
                    .learn(&enclosure.plan.repositories);
                self.note_planned(&enclosure.plan).await;
                self.report_plan(&enclosure);
                let last = self.room.enclosure.replace(enclosure);
                self.release(last);
                Ok(())
            }
            Ok(Err(refusal)) => Err(explain(refusal)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Forgets the plan of the current room's walls, which did not hold.
    pub(super) fn drop_plan(&mut self) {
        let last = self.room.enclosure.take();
        self.release(last);
    }

    /// What the next shell of this room is started with. The walls are planned
    /// anew only where the file system has changed since the last ones were.
    pub(super) async fn setting(&mut self, cwd: &str) -> Result<Setting, String> {
        let found = self.verify().await;
        if found != Some(Verification::default()) {
            self.plan_walls().await?;
        }
        let env = self.room_env();
        let Some((enclosure, workspace)) =
            self.room.enclosure.as_ref().zip(self.workspace.as_ref())
        else {
            let cwd = existing_directory(cwd);
            let walls = None;
            return Ok(Setting { env, cwd, walls });
        };
        Ok(Setting {
            env: enclosure.plan.env.apply(&self.entering(env)),
            cwd: enclosure.directory(cwd, workspace),
            walls: enclosure.walls(),
        })
    }

    /// What of an environment enters a sandbox: all that a caller or a command
    /// gave, and of our own only what is known to be harmless.
    fn entering(&self, mut env: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let inherit = &self.context.settings.sandboxing.inherit;
        env.retain(|entry| {
            let name = variable_name(entry);
            let mut patterns = inherit.iter();
            patterns.any(|pattern| glass_sandbox::matches(pattern.as_bytes(), name))
                || !self.ours.contains(entry)
        });
        env
    }

    /// Sees to it that every mask of the current room's walls stands, before a
    /// command relies on it.
    pub(super) async fn mend_walls(&mut self) -> Result<Standing, String> {
        if !has_walls(self.policy()) {
            return Ok(Standing::Sound);
        }
        let mut cover = Vec::new();
        if self.room.enclosure.is_none() {
            // The shell is the last daemon's: which of its masks stand is not
            // known.
            self.plan_walls().await?;
            cover.extend(self.room.enclosure.iter().flat_map(Enclosure::masks));
        }
        let Some(found) = self.verify().await else {
            return Ok(Standing::Lost("its walls are not known".to_owned()));
        };
        if let Some(why) = found.rebuild {
            return Ok(Standing::Lost(why));
        }
        cover.extend(found.cover);
        if cover.is_empty() {
            return Ok(Standing::Sound);
        }
        let control = self
            .room
            .shell
            .as_ref()
            .and_then(|shell| shell.walls.as_ref());
        let Some(control) = control else {
            return Ok(Standing::Lost("its walls cannot be mended".to_owned()));
        };
        let control = control.as_fd().try_clone_to_owned();
        let control = control.map_err(|error| error.to_string())?;
        let covering =
            tokio::task::spawn_blocking(move || glass_spawn::cover(control.as_fd(), &cover));
        match covering.await {
            Ok(Ok(())) => Ok(Standing::Sound),
            Ok(Err(error)) => Ok(Standing::Lost(error.to_string())),
            Err(error) => Ok(Standing::Lost(error.to_string())),
        }
    }

    /// What must happen to the current room's walls. Looks elsewhere where
    /// there is much to look at, so that nobody waits for a slow disk but this
    /// session. Nothing where there are no walls that it could be asked of.
    async fn verify(&mut self) -> Option<Verification> {
        let mut enclosure = self.room.enclosure.take()?;
        if glass_sandbox::is_settled(&mut enclosure.plan) {
            self.room.enclosure = Some(enclosure);
            return Some(Verification::default());
        }
        let looking = tokio::task::spawn_blocking(move || {
            let found = glass_sandbox::verify(&mut enclosure.plan);
            (enclosure, found)
        });
        let (enclosure, found) = looking.await.ok()?;
        self.room.enclosure = Some(enclosure);
        Some(found)
    }

    /// Ends the current room's shell so that it is begun anew behind new walls.
    pub(super) fn replace_shell(&mut self, why: String) {
        self.remark("walls", format!("the shell is begun anew: {why}"));
        if let Some(shell) = self.room.shell.take() {
            self.end_unneeded(shell.launched.clone());
        }
        self.drop_plan();
    }

    /// These walls are gone, or have been built anew.
    pub(super) fn release(&self, enclosure: Option<Enclosure>) {
        if let Some(enclosure) = enclosure {
            self.context.stands.release(&enclosure.plan.placeholders);
        }
    }

    /// Leaves what was denied to a command where the policy asks for that.
    pub(super) fn report_denials(&self, id: ShellId, outcome: &Outcome) {
        let denials = &outcome.details.sandbox_denials;
        let command = self.accepted.get(&id).map(|run| run.command.as_str());
        if let (Some(enclosure), Some(command), false) =
            (&self.room.enclosure, command, denials.is_empty())
        {
            let text = glass_sandbox::debug_denials(command, outcome.code, denials);
            enclosure.report(&format!("shellglass-denied-{id}.json"), &text);
        }
    }

    /// Leaves a report where the policy asks for one.
    fn report_plan(&self, enclosure: &Enclosure) {
        if enclosure.effective.policy.debug_output_dir.is_none() {
            return;
        }
        let versions = self.context.versions();
        let text = glass_sandbox::debug_report(&enclosure.effective, &enclosure.plan, &versions);
        enclosure.report(&format!("shellglass-plan-{}.json", self.room.key), &text);
    }
}

/// Makes the directory that is `/tmp` inside.
pub(crate) fn make_tmp(path: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o1777))
}
