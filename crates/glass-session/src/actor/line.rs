//! A shell for one command.

use super::Actor;
use super::begin::{PLANS_MAX, Prepared, WRONG_ROOM, full_message, tool_call_id};
use super::child::Ends;
use super::own_terminal::{self, OwnTerminal};
use crate::driver::{self, Argv, Encoded, REPORT_FD, REQUEST_FD, Request, RequestError, Style};
use crate::failpoint;
use crate::habits::appended;
use crate::pipes;
use crate::sandbox::Setting;
use crate::shell::{self, StartError};
use crate::state::Input;
use glass_model::{Execution, LaunchPlan, ShellId, Startup, Stdin};
use glass_spawn::{GATE_FD, GATE_WORD, Launched, tree};
use rustix::fs::{Mode as FileMode, OFlags};

/// In the place of a nonce: the shell's exit says how its only command ended.
const NO_NONCE: &str = "0000000000";

impl Actor {
    pub(super) async fn begin_line(&mut self, id: ShellId) -> Option<Input> {
        if !self.enter_room_of(id).await {
            return Some(Input::CannotRun(WRONG_ROOM.to_owned()));
        }
        if let Some(why) = self.is_ignored_now(id) {
            return Some(Input::NotAllowed(why));
        }
        if self.session.is_elsewhere() {
            return self.begin_remote(id).await;
        }
        let Some(execution) = self.accepted.get(&id).cloned() else {
            return Some(Input::CannotRun("it is not known".to_owned()));
        };
        self.weigh_repositories_for(id).await;
        // Start files belong to warm shells: here they would write into the
        // output of every command.
        let shell = &self.session.shell;
        let argv = if self.is_plain(&execution) {
            let (command, number) = (&execution.command, execution.shell_id.0);
            let command = appended(shell, &self.session.env, command, number);
            driver::plain_argv(shell, &command)
        } else {
            driver::argv(shell, Startup::Nothing, Style::Once, &self.room.dir)
        };
        let encoded = match self.line_request(&execution) {
            Ok(encoded) => encoded,
            Err(error) => return Some(Input::CannotRun(error.to_string())),
        };
        let since_ticks = tree::now_ticks();
        let mut plans = 0;
        let (launched, ends) = loop {
            plans += 1;
            let cwd = self.session.cwd.clone();
            let mut setting = match self.setting(&cwd).await {
                Ok(setting) => setting,
                Err(why) => return Some(Input::CannotRun(why)),
            };
            if !execution.requested_cwd.is_empty() {
                // Nothing runs elsewhere than where it was told to.
                setting.cwd.clone_from(&execution.requested_cwd);
            }
            match self.launch_line(&execution, argv.clone(), setting).await {
                Ok(started) => break started,
                Err(error) if error.is_outdated() && plans < PLANS_MAX => self.drop_plan(),
                Err(error) => return Some(Input::CannotRun(full_message(&error))),
            }
        };
        let prepared = Prepared {
            launched,
            slot: 0,
            pair: ends.pair,
            since_ticks,
            stdin: ends.stdin,
        };
        if let Some(input) = self.enter(id, prepared, encoded.file.as_deref()) {
            return Some(input);
        }
        self.watch_running(None);
        self.look_at_running();
        failpoint::hit("line-journaled");
        if let Err(error) = shell::send_whole(&ends.channel, &encoded.message) {
            tracing::warn!(session = %self.session.id, %error, "the shell does not read");
        }
        failpoint::hit("line-sent");
        None
    }

    /// Whether a command is run without a driver: because its shell has none, or
    /// because nobody needs the state that it leaves.
    fn is_plain(&self, execution: &Execution) -> bool {
        let fits = execution.command.len() <= driver::PLAIN_BYTES_MAX;
        !self.session.shell.kind.is_driven() || (self.session.ephemeral && fits)
    }

    /// What the shell of one command is told; one without a driver only waits
    /// for the word to go.
    pub(super) fn line_request(&self, execution: &Execution) -> Result<Encoded, RequestError> {
        if self.session.is_elsewhere() {
            return self.remote_request(execution);
        }
        if self.is_plain(execution) {
            return Ok(Encoded {
                message: GATE_WORD.to_vec(),
                file: None,
            });
        }
        let request = Request {
            seq: u64::from(execution.shell_id.0),
            nonce: NO_NONCE,
            slot: 0,
            tool_call_id: &tool_call_id(execution),
            cwd: None,
            env: &self.trust.env_of(execution),
            command: &execution.command,
        };
        driver::encode_run(self.session.shell.kind, &self.room.dir, &request)
    }

    /// Starts the shell of one command, which waits for its request.
    async fn launch_line(
        &mut self,
        execution: &Execution,
        argv: Argv,
        setting: Setting,
    ) -> Result<(Launched, Ends), StartError> {
        let (mut out, child_out) = pipes::plain()?;
        let (err, child_err) = pipes::plain()?;
        let (channel, child_channel) = shell::channel()?;
        let is_plain = self.is_plain(execution);
        let request_fd = match argv.stdin_is_control {
            _ if is_plain => GATE_FD,
            true => 0,
            false => REQUEST_FD,
        };
        let mut child_fds = vec![(1, child_out), (2, child_err), (request_fd, child_channel)];
        let mut stdin = None;
        let takes_terminal = is_plain && self.has_terminal();
        if takes_terminal {
            let terminal = OwnTerminal::open(&self.session)?;
            // Nothing writes to the pipe of errors: both outputs are the terminal.
            child_fds.retain(|(number, _)| *number == request_fd);
            child_fds.extend(terminal.child_fds);
            out = terminal.master.try_clone()?;
            stdin = Some(terminal.master);
        } else if is_plain && self.session.background == Some(Stdin::Open) {
            let (child_stdin, ours) = pipes::stdin()?;
            child_fds.push((0, child_stdin));
            stdin = Some(ours);
        }
        if !is_plain {
            crate::context::make_private(&self.room.dir)?;
            // Nobody listens to the reports of a shell that is its own boundary.
            let flags = OFlags::RDWR | OFlags::CLOEXEC;
            let nowhere = rustix::fs::open("/dev/null", flags, FileMode::empty())?;
            child_fds.push((REPORT_FD, nowhere));
        }
        let ends = Ends {
            pair: (out, err),
            channel,
            stdin,
        };
        let mut env = self.context.shell_env(&self.session, setting.env);
        if takes_terminal {
            own_terminal::announce(&mut env);
        }
        if is_plain {
            let key = tool_call_id(execution);
            crate::context::set_variable(&mut env, "SHELLGLASS_TOOL_CALL_ID", &key);
            for (name, value) in self.trust.env_of(execution).iter() {
                crate::context::set_variable(&mut env, name, value);
            }
        }
        let plan = LaunchPlan {
            program: argv.program,
            argv: argv.argv,
            env,
            cwd: setting.cwd.into_bytes(),
            cgroup: self.line_cgroup(execution),
            resources: self.context.resources(),
            takes_terminal,
            walls: setting.walls,
        };
        let id = execution.shell_id;
        let launched = self.launch_child(id, plan, child_fds, &ends).await?;
        Ok((launched, ends))
    }

    /// The cgroup of a shell for one command. Its reaper is wall enough: making a
    /// cgroup for every command costs several times what starting the shell
    /// does, so it has one only where something is to be counted.
    fn line_cgroup(&self, execution: &Execution) -> String {
        let resources = self.context.resources();
        if resources.memory_bytes.or(resources.processes).is_none() {
            return String::new();
        }
        let name = format!("{}-{}", self.session.id, execution.shell_id);
        self.context.cgroup_name(&name)
    }
}
