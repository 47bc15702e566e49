//! The keyboard of a command that has a terminal: ours, where we have one.

use crate::client::Client;
use crate::commands::attach::terminal::{Heard, Keys, Terminal};
use crate::error::Failure;
use glass_proto::agent::v1::WriteShellStdinArgs;
use glass_proto::shellglass::v1::ExecuteRequest;
use std::io::IsTerminal as _;

/// Our keyboard, while it is the command's.
#[derive(Default)]
pub(super) struct Keyboard {
    is_wanted: bool,
    terminal: Option<Terminal>,
    /// The beginning of a character.
    partial: Vec<u8>,
}

impl Keyboard {
    /// That of a command which wants one, where there is somebody to type.
    pub(super) fn of(request: &ExecuteRequest) -> Keyboard {
        let is_ours = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        Keyboard {
            is_wanted: request.tty && is_ours,
            ..Keyboard::default()
        }
    }

    /// Hands it over. It is given back when this is dropped.
    pub(super) fn take_over(&mut self) -> Result<(), Failure> {
        if self.is_wanted && self.terminal.is_none() {
            self.terminal = Some(Terminal::take_over()?);
        }
        Ok(())
    }

    /// Waits for keys.
    pub(super) async fn next(&mut self) -> Vec<u8> {
        loop {
            match &mut self.terminal {
                Some(terminal) => {
                    // Signals are heard elsewhere.
                    if let Heard::Typed(keys) = terminal.next(Keys::Wanted).await {
                        return keys;
                    }
                }
                None => std::future::pending().await,
            }
        }
    }

    /// Types. A command that has ended, or does not read, is not typed into.
    pub(super) async fn send(&mut self, client: &Client, shell_id: Option<u32>, keys: Vec<u8>) {
        let Some(shell_id) = shell_id else { return };
        self.partial.extend(keys);
        // A character may come in two pieces.
        let torn = glass_session::incomplete_suffix(&self.partial);
        let rest = self.partial.split_off(self.partial.len() - torn);
        let whole = std::mem::replace(&mut self.partial, rest);
        let args = WriteShellStdinArgs {
            shell_id,
            chars: String::from_utf8_lossy(&whole).into_owned(),
        };
        let _ = client.clone().write_stdin(args).await;
    }
}
