//! The child of one command: a shell here, or a relay to one elsewhere.

use super::Actor;
use crate::failpoint;
use crate::pipes::{self, Pair};
use crate::shell::{REQUEST_LABEL, STDIN_LABEL, StartError};
use crate::tag::Tag;
use glass_model::{LaunchPlan, ShellId};
use glass_spawn::{Launch, Launched};
use std::os::fd::OwnedFd;

/// Our ends of what a child has.
pub(super) struct Ends {
    pub(super) pair: Pair,
    /// Where it reads its request.
    pub(super) channel: OwnedFd,
    /// Where callers write, if they may.
    pub(super) stdin: Option<OwnedFd>,
}

impl Ends {
    /// The same for the keeper, without which the child's would end with us.
    fn held(&self) -> std::io::Result<Vec<(String, OwnedFd)>> {
        let (out, err) = &self.pair;
        let (out_label, err_label) = pipes::labels(0);
        let mut held = vec![
            (out_label, out.try_clone()?),
            (err_label, err.try_clone()?),
            (REQUEST_LABEL.to_owned(), self.channel.try_clone()?),
        ];
        if let Some(stdin) = &self.stdin {
            held.push((STDIN_LABEL.to_owned(), stdin.try_clone()?));
        }
        Ok(held)
    }
}

impl Actor {
    /// Starts the child of one command, which waits for its request.
    pub(super) async fn launch_child(
        &mut self,
        shell_id: ShellId,
        plan: LaunchPlan,
        child_fds: Vec<(i32, OwnedFd)>,
        ends: &Ends,
    ) -> Result<Launched, StartError> {
        let session = self.session.id.clone();
        let launch = Launch {
            plan,
            child_fds,
            held: ends.held()?,
            tag: Tag::Line { session, shell_id }.encode(),
            walls_control: None,
        };
        let launched = self.context.keeper.spawn(launch).await?;
        failpoint::hit("line-spawned");
        let routes = &self.context.routes;
        routes.add(launched.id, self.note_sender.clone());
        self.launches.add(launched.clone());
        Ok(launched)
    }
}
