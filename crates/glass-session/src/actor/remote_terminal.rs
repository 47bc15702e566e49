//! A terminal for one command on another host: a relay that gives `ssh` a terminal of
//! ours, which is as large as whoever looks at it says.

use super::Actor;
use super::begin::{Prepared, full_message};
use super::own_terminal::OwnTerminal;
use crate::failpoint;
use crate::hosts::Elsewhere;
use crate::pipes;
use crate::shell::{self, REQUEST_LABEL, STDIN_LABEL, StartError};
use crate::state::Input;
use crate::tag::Tag;
use glass_model::{Execution, LaunchPlan};
use glass_spawn::{GATE_FD, Launch, Launched, tree};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;

/// What was started.
struct Started {
    launched: Launched,
    pair: pipes::Pair,
    channel: OwnedFd,
    terminal: OwnedFd,
}

impl Actor {
    /// Begins a command that has a terminal on the session's host.
    pub(super) async fn begin_remote_terminal(
        &mut self,
        execution: &Execution,
        elsewhere: &Elsewhere,
    ) -> Option<Input> {
        let encoded = match self.remote_request(execution) {
            Ok(encoded) => encoded,
            Err(error) => return Some(Input::CannotRun(error.to_string())),
        };
        let since_ticks = tree::now_ticks();
        let started = match self.launch_terminal_relay(execution, elsewhere).await {
            Ok(started) => started,
            Err(error) => return Some(Input::CannotRun(full_message(&error))),
        };
        let prepared = Prepared {
            launched: started.launched,
            slot: 0,
            pair: started.pair,
            since_ticks,
            stdin: Some(started.terminal),
        };
        if let Some(input) = self.enter(execution.shell_id, prepared, encoded.file.as_deref()) {
            return Some(input);
        }
        self.watch_running(None);
        failpoint::hit("line-journaled");
        if let Err(error) = shell::send_whole(&started.channel, &encoded.message) {
            tracing::warn!(session = %self.session.id, %error, "the relay does not begin");
        }
        failpoint::hit("line-sent");
        None
    }

    /// Starts the relay, which waits at its gate.
    async fn launch_terminal_relay(
        &mut self,
        execution: &Execution,
        elsewhere: &Elsewhere,
    ) -> Result<Started, StartError> {
        crate::context::make_private(&self.room.dir)?;
        let terminal = OwnTerminal::open(&self.session)?;
        // Nothing writes to it: both outputs are the terminal.
        let (err, _) = pipes::plain()?;
        let (channel, child_channel) = shell::channel()?;
        let out = terminal.master.try_clone()?;
        let (out_label, err_label) = pipes::labels(0);
        let held = vec![
            (out_label, out.try_clone()?),
            (err_label, err.try_clone()?),
            (REQUEST_LABEL.to_owned(), channel.try_clone()?),
            // Otherwise it would end with us.
            (STDIN_LABEL.to_owned(), terminal.master.try_clone()?),
        ];
        let mut child_fds = terminal.child_fds;
        child_fds.push((GATE_FD, child_channel));
        let mut env = self.context.ssh_env();
        crate::context::set_variable(&mut env, "TERM", "xterm-256color");
        let argv = self.terminal_relay_argv(execution, elsewhere);
        let plan = LaunchPlan {
            program: self
                .context
                .settings
                .hosts
                .relay
                .clone()
                .into_os_string()
                .into_vec(),
            argv: argv.into_iter().map(OsString::into_vec).collect(),
            env,
            cwd: b"/".to_vec(),
            cgroup: String::new(),
            resources: glass_model::Resources::default(),
            takes_terminal: true,
            walls: None,
        };
        let tag = Tag::Line {
            session: self.session.id.clone(),
            shell_id: execution.shell_id,
        };
        let launch = Launch {
            plan,
            child_fds,
            held,
            tag: tag.encode(),
            walls_control: None,
        };
        let launched = self.context.keeper.spawn(launch).await?;
        failpoint::hit("line-spawned");
        let routes = &self.context.routes;
        routes.add(launched.id, self.note_sender.clone());
        self.launches.add(launched.clone());
        Ok(Started {
            launched,
            pair: (out, err),
            channel,
            terminal: terminal.master,
        })
    }

    fn terminal_relay_argv(&self, execution: &Execution, elsewhere: &Elsewhere) -> Vec<OsString> {
        let log = self.room.dir.join(format!("l{}", execution.shell_id));
        let shared = self.context.shared_socket(&elsewhere.name);
        let hosts = &self.context.settings.hosts;
        let way = hosts
            .ssh
            .command(&elsewhere.address, &log, shared.as_deref());
        let number = execution.shell_id.to_string();
        let mut argv: Vec<OsString> = vec![hosts.relay.clone().into()];
        argv.extend(["relay".into(), "--number".into(), number.into()]);
        argv.extend(["--dir".into(), self.room.dir.clone().into()]);
        argv.extend(["--log".into(), log.into()]);
        argv.extend(["--terminal".into(), way.len().to_string().into()]);
        argv.push("--".into());
        argv.extend(way);
        argv.extend(hosts.ssh.terminal(&elsewhere.address, None));
        argv
    }
}
