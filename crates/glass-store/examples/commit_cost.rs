//! Measures what the two commits of a command cost, and a spliced output.
//!
//! `cargo run --release -p glass-store --example commit_cost [DIRECTORY]`

use std::io::Write;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use glass_model::{
    Event, EventBody, EventIndex, Execution, LaunchId, Limits, Mode, Outcome, Phase, Role,
    SandboxPolicy, Session, SessionId, Shell, ShellId, ShellKind, Startup, Stream,
};
use glass_store::{Change, Moved, Store};

const COMMANDS: u64 = 50_000;
const SPLICES: u64 = 2_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base = std::env::args().nth(1).unwrap_or_else(|| "/tmp".to_owned());
    let dir = tempfile::tempdir_in(base)?;
    let store = Store::open(dir.path(), &Limits::default())?;
    let session = session();
    store.commit(&[Change::InsertSession(session.clone())])?;

    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    for n in 0..COMMANDS {
        let shell = store.next_shell_id();
        let (start, end) = command(&session.id, shell, n * 3);
        let at = Instant::now();
        store.commit(&start)?;
        starts.push(at.elapsed());
        let at = Instant::now();
        store.commit(&end)?;
        ends.push(at.elapsed());
    }
    let whole = begun.elapsed();
    report("commit at the start (3 changes)", &mut starts);
    report("commit at the end (4 changes)", &mut ends);
    say(&format!(
        "{:.0} commands a second",
        COMMANDS as f64 / whole.as_secs_f64()
    ));

    let mut outputs = Vec::new();
    for _ in 0..SPLICES {
        let (reader, mut writer) = std::io::pipe()?;
        writer.write_all(b"hello\n")?;
        let mut output = store.output_writer(store.next_shell_id(), Stream::Stdout);
        let at = Instant::now();
        let moved = output.splice_from(reader.as_fd(), 1 << 16)?;
        outputs.push(at.elapsed());
        assert_eq!(moved, Moved::Bytes(6));
    }
    report("first splice of an output", &mut outputs);
    Ok(())
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let mean = times.iter().sum::<Duration>() / u32::try_from(times.len()).unwrap_or(1);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    say(&format!(
        "{what}: mean {mean:.1?}, p50 {:.1?}, p99 {:.1?}, p99.9 {:.1?}, max {:.1?}",
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    ));
}

fn session() -> Session {
    Session {
        id: SessionId::from_random([7; 16]),
        name: String::new(),
        task: String::new(),
        owner: Role::Agent,
        mode: Mode::Pipe,
        auto: true,
        shell: Shell {
            kind: ShellKind::Bash,
            path: "/bin/bash".to_owned(),
        },
        startup: Startup::Rc,
        cwd: "/home/user/project".to_owned(),
        env: vec![vec![b'x'; 60]; 60],
        sandbox: None,
        workspace_root: String::new(),
        scrollback: 10_000,
        cols: 120,
        rows: 30,
        ephemeral: false,
        chosen: Vec::new(),
        background: None,
        host: glass_model::LOCAL_HOST.to_owned(),
        created_ms: 0,
        active_ms: 0,
        disposed_ms: None,
    }
}

fn command(session: &SessionId, shell: ShellId, index: u64) -> (Vec<Change>, Vec<Change>) {
    let text = "git status --short && cargo build".to_owned();
    let cwd = "/home/user/project".to_owned();
    let event = |index: u64, body: EventBody| Change::Event {
        session: session.clone(),
        event: Event {
            index: EventIndex(index),
            at_ms: 1_700_000_000_000 + index.cast_signed(),
            shell_id: Some(shell),
            body,
        },
    };
    let execution = Execution {
        shell_id: shell,
        session: session.clone(),
        command: text.clone(),
        cwd: cwd.clone(),
        tool_call_id: format!("call-{shell}"),
        tool_call_scope: "task".to_owned(),
        env: Vec::new(),
        requested_cwd: String::new(),
        timeout_ms: 30_000,
        sandbox: SandboxPolicy::none(),
        asked_by: glass_model::Role::Agent,
        held: false,
        phase: Phase::Running,
        launch: Some(LaunchId(1)),
        slot: 0,
        start: Some(EventIndex(index)),
        end: None,
        started_ms: 1_700_000_000_000,
        ended_ms: None,
        outcome: Outcome::default(),
    };
    let update = |active_ms| Change::UpdateSession {
        id: session.clone(),
        cwd: None,
        env: None,
        mode: None,
        active_ms,
        disposed_ms: None,
    };
    let outcome = Outcome {
        code: Some(0),
        ..Outcome::default()
    };
    let output = EventBody::Output {
        stream: Stream::Stdout,
        offset: 0,
        bytes: 6,
        position: 0,
    };
    let start = vec![
        Change::InsertExecution(execution),
        event(
            index,
            EventBody::CommandStart {
                command: text.clone(),
                cwd,
                pid: 4242,
            },
        ),
        update(index.cast_signed()),
    ];
    let end = vec![
        event(index + 1, output),
        event(
            index + 2,
            EventBody::Exit {
                command: text,
                outcome: outcome.clone(),
            },
        ),
        Change::EndExecution {
            shell_id: shell,
            end: Some(EventIndex(index + 2)),
            ended_ms: 1_700_000_000_500,
            outcome,
        },
        update(index.cast_signed() + 1),
    ];
    (start, end)
}
