//! Changes that are on disk but not in the database yet.
//!
//! That a command begins must survive our death before its shell learns of it,
//! but a transaction for that alone costs as much as the one for its end. So it
//! is written to a small file with one system call, and enters the database
//! with the next transaction, whatever that is for. Everybody who reads the
//! database lets it enter first.
//!
//! Invariant: a change is in the file until it is in the database. One that is
//! in both is recognised by its numbers and not made twice.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use glass_model::{Event, EventBody, EventIndex, Execution, LaunchId, Outcome, Phase, ShellId};
use rustix::fs::{FallocateFlags, Mode, OFlags};

use crate::change::Change;
use crate::codec::{Decoder, Encoder};
use crate::row::{sandbox_column, sandbox_of};

/// The file's size. It is given its room when it is made, so that a full disk
/// does not matter.
const FILE_BYTES: u64 = 256 * 1024;

/// Bytes before a record: its length, and a check over its content.
const HEAD_BYTES: usize = 8;

/// Changes that wait, and the file that holds them.
pub(crate) struct Deferred {
    file: File,
    end: u64,
    changes: Vec<Change>,
}

impl Deferred {
    /// Opens the file, and returns what the last process left in it: a list for
    /// each time that it deferred something.
    pub(crate) fn open(path: &Path) -> io::Result<(Deferred, Vec<Vec<Change>>)> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?);
        let mut content = vec![0; FILE_BYTES as usize];
        let there = read_up_to(&file, &mut content)?;
        content.truncate(there);
        if there < FILE_BYTES as usize {
            rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, FILE_BYTES)?;
        }
        let deferred = Deferred {
            file,
            end: 0,
            changes: Vec::new(),
        };
        Ok((deferred, records(&content)))
    }

    /// Writes changes to the file. False where they are of another kind or do
    /// not fit; then nothing was written.
    pub(crate) fn push(&mut self, changes: &[Change]) -> io::Result<bool> {
        let Some(payload) = encode(changes) else {
            return Ok(false);
        };
        let mut record = Vec::with_capacity(HEAD_BYTES + payload.len() + 4);
        record.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        record.extend_from_slice(&check(&payload).to_le_bytes());
        record.extend_from_slice(&payload);
        // The next record's length: there is none yet.
        record.extend_from_slice(&[0; 4]);
        let end = self.end + (record.len() - 4) as u64;
        if end + 4 > FILE_BYTES {
            return Ok(false);
        }
        self.file.write_all_at(&record, self.end)?;
        self.end = end;
        self.changes.extend_from_slice(changes);
        Ok(true)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The changes are in the database.
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.end = 0;
        if let Err(error) = self.file.write_all_at(&[0; 4], 0) {
            // Found again, they would be recognised.
            tracing::warn!(%error, "deferred changes stay on disk");
        }
    }
}

fn read_up_to(file: &File, content: &mut [u8]) -> io::Result<usize> {
    let mut there = 0;
    while there < content.len() {
        match file.read_at(&mut content[there..], there as u64)? {
            0 => break,
            count => there += count,
        }
    }
    Ok(there)
}

/// The records of a file, up to the first that is not whole.
fn records(mut content: &[u8]) -> Vec<Vec<Change>> {
    let mut found = Vec::new();
    while let Some((head, rest)) = content.split_at_checked(HEAD_BYTES) {
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, sum) = (word(0) as usize, word(4));
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            break;
        };
        if length == 0 || check(payload) != sum {
            break;
        }
        let Some(changes) = decode(payload) else {
            break;
        };
        found.push(changes);
        content = rest;
    }
    found
}

/// FNV-1a. Against a torn record, not against anybody's intent: the directory
/// is ours alone.
fn check(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// Only what begins a command can be deferred.
fn encode(changes: &[Change]) -> Option<Vec<u8>> {
    let mut encoder = Encoder::default();
    encoder.number(changes.len() as u64);
    for change in changes {
        match change {
            Change::InsertExecution(execution) if execution.phase == Phase::Running => {
                encoder.number(0);
                encode_execution(&mut encoder, execution)?;
            }
            Change::StartExecution {
                shell_id,
                launch,
                slot,
                start,
                started_ms,
                cwd,
            } => {
                encoder.number(1).number(shell_id.0.into()).number(launch.0);
                encoder.number((*slot).into()).number(start.0);
                encoder.number(started_ms.cast_unsigned()).text(cwd);
            }
            Change::Event { session, event } => {
                let EventBody::CommandStart { command, cwd, pid } = &event.body else {
                    return None;
                };
                encoder
                    .number(2)
                    .text(session.as_str())
                    .number(event.index.0);
                encoder
                    .number(event.at_ms.cast_unsigned())
                    .number(event.shell_id?.0.into());
                encoder.text(command).text(cwd).number((*pid).into());
            }
            _ => return None,
        }
    }
    Some(encoder.finish())
}

fn encode_execution(encoder: &mut Encoder, execution: &Execution) -> Option<()> {
    encoder
        .number(execution.shell_id.0.into())
        .text(execution.session.as_str());
    encoder
        .text(&execution.command)
        .text(&execution.cwd)
        .text(&execution.tool_call_id);
    encoder
        .text(&execution.tool_call_scope)
        .text(&execution.requested_cwd);
    encoder.number(execution.env.len() as u64);
    for (name, value) in &execution.env {
        encoder.text(name).text(value);
    }
    encoder
        .number(execution.timeout_ms.into())
        .bytes(&sandbox_column(&execution.sandbox));
    encoder
        .number(execution.launch?.0)
        .number(execution.slot.into());
    encoder
        .number(execution.start?.0)
        .number(execution.started_ms.cast_unsigned());
    Some(())
}

fn decode(payload: &[u8]) -> Option<Vec<Change>> {
    let mut decoder = Decoder::new(payload);
    let count = decoder.number()?;
    let mut changes = Vec::new();
    for _ in 0..count {
        changes.push(match decoder.number()? {
            0 => Change::InsertExecution(decode_execution(&mut decoder)?),
            1 => Change::StartExecution {
                shell_id: ShellId(small(&mut decoder)?),
                launch: LaunchId(decoder.number()?),
                slot: small(&mut decoder)?,
                start: EventIndex(decoder.number()?),
                started_ms: decoder.number()?.cast_signed(),
                cwd: decoder.text()?,
            },
            2 => decode_event(&mut decoder)?,
            _ => return None,
        });
    }
    decoder.finish()?;
    Some(changes)
}

fn decode_execution(decoder: &mut Decoder<'_>) -> Option<Execution> {
    let shell_id = ShellId(small(decoder)?);
    let session = decoder.text()?.parse().ok()?;
    let (command, cwd, tool_call_id) = (decoder.text()?, decoder.text()?, decoder.text()?);
    let (tool_call_scope, requested_cwd) = (decoder.text()?, decoder.text()?);
    let variables = decoder.number()?;
    let mut env = Vec::new();
    for _ in 0..variables {
        env.push((decoder.text()?, decoder.text()?));
    }
    Some(Execution {
        shell_id,
        session,
        command,
        cwd,
        tool_call_id,
        tool_call_scope,
        env,
        requested_cwd,
        timeout_ms: small(decoder)?,
        sandbox: sandbox_of(decoder.bytes()?).ok()?,
        phase: Phase::Running,
        launch: Some(LaunchId(decoder.number()?)),
        slot: small(decoder)?,
        start: Some(EventIndex(decoder.number()?)),
        end: None,
        started_ms: decoder.number()?.cast_signed(),
        ended_ms: None,
        outcome: Outcome::default(),
    })
}

fn decode_event(decoder: &mut Decoder<'_>) -> Option<Change> {
    let session = decoder.text()?.parse().ok()?;
    let index = EventIndex(decoder.number()?);
    let at_ms = decoder.number()?.cast_signed();
    let shell_id = Some(ShellId(small(decoder)?));
    let (command, cwd) = (decoder.text()?, decoder.text()?);
    let body = EventBody::CommandStart {
        command,
        cwd,
        pid: small(decoder)?,
    };
    Some(Change::Event {
        session,
        event: Event {
            index,
            at_ms,
            shell_id,
            body,
        },
    })
}

fn small(decoder: &mut Decoder<'_>) -> Option<u32> {
    u32::try_from(decoder.number()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{Deferred, records};
    use crate::change::Change;
    use glass_model::{
        Event, EventBody, EventIndex, Execution, LaunchId, Outcome, Phase, SandboxPolicy,
        SessionId, ShellId,
    };

    fn start(id: u32, command: &str) -> Vec<Change> {
        let session = SessionId::from_random([9; 16]);
        let execution = Execution {
            shell_id: ShellId(id),
            session: session.clone(),
            command: command.to_owned(),
            cwd: "/tmp".to_owned(),
            tool_call_id: "call".to_owned(),
            tool_call_scope: "agent".to_owned(),
            env: vec![("A".to_owned(), "1".to_owned())],
            requested_cwd: String::new(),
            timeout_ms: 5,
            sandbox: SandboxPolicy::none(),
            phase: Phase::Running,
            launch: Some(LaunchId(1 << 40)),
            slot: 3,
            start: Some(EventIndex(7)),
            end: None,
            started_ms: 1_700_000_000_000,
            ended_ms: None,
            outcome: Outcome::default(),
        };
        let body = EventBody::CommandStart {
            command: command.to_owned(),
            cwd: "/tmp".to_owned(),
            pid: 4,
        };
        let event = Event {
            index: EventIndex(7),
            at_ms: 8,
            shell_id: Some(ShellId(id)),
            body,
        };
        vec![
            Change::InsertExecution(execution),
            Change::Event { session, event },
        ]
    }

    #[test]
    fn what_was_deferred_is_found_again_until_it_is_cleared() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("deferred");
        let (mut deferred, left) = Deferred::open(&path).expect("it opens");
        assert!(left.is_empty());
        let (first, second) = (start(1, "true"), start(2, "echo ä\n"));
        assert!(deferred.push(&first).expect("it is written"));
        assert!(deferred.push(&second).expect("it is written"));
        let (_, left) = Deferred::open(&path).expect("it opens");
        assert_eq!(left, [first, second]);
        deferred.clear();
        let (_, left) = Deferred::open(&path).expect("it opens");
        assert!(left.is_empty());
    }

    #[test]
    fn what_does_not_fit_is_not_deferred() {
        let dir = tempfile::tempdir().expect("a directory");
        let (mut deferred, _) = Deferred::open(&dir.path().join("d")).expect("it opens");
        assert!(
            !deferred
                .push(&start(1, &"x".repeat(300_000)))
                .expect("nothing fails")
        );
        let disposed = Change::Event {
            session: SessionId::from_random([9; 16]),
            event: Event {
                index: EventIndex(0),
                at_ms: 0,
                shell_id: None,
                body: EventBody::Disposed,
            },
        };
        assert!(!deferred.push(&[disposed]).expect("nothing fails"));
        assert!(deferred.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn noise_and_torn_records_are_not_believed(
            noise in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
            cut in 0usize..400,
        ) {
            proptest::prop_assert!(records(&noise).is_empty());
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join("d");
            let (mut deferred, _) = Deferred::open(&path).expect("it opens");
            deferred.push(&start(1, "true")).expect("it is written");
            let whole = usize::try_from(deferred.end).expect("it is small");
            let mut content = std::fs::read(&path).expect("it is there");
            content.truncate(cut);
            let expected = usize::from(cut >= whole);
            proptest::prop_assert_eq!(records(&content).len(), expected);
        }
    }
}
