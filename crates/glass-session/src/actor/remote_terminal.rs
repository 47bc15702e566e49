//! A terminal for one command on another host: a relay that gives `ssh` a terminal of
//! ours, which is as large as whoever looks at it says.

use super::Actor;
use super::child::Ends;
use super::own_terminal::OwnTerminal;
use crate::hosts::Elsewhere;
use crate::pipes;
use crate::shell::{self, StartError};
use glass_model::Execution;
use glass_spawn::{GATE_FD, Launched};
use std::ffi::OsString;

impl Actor {
    /// Starts the relay, which waits at its gate.
    pub(super) async fn launch_terminal_relay(
        &mut self,
        execution: &Execution,
        elsewhere: &Elsewhere,
    ) -> Result<(Launched, Ends), StartError> {
        let terminal = OwnTerminal::open(&self.session)?;
        // Nothing writes to it: both outputs are the terminal.
        let (err, _) = pipes::plain()?;
        let (channel, child_channel) = shell::channel()?;
        let mut child_fds = terminal.child_fds;
        child_fds.push((GATE_FD, child_channel));
        let ends = Ends {
            pair: (terminal.master.try_clone()?, err),
            channel,
            stdin: Some(terminal.master),
        };
        let (way, log) = self.way_to(execution, elsewhere);
        let options = ["--terminal".into(), OsString::from(way.len().to_string())];
        let hosts = &self.context.settings.hosts;
        let within = hosts.ssh.terminal(&elsewhere.address, None);
        let ways = way.into_iter().chain(within);
        let mut plan = self.relay_plan(execution, log, &options, ways);
        plan.takes_terminal = true;
        crate::context::set_variable(&mut plan.env, "TERM", "xterm-256color");
        let id = execution.shell_id;
        let launched = self.launch_child(id, plan, child_fds, &ends).await?;
        Ok((launched, ends))
    }
}
