//! What callers write to a command on another host: from our descriptor, in lines that
//! any shell can read, one at a time.
//!
//! Invariant: at most one piece is under way. The next is read when the other side has
//! said that the command's pipe took the last: so whoever writes waits as long as the
//! command does not read, and a cancel never stands behind what nobody reads.

use super::streams::Event;
use std::fs::File;
use std::io::{self, Read as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Where the input is read from.
pub const INPUT_FD: i32 = 3;

/// Bytes of one piece.
const PIECE_BYTES: usize = 2048;

/// What ends the command's input, as a line.
const END: &[u8] = b"e\n";

/// What interrupts the command, as a line.
pub(super) const INTERRUPT_LINE: &[u8] = b"k\n";

/// Begins to read; each word sent to what is given back lets one piece pass.
pub(super) fn feed(events: SyncSender<Event>) -> io::Result<SyncSender<()>> {
    // A second way to the same pipe, which needs no trust in a number.
    let input = File::open(format!("/proc/self/fd/{INPUT_FD}"))?;
    let (grant, grants) = sync_channel(1);
    thread::spawn(move || pass(input, &grants, &events));
    Ok(grant)
}

fn pass(mut input: File, grants: &Receiver<()>, events: &SyncSender<Event>) {
    let mut piece = [0; PIECE_BYTES];
    while grants.recv().is_ok() {
        let count = loop {
            match input.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // An input that cannot be read has ended.
                read => break read.unwrap_or(0),
            }
        };
        let line = line(&piece[..count]);
        if events.send(Event::Input(line)).is_err() || count == 0 {
            return;
        }
    }
}

/// A piece as a line; no bytes are the end.
fn line(piece: &[u8]) -> Vec<u8> {
    if piece.is_empty() {
        return END.to_vec();
    }
    let mut line = vec![b'i'];
    for &byte in piece {
        match byte {
            b' '..=b'~' if byte != b'\\' => line.push(byte),
            _ => line.extend(format!("\\0{byte:03o}").bytes()),
        }
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES, line};
    use proptest::prelude::*;

    #[test]
    fn a_piece_is_one_line_of_plain_characters() {
        assert_eq!(line(b"a b\n"), b"ia b\\0012\n");
        assert_eq!(line(b"\\n%"), b"i\\0134n%\n");
        assert_eq!(line(b"\x007\xff"), b"i\\00007\\0377\n");
        assert_eq!(line(b""), b"e\n");
    }

    proptest! {
        #[test]
        fn any_shell_writes_what_was_read(
            bytes in prop::collection::vec(any::<u8>(), 1..PIECE_BYTES)
        ) {
            let text = line(&bytes);
            prop_assert!(text[..text.len() - 1].iter().all(|byte| (b' '..=b'~').contains(byte)));
            let mut read = Vec::new();
            let mut rest = text[1..text.len() - 1].iter();
            while let Some(&byte) = rest.next() {
                if byte != b'\\' {
                    read.push(byte);
                    continue;
                }
                let digits: Vec<u8> = rest.by_ref().take(4).copied().collect();
                prop_assert_eq!(digits[0], b'0');
                let digits = String::from_utf8(digits).expect("digits");
                read.push(u8::from_str_radix(&digits, 8).expect("a byte"));
            }
            prop_assert_eq!(read, bytes);
        }
    }
}
