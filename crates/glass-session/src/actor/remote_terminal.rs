//! A terminal for one command on another host: a relay that gives `ssh` a terminal of
//! ours, which is as large as whoever looks at it says.

use super::Actor;
use super::child::Ends;
use super::own_terminal::OwnTerminal;
use crate::context::set_variable;
use crate::engine::TERM;
use crate::hosts::Elsewhere;
use crate::pipes;
use crate::shell::{self, StartError};
use glass_model::Execution;
use glass_spawn::Launched;
use std::ffi::OsString;

/// Where the relay of a terminal is told something: its standard error.
const WORDS_FD: i32 = 2;

impl Actor {
    /// Starts the relay, which waits for its word.
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
        // It gives its terminal away and says nothing itself.
        child_fds.retain(|(number, _)| *number != WORDS_FD);
        child_fds.push((WORDS_FD, child_channel));
        let ends = Ends {
            pair: (terminal.master.try_clone()?, err),
            channel,
            stdin: Some(terminal.master),
        };
        let (address, log) = (&elsewhere.address, self.ssh_log(execution));
        let shared = self.context.shared_socket(&elsewhere.name);
        let ssh = &self.context.settings.hosts.ssh;
        let way = ssh.command(address, &log, shared.as_deref());
        let within = ssh.command_terminal(address, &log, shared.as_deref());
        let options = ["--terminal".into(), OsString::from(way.len().to_string())];
        let ways = way.into_iter().chain(within);
        let mut plan = self.relay_plan(execution, log, &options, ways);
        plan.takes_terminal = true;
        set_variable(&mut plan.env, TERM.0, TERM.1);
        let id = execution.shell_id;
        let launched = self.launch_child(id, plan, child_fds, &ends).await?;
        Ok((launched, ends))
    }
}
