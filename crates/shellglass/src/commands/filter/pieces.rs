//! Standard input, piece by piece.

use crate::error::{Failure, Kind};
use crate::stdout::Reader;
use std::io::{self, ErrorKind, Read as _};

/// Bytes read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Hands every piece of standard input to `use_piece` until the input ends or
/// nobody reads what comes of it.
pub(super) fn each(
    mut use_piece: impl FnMut(&[u8]) -> Result<Reader, Failure>,
) -> Result<(), Failure> {
    let mut input = io::stdin().lock();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match input.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(bytes) => {
                if use_piece(&piece[..bytes])? == Reader::Gone {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("standard input cannot be read: {error}");
                return Err(Failure::new(Kind::Broken, message));
            }
        }
    }
}
