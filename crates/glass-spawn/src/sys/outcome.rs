//! What a child tells its reaper before it executes: fixed records in a pipe,
//! which closes when the program is executed.

use std::os::fd::RawFd;

use rustix::io::Errno;

use super::errno;
use crate::stage::Stage;
use crate::walls::Failure;

/// Bytes of a record: three numbers. Far below what a pipe takes at once.
const RECORD_BYTES: usize = 12;

/// The first number of a record that is no failure; stages begin at 1.
const INSIDE: u32 = 0;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A step failed.
    Failed(Failure),
    /// The walls stand. The shell behind them is to be taken for the child.
    Inside { shell: i32, init: i32 },
}

/// What is heard from the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Record(Outcome),
    /// Nobody is left who could say anything.
    Closed,
}

/// Tells the reaper. If that fails, it finds the pipe's end instead.
pub(super) fn say(pipe: RawFd, outcome: Outcome) {
    let record = encode(outcome);
    // SAFETY: the record is as many readable bytes as are given.
    unsafe {
        libc::write(pipe, record.as_ptr().cast(), record.len());
    }
}

/// Waits for a record, or for the pipe's end.
pub(super) fn hear(pipe: RawFd) -> Heard {
    let mut record = [0u8; RECORD_BYTES];
    loop {
        // SAFETY: the buffer has the length that is given.
        let got = unsafe { libc::read(pipe, record.as_mut_ptr().cast(), record.len()) };
        match usize::try_from(got) {
            Ok(RECORD_BYTES) => return Heard::Record(decode(&record)),
            Err(_) if errno() == libc::EINTR => {}
            _ => return Heard::Closed,
        }
    }
}

fn encode(outcome: Outcome) -> [u8; RECORD_BYTES] {
    let (first, second, third) = match outcome {
        Outcome::Failed(failure) => (
            u32::from(failure.stage),
            failure.errno.raw_os_error(),
            failure.detail,
        ),
        Outcome::Inside { shell, init } => (INSIDE, shell, init.cast_unsigned()),
    };
    let mut record = [0; RECORD_BYTES];
    let bytes = [
        first.to_ne_bytes(),
        second.to_ne_bytes(),
        third.to_ne_bytes(),
    ];
    for (place, byte) in record.iter_mut().zip(bytes.iter().flatten()) {
        *place = *byte;
    }
    record
}

fn decode(record: &[u8; RECORD_BYTES]) -> Outcome {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *record;
    let first = u32::from_ne_bytes([a, b, c, d]);
    let second = i32::from_ne_bytes([e, f, g, h]);
    let third = u32::from_ne_bytes([i, j, k, l]);
    if first == INSIDE {
        return Outcome::Inside {
            shell: second,
            init: third.cast_signed(),
        };
    }
    Outcome::Failed(Failure {
        stage: Stage::of_number(first),
        errno: Errno::from_raw_os_error(second),
        detail: third,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for outcome in [
            Outcome::Inside { shell: 7, init: 6 },
            Outcome::Failed(Failure {
                stage: Stage::Mount,
                errno: Errno::NOENT,
                detail: 3,
            }),
        ] {
            assert_eq!(decode(&encode(outcome)), outcome);
        }
    }
}
