//! Taking up a terminal that the last daemon left, with its screen.

use super::beliefs::{Beliefs, Doing};
use super::display::{Display, UNSAVED_BYTES_MAX};
use super::front::Front;
use super::sizing::Sizing;
use super::start::{Ready, size_of};
use super::walls::{Walls, plan_walls};
use super::{Insight, Parts, TERMINAL_LABEL};
use crate::actor::{Child, OutputEnd, launched};
use crate::context::Context;
use crate::recording::{Begun, Recording};
use crate::routes::Note;
use crate::sandbox::has_walls;
use crate::shell::WALLS_LABEL;
use crate::tag::Tag;
use glass_model::{EventIndex, Execution, Session, ShellKind, Stream};
use glass_sandbox::Workspace;
use glass_spawn::terminal;
use glass_vt::screen::ScreenSize;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Bytes that one look at the recording takes.
const REPLAY_BYTES: usize = 1 << 20;

/// What the last daemon left of a terminal.
pub(crate) struct Adoption {
    pub(crate) session: Session,
    pub(crate) execution: Execution,
    /// The command that ran in front of it.
    pub(crate) front: Option<Execution>,
    pub(crate) child: Child,
    /// None where it is gone.
    pub(crate) workspace: Option<Arc<Workspace>>,
    pub(crate) next: EventIndex,
}

/// Takes up a shell that outlived the last daemon, with its screen.
pub(crate) async fn adopt(context: &Arc<Context>, adoption: Adoption) -> Result<Ready, String> {
    let Adoption {
        session,
        execution,
        front,
        mut child,
        workspace,
        next,
    } = adoption;
    let said = |error: &dyn std::error::Error| error.to_string();
    let master = child.fds.remove(TERMINAL_LABEL);
    let master = master.ok_or_else(|| "the keeper lost its terminal".to_owned())?;
    let store = &context.store;
    let recorded = store
        .recorded(execution.shell_id)
        .map_err(|error| said(&error))?;
    let named = OutputEnd {
        stdout: recorded.stdout,
        stderr: recorded.stderr,
        position: recorded.position,
    };
    let quota = context.settings.limits.execution_output_bytes_max;
    let id = execution.shell_id;
    let recording = Recording::of_terminal(store, id, named, Begun::Before).within(quota);
    let mut display = rebuild(context, &session, &recording)?;
    // The kernel knows which size the programs were told.
    let size =
        rustix::termios::tcgetwinsize(&master).map_or(size_of(&session), |size| ScreenSize {
            columns: size.ws_col,
            rows: size.ws_row,
        });
    let size = size.clamped();
    display.resize(size);
    let insight = insight(context, session.shell.kind, &child, &master, front)?;
    let walls = match (has_walls(&execution.sandbox), &workspace) {
        (false, _) => None,
        (true, None) => return Err("its workspace is gone".to_owned()),
        (true, Some(workspace)) => {
            let policy = &execution.sandbox;
            let enclosure = plan_walls(context, &session, policy, workspace).await?;
            let mut walls = Walls::new(enclosure, child.fds.remove(WALLS_LABEL));
            // Which of the masks still stand, nobody knows.
            walls.cover_all().inspect_err(|_| walls.release(context))?;
            Some(walls)
        }
    };
    let (note_sender, notes) = mpsc::unbounded_channel();
    context.routes.add(child.info.id, note_sender.clone());
    if let Some(status) = child.info.status {
        // The receiver is right here.
        drop(note_sender.send(Note::Exited(child.info.id, status, None)));
    }
    // What the last daemon offered, nobody answers for.
    let room = context.session_dir(&session).join(super::integration::ROOM);
    drop(std::fs::remove_file(room.join("next")));
    let ours = session.env.clone();
    Ok(Ready {
        parts: Parts {
            context: context.clone(),
            session,
            execution,
            launched: launched(&child.info),
            master,
            recording,
            display,
            sizing: Sizing::new(size),
            walls,
            insight,
            workspace,
            // What of it is ours is not known any more, so all of it may be.
            ours,
            habits: context.settings.habits,
            next,
            notes,
            note_sender,
        },
    })
}

/// What the shell told the last daemon, and what the kernel says to that: one
/// that reads keys is at its prompt, unless a command was not told to have ended.
fn insight(
    context: &Context,
    kind: ShellKind,
    child: &Child,
    master: &OwnedFd,
    front: Option<Execution>,
) -> Result<Insight, String> {
    let Tag::Pty {
        nonce: Some(nonce), ..
    } = &child.tag
    else {
        return Ok(Insight {
            integration: "none: this shell does not mark its commands".to_owned(),
            ..Insight::default()
        });
    };
    let doing = match (terminal::reads_keys(master, child.info.child.pid), &front) {
        // Its end may be on its way, and is not to be overheard.
        (_, Some(_)) => Doing::Running,
        (true, None) => Doing::Prompting,
        (false, None) => Doing::Starting,
    };
    let front = front.map(|execution| {
        let recorded = context.store.recorded(execution.shell_id);
        let recorded = recorded.map_err(|error| error.to_string())?;
        let named = OutputEnd {
            stdout: recorded.stdout,
            stderr: recorded.stderr,
            position: recorded.position,
        };
        let id = execution.shell_id;
        let recording = Recording::of_terminal(&context.store, id, named, Begun::Before);
        Ok::<Front, String>(Front::adopted(execution, recording, kind))
    });
    Ok(Insight {
        nonce: Some(nonce.clone()),
        beliefs: Beliefs::adopted(doing),
        front: front.transpose()?,
        integration: "rich: the shell marks its commands".to_owned(),
    })
}

/// The screen that the recording comes to: from where it was saved last, or from
/// a little before its end.
fn rebuild(context: &Context, session: &Session, recording: &Recording) -> Result<Display, String> {
    let dir = context.session_dir(session);
    let (mut display, shown) = Display::load(size_of(session), &dir);
    let end = recording.recorded_bytes();
    let mut at = shown.max(end.saturating_sub(UNSAVED_BYTES_MAX)).min(end);
    while at < end {
        let id = recording.shell_id();
        let bytes = context
            .store
            .read_output(id, Stream::Stdout, at, REPLAY_BYTES)
            .map_err(|error| error.to_string())?;
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
        display.replay(&bytes);
    }
    Ok(display)
}
