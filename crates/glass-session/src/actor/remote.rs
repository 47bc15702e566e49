//! A command of a session on another host: a relay in place of its shell.

use super::Actor;
use super::begin::{Prepared, full_message, tool_call_id};
use super::child::Ends;
use super::own_terminal;
use crate::context::{Context, read_left, variable_name};
use crate::driver::{Encoded, Request, RequestError};
use crate::failpoint;
use crate::hosts::Elsewhere;
use crate::pipes;
use crate::remote::{Errand, is_unheard_of};
use crate::shell::{self, StartError};
use crate::state::Input;
use glass_model::{Execution, LaunchPlan, ShellId, Stdin, WaitStatus};
use glass_remote::{CANCEL, End, GO, INPUT_FD, NO_SHELL, STOP_MS_MAX, end_name, is_for_ssh};
use glass_spawn::{Launched, tree};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for a relay to leave once its command has been stopped, in milliseconds.
const LEAVE_MS_MAX: u64 = 3_000;

/// Between two looks at a relay that is stopping.
const STOP_LOOK: Duration = Duration::from_millis(10);

/// Longest end file, in bytes.
const END_BYTES_MAX: u64 = 4096;

/// What stops the command that runs elsewhere, before its relay is ended.
pub(super) struct Stopping {
    channel: OwnedFd,
    relay: Launched,
    end: PathBuf,
    host: String,
}

impl Actor {
    /// Begins a command on the session's host.
    pub(super) async fn begin_remote(&mut self, id: ShellId) -> Option<Input> {
        let Some(execution) = self.accepted.get(&id).cloned() else {
            return Some(Input::CannotRun("it is not known".to_owned()));
        };
        let elsewhere = match self.context.settings.hosts.resolve(&self.session.host) {
            Ok(elsewhere) => elsewhere,
            Err(error) => return Some(Input::CannotRun(format!("{error}; {}", error.hint))),
        };
        let encoded = match self.remote_request(&execution) {
            Ok(encoded) => encoded,
            Err(error) => return Some(Input::CannotRun(error.to_string())),
        };
        if let Err(error) = crate::context::make_private(&self.room.dir) {
            return Some(Input::CannotRun(error.to_string()));
        }
        let since_ticks = tree::now_ticks();
        let started = match self.has_terminal() {
            true => self.launch_terminal_relay(&execution, &elsewhere).await,
            false => self.launch_relay(&execution, &elsewhere).await,
        };
        let (launched, ends) = match started {
            Ok(started) => started,
            Err(error) => return Some(Input::CannotRun(full_message(&error))),
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
        failpoint::hit("line-journaled");
        if let Err(error) = shell::send_whole(&ends.channel, &encoded.message) {
            tracing::warn!(session = %self.session.id, %error, "the relay does not read");
        }
        if let Some(running) = &mut self.running {
            running.relay = Some(ends.channel);
        }
        failpoint::hit("line-sent");
        None
    }

    /// What a relay is told, and what it sends.
    pub(super) fn remote_request(&self, execution: &Execution) -> Result<Encoded, RequestError> {
        let call = tool_call_id(execution);
        let request = Request {
            seq: u64::from(execution.shell_id.0),
            nonce: "0",
            slot: 0,
            tool_call_id: &call,
            cwd: None,
            env: &execution.env,
            command: &execution.command,
        };
        let mut env = self.room_env();
        if self.has_terminal() {
            own_terminal::announce(&mut env);
        }
        let is_known = !env.iter().any(|entry| is_unheard_of(entry));
        let given = self.context.shell_env(&self.session, env.clone());
        let errand = Errand {
            shell: &self.session.shell,
            env: is_known.then_some(&given),
            given: &given,
            cwd: match execution.requested_cwd.as_str() {
                "" => &self.session.cwd,
                cwd => cwd,
            },
            is_strict: !execution.requested_cwd.is_empty(),
            input: self.reads_input(execution),
            request,
        };
        let script = match self.has_terminal() {
            true => errand.terminal_script(),
            false => errand.script(&crate::random::hex_128())?,
        };
        Ok(Encoded {
            message: GO.to_vec(),
            file: Some(script),
        })
    }

    /// Whether callers may write to a command.
    fn reads_input(&self, execution: &Execution) -> bool {
        let fits = execution.command.len() <= crate::driver::PLAIN_BYTES_MAX;
        fits && matches!(self.session.background, Some(Stdin::Open | Stdin::Terminal))
    }

    async fn launch_relay(
        &mut self,
        execution: &Execution,
        elsewhere: &Elsewhere,
    ) -> Result<(Launched, Ends), StartError> {
        let (out, child_out) = pipes::plain()?;
        let (err, child_err) = pipes::plain()?;
        let (channel, child_channel) = shell::channel()?;
        let mut child_fds = vec![(0, child_channel), (1, child_out), (2, child_err)];
        let mut ends = Ends {
            pair: (out, err),
            channel,
            stdin: None,
        };
        let mut options = Vec::new();
        if self.reads_input(execution) {
            let (child_stdin, ours) = pipes::stdin()?;
            child_fds.push((INPUT_FD, child_stdin));
            ends.stdin = Some(ours);
            options.push("--input".into());
        }
        let log = self.ssh_log(execution);
        let shared = self.context.shared_socket(&elsewhere.name);
        let ssh = &self.context.settings.hosts.ssh;
        let way = ssh.command(&elsewhere.address, &log, shared.as_deref());
        let plan = self.relay_plan(execution, log, &options, way);
        let id = execution.shell_id;
        let launched = self.launch_child(id, plan, child_fds, &ends).await?;
        Ok((launched, ends))
    }

    /// The file in which `ssh` leaves its words.
    pub(super) fn ssh_log(&self, execution: &Execution) -> PathBuf {
        self.room.dir.join(format!("l{}", execution.shell_id))
    }

    /// How a relay is started: with these options, and with the words of its ways.
    pub(super) fn relay_plan(
        &self,
        execution: &Execution,
        log: PathBuf,
        options: &[OsString],
        ways: impl IntoIterator<Item = OsString>,
    ) -> LaunchPlan {
        let relay = &self.context.settings.hosts.relay;
        let number = execution.shell_id.to_string();
        let mut argv: Vec<OsString> = vec![relay.clone().into()];
        argv.extend(["relay".into(), "--number".into(), number.into()]);
        argv.extend(["--dir".into(), self.room.dir.clone().into()]);
        argv.extend(["--log".into(), log.into()]);
        argv.extend_from_slice(options);
        argv.push("--".into());
        argv.extend(ways);
        LaunchPlan {
            program: relay.clone().into_os_string().into_vec(),
            argv: argv.into_iter().map(OsString::into_vec).collect(),
            env: self.context.ssh_env(),
            cwd: b"/".to_vec(),
            cgroup: String::new(),
            resources: glass_model::Resources::default(),
            takes_terminal: false,
            walls: None,
        }
    }

    /// What follows from the end of a relay: only what it left behind counts.
    pub(super) fn relay_ended(&mut self) -> Input {
        let Some(running) = &self.running else {
            return Input::LineExited(WaitStatus::Unknown);
        };
        let number = u64::from(running.shell_id.0);
        let path = self.room.dir.join(end_name(number));
        let end = read_end(&path);
        let host = self.session.host.clone();
        match end {
            Some(End::Exited(code)) => Input::LineExited(WaitStatus::Exited(code)),
            Some(End::NotBegun(why)) => {
                Input::CannotRun(format!("it did not run on '{host}': {}", hinted(&why)))
            }
            Some(End::Lost(why)) => {
                let text = format!(
                    "the connection to '{host}' was lost, and how the command ended is not known: {why}"
                );
                self.remark("lost", text);
                Input::LineExited(WaitStatus::Unknown)
            }
            Some(End::Stopped(_)) => Input::LineExited(WaitStatus::Unknown),
            None => {
                let text = format!(
                    "what carried the command to '{host}' is gone, and how the command ended is not known"
                );
                self.remark("lost", text);
                Input::LineExited(WaitStatus::Unknown)
            }
        }
    }

    /// Removes what a relay has left, once its end is known to everybody.
    pub(super) fn forget_relay(&self, id: ShellId) {
        let number = u64::from(id.0);
        let log = format!("l{number}");
        for name in [log, end_name(number), crate::driver::command_name(number)] {
            // Most of them are not there.
            drop(std::fs::remove_file(self.room.dir.join(name)));
        }
    }

    /// What is to be done before the relay of the current command is ended.
    pub(super) fn stopping(&self) -> Option<Stopping> {
        let running = self.running.as_ref()?;
        let channel = running.relay.as_ref()?;
        let number = u64::from(running.shell_id.0);
        Some(Stopping {
            channel: channel.try_clone().ok()?,
            relay: running.launched.clone(),
            end: self.room.dir.join(end_name(number)),
            host: self.session.host.clone(),
        })
    }
}

impl Stopping {
    /// Has the other host end the command, and waits for its word. Says what may be
    /// left there.
    pub(super) fn stop(self) -> Option<String> {
        let asked = shell::send_whole(&self.channel, CANCEL);
        let until = Instant::now() + Duration::from_millis(STOP_MS_MAX + LEAVE_MS_MAX);
        while asked.is_ok() && self.relay.child.is_alive() && Instant::now() < until {
            std::thread::sleep(STOP_LOOK);
        }
        match read_end(&self.end) {
            Some(End::Stopped(Some(0)) | End::Exited(_) | End::NotBegun(_)) => None,
            Some(End::Stopped(Some(left))) => Some(format!(
                "{left} processes of the command are left on '{}'",
                self.host
            )),
            _ => Some(format!(
                "'{}' did not say whether the command has ended there",
                self.host
            )),
        }
    }
}

fn read_end(path: &Path) -> Option<End> {
    let text = read_left(path, END_BYTES_MAX).ok()?;
    End::decode(std::str::from_utf8(&text).ok()?)
}

/// What a person can do about it, where that is known.
fn hinted(why: &str) -> String {
    let hint = if why.contains("has changed and you have requested") {
        "the host has another key than it had: find out why before you remove the old one with \
         `ssh-keygen -R`"
    } else if why.contains("Host key verification failed") {
        "connect once with `ssh` and compare the host's key, so that it is known"
    } else if why.contains("Permission denied") {
        "commands are run without a person, so a key that needs none must let us in; a session \
         in mode pty asks for passwords"
    } else if why.starts_with(NO_SHELL) {
        "its server may be told to run one program alone (`ForceCommand`, `command=` before our \
         key), or the account has no shell"
    } else if why.starts_with("the host has no ") {
        "set `shell` of that host in the configuration, or give --shell"
    } else {
        return why.to_owned();
    };
    format!("{why}\nhint: {hint}")
}

impl Context {
    /// The environment of `ssh`: nothing of it comes from a caller.
    pub(crate) fn ssh_env(&self) -> Vec<Vec<u8>> {
        let base = self.settings.base_env.iter();
        let ours = base.filter(|entry| is_for_ssh(variable_name(entry)));
        let mut env: Vec<Vec<u8>> = ours.cloned().collect();
        env.push(b"SSH_ASKPASS_REQUIRE=never".to_vec());
        env
    }
}
