//! The walls around a terminal's shell. Which commands are typed there nobody
//! knows, so the masks are looked after whenever a line is sent.

use super::Task;
use crate::actor::make_tmp;
use crate::context::{Context, make_private};
use crate::sandbox::{Enclosure, explain};
use glass_model::{Mount, SandboxPolicy, Session};
use glass_sandbox::Workspace;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use tokio::runtime::RuntimeFlavor;

/// The walls of one terminal.
pub(super) struct Walls {
    pub(super) enclosure: Enclosure,
    /// For orders to who lives behind them.
    control: Option<OwnedFd>,
}

impl Walls {
    pub(super) fn new(enclosure: Enclosure, control: Option<OwnedFd>) -> Walls {
        Walls { enclosure, control }
    }

    pub(super) fn control(&self) -> Option<BorrowedFd<'_>> {
        self.control.as_ref().map(|control| control.as_fd())
    }

    /// Nothing stands on its placeholders any more.
    pub(super) fn release(&self, context: &Context) {
        let placeholders = &self.enclosure.plan.placeholders;
        context.stands.release(placeholders);
    }

    /// Puts every mask back.
    pub(super) fn cover_all(&mut self) -> Result<(), String> {
        let masks = self.enclosure.masks();
        self.cover(&masks)
    }

    /// Puts back what the host has undone, and covers what has come to be
    /// ignored.
    fn mend(&mut self) -> Result<(), String> {
        let plan = &mut self.enclosure.plan;
        if glass_sandbox::is_settled(plan) {
            return Ok(());
        }
        let found = aside(|| glass_sandbox::verify(plan));
        match found.rebuild {
            Some(why) => Err(why),
            None => self.cover(&found.cover),
        }
    }

    fn cover(&self, mounts: &[Mount]) -> Result<(), String> {
        if mounts.is_empty() {
            return Ok(());
        }
        let Some(control) = self.control() else {
            return Err("its walls cannot be mended".to_owned());
        };
        glass_spawn::cover(control, mounts).map_err(|error| error.to_string())
    }
}

/// Looks at a disk, which may be slow, while others of this thread go on.
fn aside<T>(look: impl FnOnce() -> T) -> T {
    match tokio::runtime::Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(look),
        _ => look(),
    }
}

impl Task {
    /// Sees to it that the masks stand before a line is sent. A shell whose
    /// walls cannot be mended is ended: it cannot be begun anew elsewhere.
    pub(super) fn mend_walls(&mut self) {
        let mended = self.walls.as_mut().map_or(Ok(()), Walls::mend);
        if let Err(why) = mended {
            self.remark("walls", &format!("the terminal is ended: {why}"));
            self.end_processes(true);
        }
    }
}

/// Plans the walls of a terminal.
pub(super) async fn plan_walls(
    context: &Arc<Context>,
    session: &Session,
    policy: &SandboxPolicy,
    workspace: &Arc<Workspace>,
) -> Result<Enclosure, String> {
    let dir = context.session_dir(session);
    let (room, private_tmp) = (dir.join(super::integration::ROOM), dir.join("terminal.tmp"));
    make_private(&room).map_err(|error| error.to_string())?;
    make_tmp(&private_tmp).map_err(|error| format!("no /tmp could be made: {error}"))?;
    let facts = context.facts(private_tmp, session);
    let (context, policy) = (context.clone(), policy.clone());
    let workspace = workspace.clone();
    let planning = tokio::task::spawn_blocking(move || {
        let sandboxing = &context.settings.sandboxing;
        context.stands.plan(
            || Enclosure::plan(sandboxing, &policy, &workspace, &facts, &room),
            |enclosure| &enclosure.plan.placeholders,
        )
    });
    match planning.await {
        Ok(Ok(enclosure)) => Ok(enclosure),
        Ok(Err(refusal)) => Err(explain(refusal)),
        Err(error) => Err(error.to_string()),
    }
}
