//! Lines from a client, whatever it sends: a line that is too long is passed over,
//! and the next one read.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Bytes of a line's buffer that are kept for the next line.
const LINE_BYTES_KEPT: usize = 1 << 20;

/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;

/// Reads lines of a bounded length.
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    /// The line so far. It stays here when a read is given up in its middle.
    line: Vec<u8>,
    line_bytes_max: usize,
    /// The line is too long; the rest of it is passed over.
    is_passing: bool,
}

/// What a read came to.
pub(super) enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(input: R, line_bytes_max: usize) -> LineReader<R> {
        LineReader {
            input: BufReader::with_capacity(READ_BYTES, input),
            line: Vec::new(),
            line_bytes_max,
            is_passing: false,
        }
    }

    /// One line, without its newline. Nothing is lost when this is given up:
    /// between a read and its bookkeeping there is no wait.
    pub(super) async fn read(&mut self) -> Read {
        loop {
            let Ok(bytes) = self.input.fill_buf().await else {
                return Read::End;
            };
            if bytes.is_empty() {
                return Read::End;
            }
            let newline = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..newline.unwrap_or(bytes.len())];
            let was_passing = self.is_passing;
            if !was_passing && self.line.len() + part.len() > self.line_bytes_max {
                self.is_passing = true;
                self.line = Vec::new();
            }
            if !self.is_passing {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.input.consume(used);
            if newline.is_some() {
                if std::mem::take(&mut self.is_passing) {
                    return Read::TooLong;
                }
                return Read::Line;
            }
        }
    }

    /// The line that was read.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Makes room for the next line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
        self.line.shrink_to(LINE_BYTES_KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::{LineReader, Read};
    use tokio::io::AsyncWriteExt as _;

    /// The lines of some bytes that arrive in small pieces; none is one too long.
    fn lines(bytes: &[u8], piece: usize, most: usize) -> Vec<Option<Vec<u8>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            let (mut theirs, ours) = tokio::io::duplex(piece);
            let writing = async move { theirs.write_all(bytes).await.expect("it is read") };
            let reading = async {
                let (mut reader, mut found) = (LineReader::new(ours, most), Vec::new());
                loop {
                    match reader.read().await {
                        Read::Line => found.push(Some(reader.line().to_vec())),
                        Read::TooLong => found.push(None),
                        Read::End => return found,
                    }
                    reader.clear();
                }
            };
            tokio::join!(writing, reading).1
        })
    }

    proptest::proptest! {
        #[test]
        fn lines_are_the_same_however_they_arrive(
            bytes in proptest::collection::vec(8u8..14, 0..80),
            piece in 1usize..12,
            most in 0usize..9,
        ) {
            let mut expected: Vec<_> = bytes
                .split(|byte| *byte == b'\n')
                .map(|line| (line.len() <= most).then(|| line.to_vec()))
                .collect();
            // What has no newline is no line.
            expected.pop();
            proptest::prop_assert_eq!(lines(&bytes, piece, most), expected);
        }
    }
}
