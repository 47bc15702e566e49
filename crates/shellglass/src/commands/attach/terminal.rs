//! The terminal that we were started in: its keys come to us one by one while
//! we have it, and it is given back as it was, whatever ends us but SIGKILL.

use crate::error::{Failure, Kind};
use rustix::termios::{OptionalActions, Termios};
use std::io::{IsTerminal as _, Read as _};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// Keys that wait to be sent; who types more waits.
const TYPED_MAX: usize = 16;

/// Bytes that one look at the keyboard takes.
const TYPED_BYTES_MAX: usize = 4096;

const SIGHUP: u8 = 1;
const SIGINT: u8 = 2;
const SIGQUIT: u8 = 3;
const SIGTERM: u8 = 15;

/// What comes from the person, or from who supervises them.
pub(in crate::commands) enum Heard {
    /// Keys.
    Typed(Vec<u8>),
    /// The terminal has another size.
    Resized,
    /// This signal.
    Told(u8),
}

/// Whether keys are listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Keys {
    /// They are.
    Wanted,
    /// They wait: there is no room for more.
    Wait,
}

/// The terminal while it is ours.
pub(in crate::commands) struct Terminal {
    before: Option<Termios>,
    keys: mpsc::Receiver<Vec<u8>>,
    resized: Signal,
    hangup: Signal,
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
}

impl Terminal {
    /// Takes the terminal over; where standard input is none, only reads it.
    pub(in crate::commands) fn take_over() -> Result<Terminal, Failure> {
        let broken = |what: &str, error: std::io::Error| {
            Failure::new(Kind::Broken, format!("{what}: {error}"))
        };
        let listen =
            |kind| signal(kind).map_err(|error| broken("signals cannot be received", error));
        // Signals first: from the moment that keys come raw, we must be able to
        // give the terminal back.
        let resized = listen(SignalKind::window_change())?;
        let hangup = listen(SignalKind::hangup())?;
        let interrupt = listen(SignalKind::interrupt())?;
        let quit = listen(SignalKind::quit())?;
        let terminate = listen(SignalKind::terminate())?;
        restore_in_panic();
        let (sender, keys) = mpsc::channel(TYPED_MAX);
        let before = make_raw().map_err(|error| broken("the terminal cannot be used", error))?;
        let terminal = Terminal {
            before,
            keys,
            resized,
            hangup,
            interrupt,
            quit,
            terminate,
        };
        let thread = std::thread::Builder::new().name("keyboard".to_owned());
        thread
            .spawn(move || read_keys(&sender))
            .map_err(|error| broken("no thread can be started", error))?;
        Ok(terminal)
    }

    /// Waits for the next thing.
    pub(in crate::commands) async fn next(&mut self, keys: Keys) -> Heard {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => Heard::Told(SIGTERM),
            _ = self.hangup.recv() => Heard::Told(SIGHUP),
            _ = self.interrupt.recv() => Heard::Told(SIGINT),
            _ = self.quit.recv() => Heard::Told(SIGQUIT),
            _ = self.resized.recv() => Heard::Resized,
            Some(bytes) = self.keys.recv(), if keys == Keys::Wanted => Heard::Typed(bytes),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // At once: waiting for a terminal that takes nothing would keep us.
            // One that is gone needs nothing back.
            let _ = rustix::termios::tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// A panic is told on the screen that people see, and leaves a usable terminal:
/// what it says comes before our terminal is dropped.
fn restore_in_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let _ = crate::stdout::write(&super::modes::panic_reset());
            before(info);
        }));
    });
}

fn make_raw() -> std::io::Result<Option<Termios>> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Ok(None);
    }
    let before = rustix::termios::tcgetattr(&stdin)?;
    let mut raw = before.clone();
    raw.make_raw();
    rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &raw)?;
    Ok(Some(before))
}

/// Reads keys for as long as there are any. The thread ends with the process:
/// nothing else can end a read of a terminal.
fn read_keys(sender: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = [0; TYPED_BYTES_MAX];
    let mut stdin = std::io::stdin().lock();
    loop {
        match stdin.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Columns and rows of the terminal that shows us, where there is one.
pub(in crate::commands) fn size() -> Option<(u32, u32)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(std::io::stdin()))
        .ok()?;
    let size = (u32::from(size.ws_col), u32::from(size.ws_row));
    Some(size).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}
