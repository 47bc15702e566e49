//! What a driver says, read from a stream of bytes.
//!
//! A report is a few fields, each ended by a NUL; the first is a letter and
//! the sequence number of the request that it speaks of.

/// Longest report, in bytes. A directory's path is the only long field.
pub const REPORT_BYTES_MAX: usize = 64 * 1024;

/// Longest nonce, in bytes.
const NONCE_BYTES_MAX: usize = 128;

/// One thing that a driver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The start files are behind it and it waits for its first request.
    Ready,
    /// It is about to execute the request.
    Started {
        /// The request.
        seq: u64,
    },
    /// It has executed the request.
    Done {
        /// The request.
        seq: u64,
        /// The request's own nonce.
        nonce: String,
        /// The exit status, as in `$?`.
        status: i32,
        /// What the shell calls `$PWD`; empty where it does not know.
        cwd: Vec<u8>,
    },
    /// It could not enter the directory asked for, and executed nothing.
    NoCwd {
        /// The request.
        seq: u64,
        /// The request's own nonce.
        nonce: String,
    },
    /// It has written the state that the request asked for.
    State {
        /// The request.
        seq: u64,
    },
}

/// The stream does not hold what a driver writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReport {
    /// A report that no driver makes.
    #[error("the shell's driver sent something that is not a report")]
    Malformed,
    /// A report over [`REPORT_BYTES_MAX`].
    #[error("the shell's driver sent a report of more than {REPORT_BYTES_MAX} bytes")]
    TooLong,
}

/// Cuts a stream of bytes into reports, however it arrives.
///
/// After an error the stream cannot be followed any more: every later push
/// fails the same way.
#[derive(Clone, Debug, Default)]
pub struct ReportParser {
    pending: Vec<u8>,
    broken: Option<BadReport>,
}

impl ReportParser {
    /// A parser at the beginning of a stream.
    pub fn new() -> ReportParser {
        ReportParser::default()
    }

    /// Takes the next bytes and returns the reports that they complete.
    ///
    /// Reports that stand before a bad one in the same bytes are lost with
    /// it: a shell whose channel is broken is not believed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Report>, BadReport> {
        if let Some(bad) = self.broken {
            return Err(bad);
        }
        self.pending.extend_from_slice(bytes);
        let result = self.take_reports();
        if let Err(bad) = result {
            self.broken = Some(bad);
            self.pending = Vec::new();
        }
        result
    }

    /// Whether a report has begun and not ended.
    pub fn is_mid_report(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Bytes of a report that has begun and not ended.
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    fn take_reports(&mut self) -> Result<Vec<Report>, BadReport> {
        let mut reports = Vec::new();
        let mut taken = 0;
        while let Some((report, length)) = first_report(&self.pending[taken..])? {
            reports.push(report);
            taken += length;
        }
        self.pending.drain(..taken);
        if self.pending.len() > REPORT_BYTES_MAX {
            return Err(BadReport::TooLong);
        }
        Ok(reports)
    }
}

/// The first report of `bytes` and its length, or none where it is not whole.
fn first_report(bytes: &[u8]) -> Result<Option<(Report, usize)>, BadReport> {
    let Some(&letter) = bytes.first() else {
        return Ok(None);
    };
    let count = match letter {
        b'r' | b's' | b't' => 1,
        b'n' => 2,
        b'd' => 4,
        _ => return Err(BadReport::Malformed),
    };
    let Some((fields, length)) = split_fields(bytes, count) else {
        return Ok(None);
    };
    if length > REPORT_BYTES_MAX {
        return Err(BadReport::TooLong);
    }
    let number = &fields[0][1..];
    let report = match letter {
        b'r' if number.is_empty() => Report::Ready,
        b's' => Report::Started {
            seq: decimal(number)?,
        },
        b't' => Report::State {
            seq: decimal(number)?,
        },
        b'n' => Report::NoCwd {
            seq: decimal(number)?,
            nonce: nonce(fields[1])?,
        },
        b'd' => Report::Done {
            seq: decimal(number)?,
            nonce: nonce(fields[1])?,
            status: decimal(fields[2])?,
            cwd: fields[3].to_vec(),
        },
        _ => return Err(BadReport::Malformed),
    };
    Ok(Some((report, length)))
}

/// The first `count` fields of `bytes` and the length that they take, with
/// their NULs.
fn split_fields(bytes: &[u8], count: usize) -> Option<(Vec<&[u8]>, usize)> {
    let mut fields = Vec::with_capacity(count);
    let mut taken = 0;
    for _ in 0..count {
        let rest = &bytes[taken..];
        let end = rest.iter().position(|&byte| byte == 0)?;
        fields.push(&rest[..end]);
        taken += end + 1;
    }
    Some((fields, taken))
}

fn decimal<N: std::str::FromStr>(digits: &[u8]) -> Result<N, BadReport> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(BadReport::Malformed);
    }
    std::str::from_utf8(digits)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or(BadReport::Malformed)
}

fn nonce(field: &[u8]) -> Result<String, BadReport> {
    let plain = field.len() <= NONCE_BYTES_MAX && field.iter().all(u8::is_ascii_graphic);
    if !plain {
        return Err(BadReport::Malformed);
    }
    String::from_utf8(field.to_vec()).map_err(|_| BadReport::Malformed)
}

#[cfg(test)]
mod tests;
