//! A data directory with any damage opens, or says that it cannot be opened;
//! whatever is read from it, nothing panics.
#![no_main]

use glass_model::{
    AuditEntry, AuditKind, Event, EventBody, EventIndex, Execution, LaunchId, Limits, Mode,
    Outcome, Phase, Role, SandboxPolicy, Session, SessionId, Shell, ShellId, ShellKind, Startup,
    Stream,
};
use glass_store::{AuditFilter, Change, Store};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Events read at once.
const EVENTS_MAX: usize = 100;

/// Where directories are made: in memory, where that can be had.
fn place() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    }
}

fn limits() -> Limits {
    Limits {
        disk_free_bytes_min: 0,
        session_events_max: 20,
        audit_rows_max: 4,
        session_output_bytes_max: 1000,
        ..Limits::default()
    }
}

fn session() -> Session {
    Session {
        id: SessionId::from_random([7; 16]),
        name: "name".to_owned(),
        task: String::new(),
        owner: Role::Agent,
        mode: Mode::Pipe,
        auto: true,
        shell: Shell {
            kind: ShellKind::Bash,
            path: "/bin/bash".to_owned(),
        },
        startup: Startup::Rc,
        cwd: "/home".to_owned(),
        env: vec![b"A=1".to_vec()],
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

fn execution(session: &Session, shell_id: ShellId) -> Execution {
    Execution {
        shell_id,
        session: session.id.clone(),
        command: format!("echo {shell_id}"),
        cwd: "/home".to_owned(),
        tool_call_id: format!("key-{shell_id}"),
        tool_call_scope: "agent".to_owned(),
        env: vec![("A".to_owned(), "1".to_owned())],
        requested_cwd: String::new(),
        timeout_ms: 0,
        sandbox: SandboxPolicy::none(),
        asked_by: Role::Agent,
        held: false,
        phase: Phase::Running,
        launch: None,
        slot: 0,
        start: None,
        end: None,
        started_ms: 10,
        ended_ms: None,
        outcome: Outcome::default(),
    }
}

fn entry(shell_id: ShellId) -> Change {
    Change::Audit(AuditEntry {
        at_ms: 10,
        session: session().id.as_str().to_owned(),
        shell_id: shell_id.0,
        task: "a task".to_owned(),
        asked_by: "agent".to_owned(),
        what: AuditKind::Ended {
            code: Some(0),
            how: "exited".to_owned(),
        },
        command: format!("echo {shell_id}"),
        detail: String::new(),
    })
}

/// Writes 100 bytes of output.
fn record(store: &Store, shell_id: ShellId, stream: Stream) {
    let (read, write) = rustix::pipe::pipe().expect("a pipe");
    rustix::io::write(&write, &[b'x'; 100]).expect("room in it");
    let mut writer = store.output_writer(shell_id, stream);
    writer.splice_from(read.as_fd(), 100).expect("recorded");
}

/// Every file of a sound data directory that was not closed.
fn sound() -> &'static BTreeMap<PathBuf, Vec<u8>> {
    static SOUND: OnceLock<BTreeMap<PathBuf, Vec<u8>>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let dir = tempfile::tempdir_in(place()).expect("a directory");
        let store = Store::open(dir.path(), &limits()).expect("it opens");
        let session = session();
        let insert = Change::InsertSession(session.clone());
        store.commit(&[insert]).expect("there is room");
        let mut next = 0;
        for _ in 0..6 {
            let shell_id = store.next_shell_id();
            let mut changes = vec![Change::InsertExecution(execution(&session, shell_id))];
            for (stream, position) in [(Stream::Stdout, 0), (Stream::Stderr, 100)] {
                record(&store, shell_id, stream);
                let body = EventBody::Output {
                    stream,
                    offset: 0,
                    bytes: 100,
                    position,
                };
                let event = Event {
                    index: EventIndex(next),
                    at_ms: 1,
                    shell_id: Some(shell_id),
                    body,
                };
                let session = session.id.clone();
                changes.push(Change::Event { session, event });
                next += 1;
            }
            changes.push(Change::EndExecution {
                shell_id,
                end: None,
                ended_ms: 20,
                outcome: Outcome::default(),
            });
            changes.push(entry(shell_id));
            store.commit(&changes).expect("there is room");
        }
        let last = Execution {
            launch: Some(LaunchId(1)),
            start: Some(EventIndex(next)),
            ..execution(&session, store.next_shell_id())
        };
        let put_off = Change::InsertExecution(last);
        let event = Event {
            index: EventIndex(next),
            at_ms: 1,
            shell_id: None,
            body: EventBody::Cwd {
                cwd: "/".to_owned(),
            },
        };
        let event = Change::Event {
            session: session.id.clone(),
            event,
        };
        let put_off = [put_off, entry(ShellId(7)), event];
        store.defer(&put_off).expect("there is room");
        let mut files = BTreeMap::new();
        collect(dir.path(), dir.path(), &mut files);
        files
    })
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if !path.ends_with("reserve") {
            let name = path.strip_prefix(root).expect("it is below").to_owned();
            files.insert(name, std::fs::read(&path).expect("it can be read"));
        }
    }
}

/// Damages files: each six bytes of input name a file, a place in it, and a
/// byte to put there, or cut the file off there.
fn damage(input: &[u8]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = sound().clone();
    let names: Vec<PathBuf> = files.keys().cloned().collect();
    for wound in input.chunks_exact(6) {
        let name = &names[usize::from(wound[0] & 0x7f) % names.len()];
        let Some(bytes) = files.get_mut(name).filter(|bytes| !bytes.is_empty()) else {
            continue;
        };
        let at = u32::from_le_bytes([wound[1], wound[2], wound[3], 0]) as usize % bytes.len();
        if wound[4] == 0xff {
            bytes.truncate(at);
        } else if wound[0] & 0x80 != 0 {
            // Near the beginning, where the headers are.
            let at = at % 200.min(bytes.len());
            bytes[at] = wound[5];
        } else {
            bytes[at] = wound[5];
        }
    }
    files
}

fn read_all(store: &Store) {
    for session in store.sessions(true).unwrap_or_default() {
        let _ = store.cursor(&session.id);
        let _ = store.events(&session.id, EventIndex(0), EVENTS_MAX);
        for execution in store.executions(&session.id).unwrap_or_default() {
            let id = execution.shell_id;
            let _ = store.recorded(id);
            let _ = store.output_events(id, 0, EVENTS_MAX);
            let _ = store.read_output(id, Stream::Stdout, 0, 1000);
            let _ = store.trim_execution(id, Stream::Stdout, 10, "fuzz");
        }
    }
    let mut at = Some(0);
    while let Some(from) = at {
        let page = store.audit(from, &AuditFilter::default());
        at = page.ok().and_then(|page| page.next);
    }
    let _ = store.audit_newest(3, &AuditFilter::default());
    let _ = store.verify_audit(None);
    let _ = store.unfinished();
    let _ = store.find_tool_call("agent", "key-1");
}

fuzz_target!(|input: &[u8]| {
    let dir = tempfile::tempdir_in(place()).expect("a directory");
    for (name, bytes) in damage(input) {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is below")).expect("made");
        std::fs::write(path, bytes).expect("written");
    }
    let Ok(store) = Store::open(dir.path(), &limits()) else {
        return;
    };
    read_all(&store);
    let session = session();
    let _ = store.commit(&[Change::InsertSession(session.clone())]);
    let insert = Change::InsertExecution(execution(&session, store.next_shell_id()));
    let _ = store.commit(&[insert, entry(ShellId(1))]);
    let _ = store.retain(1 << 40);
    read_all(&store);
});
