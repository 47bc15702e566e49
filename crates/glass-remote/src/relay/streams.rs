//! What comes in: the two streams of `ssh`, and the words of whoever holds us.

use super::{CANCEL, INTERRUPT};
use crate::sieve::{Piece, Sieve, Word};
use std::io::{self, Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// Most that is kept of what came before the first word, in bytes.
const BEFORE_BYTES_MAX: usize = 1024;

/// Events that may wait to be attended to; whoever has more to say waits.
const EVENTS_MAX: usize = 16;

/// A stream of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Out = 0,
    Err = 1,
}

/// Where events come from and go to.
pub(super) fn channel() -> (SyncSender<Event>, Receiver<Event>) {
    sync_channel(EVENTS_MAX)
}

/// What happened.
#[derive(Debug)]
pub(super) enum Event {
    /// The other side said something.
    Said(Which, Word),
    /// A stream has ended; with the last of what came where no word ever did.
    Closed(Which, Vec<u8>),
    /// The command is to stop.
    Cancel,
    /// It is to be interrupted.
    Interrupt,
    /// Something was written to it: a line for the other side.
    Input(Vec<u8>),
}

/// Begins to pass on what `ssh` writes, and tells of what is said.
pub(super) fn listen(
    ssh: &mut Child,
    secret: &str,
    (events, receiver): (SyncSender<Event>, Receiver<Event>),
) -> io::Result<Receiver<Event>> {
    let out = ssh.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let err = ssh.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (sieve, control) = (Sieve::new(secret), events.clone());
    let (for_out, for_err) = ((sieve.clone(), events.clone()), (sieve, events));
    thread::spawn(move || pass(Which::Out, out, io::stdout(), for_out));
    thread::spawn(move || pass(Which::Err, err, io::stderr(), for_err));
    thread::spawn(move || obey(&control));
    Ok(receiver)
}

/// Passes a stream on between the first word and the last.
fn pass(
    which: Which,
    mut from: impl Read,
    mut to: impl Write,
    (mut sieve, events): (Sieve, SyncSender<Event>),
) {
    let mut buffer = vec![0; READ_BYTES];
    let (mut begun, mut over) = (false, false);
    let mut before = Vec::new();
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        for piece in sieve.push(&buffer[..count]) {
            match piece {
                Piece::Bytes(bytes) if begun && !over => write(&mut to, &bytes),
                // Something that the command left behind wrote it.
                Piece::Bytes(_) if over => {}
                // Start files printed it, or what the host runs in the place of a shell.
                Piece::Bytes(bytes) => keep_last(&mut before, &bytes),
                Piece::Said(word) => {
                    begun = true;
                    before.clear();
                    over |= matches!(word, Word::End | Word::Exit(_));
                    if events.send(Event::Said(which, word)).is_err() {
                        return;
                    }
                }
            }
        }
    }
    let rest = sieve.finish();
    match (begun, over) {
        (true, false) => write(&mut to, &rest),
        (true, true) => {}
        (false, _) => keep_last(&mut before, &rest),
    }
    // Whoever attended may have left.
    drop(events.send(Event::Closed(which, before)));
}

/// Adds to what is kept, and forgets the oldest of it.
fn keep_last(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    let surplus = kept.len().saturating_sub(BEFORE_BYTES_MAX);
    kept.drain(..surplus);
}

/// The keeper holds the other ends: whoever does not read makes us wait.
fn write(to: &mut impl Write, bytes: &[u8]) {
    drop(to.write_all(bytes).and_then(|()| to.flush()));
}

/// Hears the words of whoever holds us.
fn obey(events: &SyncSender<Event>) {
    let mut word = [0; 1];
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut word) {
            Ok(0) => return,
            Ok(_) if word == *CANCEL || word == *INTERRUPT => {
                let event = match word == *CANCEL {
                    true => Event::Cancel,
                    false => Event::Interrupt,
                };
                if events.send(event).is_err() {
                    return;
                }
            }
            // A daemon that took over says again that we may go.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
