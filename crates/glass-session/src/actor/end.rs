//! Ending processes, and what is left of a shell when it has ended.

use super::begin::tool_call_id;
use super::remote::Stopping;
use super::{Actor, Aftermath, absolute};
use crate::context::{read_left, variable_name};
use crate::driver::{self, EXIT_STATE_NAME, State, Wanted};
use crate::routes::Note;
use crate::state::{Input, Way};
use glass_model::{AbortReason, EventBody, LaunchId, ShellId, ShellKind};
use glass_spawn::Launched;
use glass_spawn::tree::{self, Manner, Scope, Tag, TreeEnd};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The variable by which a process can be told to belong to an execution.
const TAG_VARIABLE: &str = "SHELLGLASS_TOOL_CALL_ID";

/// Time for a session's processes to leave when it is disposed of.
const DISPOSE_GRACE_MS: u64 = 100;

/// How long the kernel may take to end what it was told to kill.
const END_DEADLINE: Duration = Duration::from_secs(20);

/// The most that a shell's state may have; the kernel gives a process no larger
/// environment.
const STATE_BYTES_MAX: u64 = 8 << 20;

/// Bytes of what start files printed that are shown in an event.
const STARTUP_SHOWN_BYTES_MAX: usize = 4096;

impl Actor {
    /// Ends what a command has started, and nothing that was there before it;
    /// a warm shell ends with it, because it would run the command's next word.
    pub(super) fn end_command(&mut self, id: ShellId, way: Way) -> Option<Input> {
        self.note_abort(id);
        let Some(running) = &self.running else {
            return Some(Input::TreeEnded);
        };
        let tag = self.accepted.get(&id).map(tool_call_id).unwrap_or_default();
        let scope = match way {
            Way::Line => Scope::Everything,
            Way::Warm => Scope::Since {
                ticks: running.since_ticks,
                tag: Tag {
                    name: TAG_VARIABLE.to_owned(),
                    value: tag,
                },
                spare_child: false,
            },
        };
        if way == Way::Warm {
            self.room.shell_killed = true;
        }
        let grace = Duration::from_millis(u64::from(self.context.settings.limits.cancel_grace_ms));
        let trees = vec![tree_end(
            &running.launched,
            scope,
            Manner::Interrupt { grace },
            self.shell_file(),
        )];
        self.end_in_background(self.stopping(), trees, Some(self.note_sender.clone()));
        None
    }

    /// Writes down why a command is about to be ended: should we die meanwhile, what
    /// the kernel says of its end is not how it ended.
    fn note_abort(&mut self, id: ShellId) {
        let Some(reason) = self.state.aborting() else {
            return;
        };
        let path = self.dir.join(aborted_name(id));
        // A session for one command may have had no need of a directory so far.
        let noted = crate::context::make_private(&self.dir)
            .and_then(|()| std::fs::write(path, abort_word(reason)));
        if let Err(error) = noted {
            tracing::error!(%error, "it is not on disk why a command is ended");
        }
        self.abort_noted = Some(id);
    }

    /// Why the last daemon was about to end a command, if it was.
    pub(super) fn noted_abort(&self, id: ShellId) -> Option<AbortReason> {
        let noted = std::fs::read(self.dir.join(aborted_name(id))).ok()?;
        let reasons = [AbortReason::User, AbortReason::Timeout];
        reasons
            .into_iter()
            .find(|reason| abort_word(*reason).as_bytes() == noted)
    }

    /// An execution has ended: nobody asks any more why it was to.
    pub(super) fn forget_abort(&mut self, id: ShellId) {
        if self.abort_noted.take_if(|noted| *noted == id).is_some() {
            drop(std::fs::remove_file(self.dir.join(aborted_name(id))));
        }
    }

    /// Ends everything that the session has ever started.
    pub(super) fn end_session(&mut self) -> Option<Input> {
        let grace = Duration::from_millis(DISPOSE_GRACE_MS);
        let trees = self
            .launches
            .all()
            .iter()
            .map(|launched| {
                let manner = Manner::Terminate { grace };
                tree_end(launched, Scope::Everything, manner, self.shell_file())
            })
            .collect();
        self.end_in_background(self.stopping(), trees, Some(self.note_sender.clone()));
        None
    }

    /// The file of the session's shell. One that we do not drive may be a script
    /// whose interpreter is the process, so that its file tells nothing.
    fn shell_file(&self) -> Option<PathBuf> {
        let shell = &self.session.shell;
        (shell.kind != ShellKind::Other).then(|| PathBuf::from(&shell.path))
    }

    fn end_in_background(
        &self,
        stopping: Option<Stopping>,
        trees: Vec<TreeEnd>,
        tell: Option<tokio::sync::mpsc::UnboundedSender<Note>>,
    ) {
        tokio::task::spawn_blocking(move || {
            // What runs elsewhere is ended first: its relay is the way to it.
            let mut left = stopping.and_then(Stopping::stop);
            for tree in &trees {
                if let Err(error) = tree::end(tree) {
                    left = Some(error.to_string());
                }
            }
            if let Some(tell) = tell {
                // A session that is gone needs no news.
                drop(tell.send(Note::TreeEnded(left)));
            }
        });
    }

    /// Ends a shell that cannot be used; its exit is heard of later.
    pub(super) fn kill_shell(&mut self) {
        let Some(shell) = &self.room.shell else {
            return;
        };
        self.room.shell_killed = true;
        let tree = tree_end(&shell.launched, Scope::Everything, Manner::Kill, None);
        self.end_in_background(None, vec![tree], None);
    }

    /// Ends a child that has no task.
    pub(super) fn end_unneeded(&self, launched: Launched) {
        let tree = tree_end(&launched, Scope::Everything, Manner::Kill, None);
        self.end_in_background(None, vec![tree], None);
    }

    /// Lets go of the shell. Says whether its end was our doing.
    pub(super) fn retire_shell(&mut self) -> bool {
        self.room.shell = None;
        self.room.exports_asked = false;
        self.snapshot_at = None;
        std::mem::take(&mut self.room.shell_killed)
    }

    /// The shell reads commands: its start files are behind it.
    pub(super) fn shell_is_ready(&mut self) {
        let Some(shell) = &mut self.room.shell else {
            return;
        };
        shell.ready_by = None;
        shell.meter = Some(tree::Meter::new(&shell.launched));
        let mut printed = shell.startup_output();
        printed.truncate(STARTUP_SHOWN_BYTES_MAX);
        if !printed.is_empty() {
            let text = String::from_utf8_lossy(&printed).into_owned();
            self.remark("startup", format!("the start files printed: {text}"));
        }
        self.snapshot_at = Some(Instant::now() + Duration::from_millis(super::SNAPSHOT_AFTER_MS));
    }

    /// Asks an idle shell what it exports.
    pub(super) fn ask_for_snapshot(&mut self) {
        if self.state.is_idle() {
            self.ask_whether_ready();
        }
    }

    /// Asks a shell what it exports; that it answers says that it is ready.
    pub(super) fn ask_whether_ready(&mut self) {
        self.room.exports_unsure = false;
        self.room.exports_asked = self.room.shell.is_some();
        if let Some(shell) = &self.room.shell {
            let seq = u64::from(self.context.store.next_shell_id().0);
            let wanted = match shell.exports_known {
                true => Wanted::Changed,
                false => Wanted::Whole,
            };
            let message = driver::encode_snapshot(self.session.shell.kind, seq, wanted);
            if let Err(error) = shell.send(&message) {
                tracing::debug!(%error, "the shell could not be asked what it exports");
            }
        }
    }

    pub(super) fn keep_snapshot(&mut self, seq: u64) {
        self.room.exports_asked = false;
        let name = driver::state_name(seq);
        let was_known = self.room.shell.as_ref().is_some_and(|it| it.exports_known);
        // There is none where it is the same.
        let is_same = was_known && !self.room.dir.join(&name).exists();
        let is_known = is_same || self.keep_state(&name, &[]);
        if let Some(shell) = &mut self.room.shell {
            shell.exports_known = is_known;
        }
    }

    /// What a shell that ended by itself left.
    pub(super) fn keep_exit_state(&mut self) {
        self.keep_state(EXIT_STATE_NAME, &self.lent_variables());
    }

    /// What the shell of one command left.
    pub(super) fn keep_line_state(&mut self) {
        if let Some(running) = &self.running {
            let name = driver::state_name(u64::from(running.shell_id.0));
            self.keep_state(&name, &self.lent_variables());
        }
    }

    /// The variables that the command which runs has for itself alone.
    fn lent_variables(&self) -> Vec<String> {
        let running = self.running.as_ref();
        let execution = running.and_then(|running| self.accepted.get(&running.shell_id));
        let env = execution.map(|execution| self.trust.env_of(execution));
        let names = env.iter().flat_map(|env| env.iter());
        names.map(|(name, _)| name.clone()).collect()
    }

    /// Takes over what a shell exports, but for the variables that were lent to
    /// its command: those are as they were before. False where that cannot be read.
    fn keep_state(&mut self, name: &str, lent: &[String]) -> bool {
        let path = self.room.dir.join(name);
        let Ok(bytes) = read_left(&path, STATE_BYTES_MAX) else {
            return false;
        };
        drop(std::fs::remove_file(&path));
        let Some(State { cwd, env }) = driver::parse_state(&bytes) else {
            return false;
        };
        if self.state.current().is_some() {
            self.reported_cwd = absolute(&cwd);
        }
        let is_lent = |entry: &[u8]| {
            let name = variable_name(entry);
            lent.iter().any(|lent| lent.as_bytes() == name)
        };
        let known = self.room_env();
        let before = known.iter().filter(|entry| is_lent(entry));
        let env: Vec<Vec<u8>> = env
            .into_iter()
            .filter(|entry| outlives_a_shell(entry) && !is_lent(entry))
            .chain(before.cloned())
            .collect();
        self.keep_env(env);
        true
    }

    /// Lets the keeper forget children that have ended and whose pipes nobody
    /// holds. While their end is not in the journal, the keeper must know it.
    pub(super) fn forget_unused(&mut self) {
        if !self.backlog.is_empty() {
            return;
        }
        let warm = self.warm_launches();
        let running = self.running.as_ref().map(|running| running.launched.id);
        let tails: Vec<LaunchId> = self.tails.iter().map(|tail| tail.launch).collect();
        let unused = self
            .launches
            .take_unused(|id| warm.contains(&id) || Some(id) == running || tails.contains(&id));
        self.forget(unused, Vec::new());
    }

    /// Lets the keeper forget children, and then answers whoever waits for it.
    fn forget(&self, launches: Vec<LaunchId>, waiting: Vec<oneshot::Sender<()>>) {
        if launches.is_empty() && waiting.is_empty() {
            return;
        }
        let context = self.context.clone();
        tokio::spawn(async move {
            for id in launches {
                crate::failpoint::hit("forgetting");
                if context.keeper.forget(id).await.is_err() {
                    // A keeper that is gone remembers nothing.
                    break;
                }
            }
            for reply in waiting {
                // Whoever asked may have left.
                let _ = reply.send(());
            }
        });
    }

    /// The session is over: nothing of it is left but its history.
    pub(super) fn close(&mut self) -> Option<Input> {
        self.room.shell = None;
        let rooms = std::iter::once(&mut self.room).chain(&mut self.parked);
        let walls: Vec<_> = rooms.map(|room| room.enclosure.take()).collect();
        for enclosure in walls {
            self.release(enclosure);
        }
        self.parked.clear();
        self.settle_tails();
        self.flush();
        self.tails.clear();
        let event = self.event(None, EventBody::Disposed);
        self.session.disposed_ms = Some(event.at_ms);
        let changes = vec![self.recorded(&event), self.session_change(None)];
        self.write(
            changes,
            Aftermath {
                events: vec![event],
                finished: None,
            },
        );
        if let Err(error) = std::fs::remove_dir_all(&self.dir)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, dir = %self.dir.display(), "a session's directory stays");
        }
        self.context.remove_page(&self.session);
        self.show();
        self.feed.close();
        // A keeper that still held something of ours would wait for a daemon to
        // claim it, long after the last one has stopped.
        let launches = self.launches.take_all();
        let disposals = std::mem::take(&mut self.disposals);
        self.forget(launches, disposals);
        self.over = true;
        None
    }
}

/// The file that says why a command is being ended, in the session's directory.
fn aborted_name(id: ShellId) -> String {
    format!("aborted{id}")
}

fn abort_word(reason: AbortReason) -> &'static str {
    match reason {
        AbortReason::User => "user",
        AbortReason::Timeout => "timeout",
    }
}

/// How a child and what it started is ended.
pub(crate) fn tree_end(
    launched: &Launched,
    scope: Scope,
    manner: Manner,
    shell: Option<PathBuf>,
) -> TreeEnd {
    TreeEnd {
        reaper: launched.reaper,
        child: launched.child,
        init: launched.init,
        shell,
        cgroup: launched.cgroup.clone(),
        scope,
        manner,
        deadline: END_DEADLINE,
    }
}

/// Whether a variable says something about the session, and not about one
/// shell or one command.
fn outlives_a_shell(entry: &[u8]) -> bool {
    let name = variable_name(entry);
    !name.starts_with(b"SHELLGLASS") && !matches!(name, b"_" | b"SHLVL" | b"PWD")
}
