//! The file with an execution's whole output, for whoever was shown a part.
//!
//! It is the recorded file itself where that has one stream and no secret, and
//! else a copy that has both in order and no secrets.

use super::output::Piece;
use super::{Engine, OutputFile};
use crate::errors::LookupError;
use crate::redaction::Veil;
use glass_model::{ShellId, Stream};
use glass_redact::Redactor;
use glass_store::ReadError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Counts what a file has.
struct Counted<W> {
    inner: W,
    bytes: u64,
    lines: u64,
    last: u8,
}

impl<W: Write> Counted<W> {
    fn new(inner: W) -> Counted<W> {
        Counted {
            inner,
            bytes: 0,
            lines: 0,
            last: b'\n',
        }
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.last = *bytes.last().unwrap_or(&self.last);
        self.inner.write_all(bytes)
    }

    fn file(&self, path: &Path) -> OutputFile {
        OutputFile {
            path: path.to_path_buf(),
            bytes: self.bytes,
            lines: self.lines + u64::from(self.last != b'\n'),
        }
    }
}

/// What became of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Goes on to the end.
    End,
    /// Stops at the first secret.
    Secret,
}

impl Engine {
    pub(super) fn whole_file(
        &self,
        id: ShellId,
        veil: &Veil,
        pieces: &[Piece],
    ) -> Result<OutputFile, LookupError> {
        let store = &self.0.context.store;
        let copy = store.output_path(id, Stream::Stdout).with_extension("all");
        let failed = |source| ReadError::Io {
            path: copy.clone(),
            source,
        };
        let first = pieces.first().map_or(Stream::Stdout, |piece| piece.stream);
        if pieces.iter().all(|piece| piece.stream == first) {
            let mut counted = Counted::new(io::sink());
            let read = self.copy(id, veil, pieces, &mut counted, Until::Secret);
            if read.map_err(failed)? == 0 {
                return Ok(counted.file(&store.output_path(id, first)));
            }
        }
        let file = File::create(&copy).map_err(failed)?;
        let mut counted = Counted::new(BufWriter::new(file));
        self.copy(id, veil, pieces, &mut counted, Until::End)
            .and_then(|_| counted.inner.flush())
            .map_err(failed)?;
        Ok(counted.file(&copy))
    }

    /// Writes what pieces show, and gives how many secrets they had.
    fn copy<W: Write>(
        &self,
        id: ShellId,
        veil: &Veil,
        pieces: &[Piece],
        to: &mut Counted<W>,
        until: Until,
    ) -> io::Result<u64> {
        let mut redactors = [(); 2].map(|()| veil.0.clone().map(Redactor::new));
        let secrets = |redactors: &[Option<Redactor>; 2]| -> u64 {
            redactors.iter().flatten().map(Redactor::secrets).sum()
        };
        let mut shown = Vec::new();
        for piece in pieces {
            let bytes = self.piece(id, piece.stream, piece.offset, piece.bytes);
            let bytes = bytes.map_err(io::Error::other)?;
            let slot = usize::from(piece.stream == Stream::Stderr);
            match &mut redactors[slot] {
                Some(redactor) => {
                    redactor.push(&bytes, &mut shown);
                    to.add(&shown)?;
                    shown.clear();
                }
                None => to.add(&bytes)?,
            }
            if until == Until::Secret && secrets(&redactors) > 0 {
                break;
            }
        }
        for redactor in redactors.iter_mut().flatten() {
            redactor.finish(&mut shown);
            to.add(&shown)?;
            shown.clear();
        }
        Ok(secrets(&redactors))
    }
}
