//! What callers write to a background command.

use super::Actor;
use crate::keys::{Key, first_key};
use crate::shell::{self, STDIN_LABEL};
use glass_model::{ShellId, Stdin};
use glass_remote::INTERRUPT;
use glass_spawn::tree;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use tokio::sync::oneshot;

/// Something typed for an execution.
pub(crate) struct Typed {
    pub(crate) shell_id: ShellId,
    pub(crate) bytes: Vec<u8>,
    pub(crate) reply: oneshot::Sender<Result<Taken, NotTaken>>,
}

/// How much of it the command has been given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Of what was typed, from its beginning.
    pub(crate) bytes: usize,
    /// What the command had written before.
    pub(crate) output_before: u64,
}

/// Why a command is given nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// It waits for its turn, or for somebody's word.
    NotBegun,
    /// It does not run any more, or never did here.
    Over,
    /// It was started without.
    Refused,
    /// Its standard input has ended, or it reads none any more.
    Ended,
    /// The keeper does not let go of its end.
    Kept,
}

impl Actor {
    pub(super) async fn take_typed(&mut self, typed: Typed) {
        let Typed {
            shell_id,
            bytes,
            reply,
        } = typed;
        let taken = self.give(shell_id, &bytes).await;
        // Whoever typed may have left.
        let _ = reply.send(taken);
    }

    /// Gives a command as much as it takes now.
    async fn give(&mut self, id: ShellId, typed: &[u8]) -> Result<Taken, NotTaken> {
        let runs = self.running.as_ref().is_some_and(|run| run.shell_id == id);
        if !runs {
            return Err(match self.accepted.contains_key(&id) {
                true => NotTaken::NotBegun,
                false => NotTaken::Over,
            });
        }
        if !matches!(self.session.background, Some(Stdin::Open | Stdin::Terminal)) {
            return Err(NotTaken::Refused);
        }
        // What it has written until now has events, so that the place can be
        // read from.
        self.on_output().await;
        self.flush();
        let output_before = self
            .running
            .as_ref()
            .map_or(0, |run| run.recording.end().position);
        if self.has_terminal() {
            // Every key is the terminal's, which knows what they mean.
            let stdin = self.running.as_ref().and_then(|run| run.stdin.as_ref());
            let bytes = write_some(stdin.ok_or(NotTaken::Ended)?, typed)?;
            return Ok(Taken {
                bytes,
                output_before,
            });
        }
        let mut bytes = 0;
        while let Some(key) = first_key(&typed[bytes..]) {
            let given = self.press(key).await;
            match given {
                Ok(given) => bytes += given,
                // What went before is told first.
                Err(_) if bytes > 0 => break,
                Err(error) => return Err(error),
            }
            if given != Ok(key.bytes()) {
                break;
            }
        }
        Ok(Taken {
            bytes,
            output_before,
        })
    }

    /// Gives the command one key, and says how many bytes of it were taken.
    async fn press(&mut self, key: Key<'_>) -> Result<usize, NotTaken> {
        let Some(running) = &mut self.running else {
            return Err(NotTaken::Over);
        };
        match key {
            Key::Text(text) => match &running.stdin {
                Some(stdin) => write_some(stdin, text),
                None => Err(NotTaken::Ended),
            },
            Key::Interrupt if running.relay.is_some() => {
                let relay = running.relay.as_ref();
                let asked = relay.map(|relay| shell::send_whole(relay, INTERRUPT));
                // One that is gone needs no signal.
                drop(asked);
                Ok(key.bytes())
            }
            Key::Interrupt => {
                let launched = running.launched.clone();
                let interrupted = tokio::task::spawn_blocking(move || {
                    tree::interrupt(&launched.reaper, launched.init.as_ref())
                });
                // One that is gone needs no signal.
                drop(interrupted.await);
                Ok(key.bytes())
            }
            Key::End => {
                let launch = running.launched.id;
                if running.stdin.take().is_none() {
                    return Err(NotTaken::Ended);
                }
                // It ends only when nobody holds the other end.
                let labels = vec![STDIN_LABEL.to_owned()];
                match self.context.keeper.unhold(launch, labels).await {
                    Ok(()) => Ok(key.bytes()),
                    Err(error) => {
                        tracing::error!(%error, "standard input could not be closed");
                        Err(NotTaken::Kept)
                    }
                }
            }
        }
    }
}

/// Writes as much as there is room for.
fn write_some(stdin: &OwnedFd, text: &[u8]) -> Result<usize, NotTaken> {
    loop {
        return match rustix::io::write(stdin, text) {
            Ok(written) => Ok(written),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => Ok(0),
            Err(_) => Err(NotTaken::Ended),
        };
    }
}
