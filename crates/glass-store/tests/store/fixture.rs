//! What the tests write.

use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use glass_model::{
    Event, EventBody, EventIndex, Execution, Limits, Mode, Outcome, Phase, Role, SandboxPolicy,
    Session, SessionId, Shell, ShellId, ShellKind, Startup, Stream,
};
use glass_store::{Change, Moved, OpenError, Store};

/// How long a lock may outlive its store.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Limits under which nothing is dropped and no disk is too full.
pub fn roomy() -> Limits {
    Limits {
        disk_free_bytes_min: 0,
        ..Limits::default()
    }
}

/// Opens a store that nobody has. Another test may be starting a process in
/// this moment, and such a one holds copies of our descriptors, and with them
/// the lock of a store that was just closed, until it executes its program.
pub fn open(dir: &Path) -> Store {
    let since = Instant::now();
    loop {
        match Store::open(dir, &roomy()) {
            Err(OpenError::Locked { .. }) if since.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened.unwrap(),
        }
    }
}

pub fn session(seed: u8) -> Session {
    Session {
        id: SessionId::from_random([seed; 16]),
        name: "a name".to_owned(),
        task: "a task".to_owned(),
        owner: Role::Agent,
        mode: Mode::Pipe,
        auto: true,
        shell: Shell {
            kind: ShellKind::Bash,
            path: "/bin/bash".to_owned(),
        },
        startup: Startup::Rc,
        cwd: "/home".to_owned(),
        env: vec![b"A=1".to_vec(), b"B=\xff\xfe".to_vec(), b"C=".to_vec()],
        sandbox: None,
        workspace_root: String::new(),
        scrollback: 1000,
        cols: 80,
        rows: 24,
        ephemeral: false,
        chosen: Vec::new(),
        background: Some(glass_model::Stdin::Open),
        host: "ssh://ann@build:2222".to_owned(),
        created_ms: 1,
        active_ms: 2,
        disposed_ms: None,
    }
}

pub fn execution(session: &SessionId, shell: ShellId) -> Execution {
    Execution {
        shell_id: shell,
        session: session.clone(),
        command: format!("echo {shell}"),
        cwd: "/home".to_owned(),
        tool_call_id: String::new(),
        tool_call_scope: String::new(),
        env: Vec::new(),
        requested_cwd: String::new(),
        timeout_ms: 0,
        sandbox: SandboxPolicy::none(),
        asked_by: glass_model::Role::Agent,
        held: false,
        phase: Phase::Queued,
        launch: None,
        slot: 0,
        start: None,
        end: None,
        started_ms: 10,
        ended_ms: None,
        outcome: Outcome::default(),
    }
}

pub fn event(session: &SessionId, index: u64, shell: Option<ShellId>, body: EventBody) -> Change {
    let event = Event {
        index: EventIndex(index),
        at_ms: 100 + index.cast_signed(),
        shell_id: shell,
        body,
    };
    Change::Event {
        session: session.clone(),
        event,
    }
}

pub fn end(shell: ShellId) -> Change {
    let outcome = Outcome {
        code: Some(0),
        ..Outcome::default()
    };
    Change::EndExecution {
        shell_id: shell,
        end: None,
        ended_ms: 20,
        outcome,
    }
}

/// The byte that belongs at an offset of a stream, so that a piece at the
/// wrong place is seen.
pub fn byte_at(stream: Stream, offset: u64) -> u8 {
    let salt = if stream == Stream::Stdout { 7 } else { 101 };
    (offset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u8 ^ salt
}

pub fn bytes_at(stream: Stream, offset: u64, bytes: u64) -> Vec<u8> {
    (offset..offset + bytes)
        .map(|at| byte_at(stream, at))
        .collect()
}

/// A session under construction, which counts indices, offsets and positions.
pub struct Tape<'a> {
    pub store: &'a Store,
    pub id: SessionId,
    pub index: u64,
}

impl<'a> Tape<'a> {
    pub fn begin(store: &'a Store, seed: u8) -> Tape<'a> {
        let session = session(seed);
        store
            .commit(&[Change::InsertSession(session.clone())])
            .unwrap();
        Tape {
            store,
            id: session.id,
            index: 0,
        }
    }

    pub fn execution(&self) -> ShellId {
        let shell = self.store.next_shell_id();
        self.store
            .commit(&[Change::InsertExecution(execution(&self.id, shell))])
            .unwrap();
        shell
    }

    /// Records a piece of output: through a pipe to the file, then its event.
    pub fn output(&mut self, shell: ShellId, stream: Stream, bytes: u64, position: u64) {
        let mut writer = self.store.output_writer(shell, stream);
        let offset = writer.len();
        let (reader, mut pipe) = std::io::pipe().unwrap();
        pipe.write_all(&bytes_at(stream, offset, bytes)).unwrap();
        let moved = writer.splice_from(reader.as_fd(), 1 << 20).unwrap();
        assert_eq!(moved, Moved::Bytes(bytes));
        let body = EventBody::Output {
            stream,
            offset,
            bytes,
            position,
        };
        self.event(Some(shell), body);
    }

    pub fn event(&mut self, shell: Option<ShellId>, body: EventBody) {
        self.store
            .commit(&[event(&self.id, self.index, shell, body)])
            .unwrap();
        self.index += 1;
    }

    pub fn end(&self, shell: ShellId) {
        self.store.commit(&[end(shell)]).unwrap();
    }

    pub fn bodies(&self) -> Vec<EventBody> {
        let events = self
            .store
            .events(&self.id, EventIndex(0), usize::MAX)
            .unwrap();
        events.into_iter().map(|event| event.body).collect()
    }
}
