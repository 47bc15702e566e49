//! What a terminal session costs, beside a raw terminal and beside tmux.

use crate::latency::quantile;
use crate::memory::resident_kib;
use crate::table::Table;
use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::attach_output::Output;
use glass_proto::shellglass::v1::{
    AttachInput, AttachOpen, AttachOutput, CreateSessionRequest, Session, SessionMode,
};
use shellglass_tests::{Client, Daemon, TestSession};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

/// Bytes that `cat` prints.
const BYTES: u64 = 100 << 20;

/// Rounds; the best of each side counts, since noise only slows down.
const ROUNDS: usize = 3;

/// Keys that are pressed, so far apart that each is one of its own.
const KEYS: usize = 500;
const KEY_PAUSE: Duration = Duration::from_millis(10);

/// Keys of one line, which a terminal does not keep without end.
const LINE_KEYS: usize = 64;

/// Sessions whose memory is measured, and lines that each shows.
const SESSIONS: u64 = 100;
const LINES: u32 = 100;

/// Until the last of them has given back what it does not need at rest.
const REST: Duration = Duration::from_secs(8);

/// Times that somebody comes back.
const RETURNS: usize = 40;

/// Longest wait for anything, with this much to do before.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything about terminals.
pub async fn measure(table: &mut Table) {
    let place = tempfile::Builder::new().prefix("sg-").tempdir().unwrap();
    let file = place.path().join("input");
    fill(&file);
    let daemon = Daemon::start(crate::throughput::CONFIG);
    let session = measure_output(table, &daemon, &file).await;
    measure_return(table, &daemon, &session, &file).await;
    measure_echo(table, &session).await;
    drop(daemon);
    measure_memory(table).await;
}

fn fill(file: &Path) {
    let line = "a line of ordinary text, as a build prints it, of some eighty characters\n";
    let mut out = std::io::BufWriter::new(std::fs::File::create(file).unwrap());
    let mut left = usize::try_from(BYTES).unwrap();
    while left > 0 {
        let count = left.min(line.len());
        out.write_all(&line.as_bytes()[..count]).unwrap();
        left -= count;
    }
    out.flush().unwrap();
}

async fn terminal(daemon: &Daemon) -> TestSession {
    let request = CreateSessionRequest {
        shell: "bash".to_owned(),
        mode: SessionMode::Pty.into(),
        startup: "none".to_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        env: [("PS1".to_owned(), "> ".to_owned())].into(),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create(daemon, request).await;
    // What is typed before a shell reads its keys can be lost.
    let at_prompt = |shown: &Session| shown.integration.starts_with("rich") && !shown.busy;
    session.until("it is at its prompt", at_prompt).await;
    session
}

/// Somebody at a session's terminal.
struct Seat {
    input: mpsc::Sender<AttachInput>,
    stream: Streaming<AttachOutput>,
    seen: Vec<u8>,
    received: u64,
}

impl Seat {
    async fn take(session: &TestSession) -> Seat {
        Seat::with(&mut session.client.clone(), &session.id).await
    }

    async fn with(client: &mut Client, id: &str) -> Seat {
        let (input, receiver) = mpsc::channel(64);
        let open = AttachOpen {
            session_id: id.to_owned(),
            cols: 80,
            rows: 30,
            ..AttachOpen::default()
        };
        let open = AttachInput {
            input: Some(Input::Open(open)),
        };
        input.send(open).await.unwrap();
        let attached = client.attach(ReceiverStream::new(receiver)).await;
        let mut seat = Seat {
            input,
            stream: attached.unwrap().into_inner(),
            seen: Vec::new(),
            received: 0,
        };
        while !matches!(seat.next().await, Output::Ready(_)) {}
        seat
    }

    async fn next(&mut self) -> Output {
        let next = tokio::time::timeout(PATIENCE, self.stream.message()).await;
        let output = next.unwrap().unwrap().unwrap().output.unwrap();
        if let Output::Data(bytes) = &output {
            self.received += bytes.len() as u64;
            self.seen.extend_from_slice(bytes);
        }
        output
    }

    async fn press(&self, keys: &str) {
        let data = Input::Data(keys.as_bytes().to_vec().into());
        let message = AttachInput { input: Some(data) };
        self.input.send(message).await.unwrap();
    }

    /// Reads until this is shown, and remembers little of what comes before.
    async fn until(&mut self, text: &str) {
        while memchr::memmem::find(&self.seen, text.as_bytes()).is_none() {
            let excess = self.seen.len().saturating_sub(text.len());
            self.seen.drain(..excess);
            self.next().await;
        }
        self.seen.clear();
    }
}

/// A terminal with nothing around it.
struct RawTerminal {
    master: std::fs::File,
    child: Child,
}

impl RawTerminal {
    fn start(program: &mut Command) -> RawTerminal {
        use rustix::pty::OpenptFlags;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let size = rustix::termios::Winsize {
            ws_col: 80,
            ws_row: 30,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&master, size).unwrap();
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        program.stdin(end()).stdout(end()).stderr(end());
        RawTerminal {
            child: program.spawn().unwrap(),
            master: master.into(),
        }
    }

    /// Reads to the end; how many bytes there were.
    fn drain(&mut self) -> u64 {
        let mut buffer = vec![0; 64 * 1024];
        let mut total = 0;
        // A terminal that everybody has left is an error to read.
        while let Ok(count @ 1..) = self.master.read(&mut buffer) {
            total += count as u64;
        }
        total
    }

    /// Reads until this is shown.
    fn until(&mut self, text: &str) {
        let mut seen = Vec::new();
        let mut buffer = [0; 16 * 1024];
        while memchr::memmem::find(&seen, text.as_bytes()).is_none() {
            let count = self.master.read(&mut buffer).unwrap();
            seen.extend_from_slice(&buffer[..count]);
        }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn rate(time: Duration) -> f64 {
    BYTES as f64 / 1e6 / time.as_secs_f64()
}

fn raw_output(file: &Path) -> f64 {
    let begin = Instant::now();
    let mut terminal = RawTerminal::start(Command::new("cat").arg(file));
    assert!(terminal.drain() > BYTES, "line ends are two bytes each");
    rate(begin.elapsed())
}

/// With somebody who looks, and with nobody: then the session alone tells when
/// the command has ended.
/// Gives a session that has shown all of it.
async fn measure_output(table: &mut Table, daemon: &Daemon, file: &Path) -> TestSession {
    let mut last = terminal(daemon).await;
    let (mut raw, mut seen, mut unseen, mut shown) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        raw = raw.max(raw_output(file));
        // A session for each: nobody types into one that is not at its prompt.
        let session = terminal(daemon).await;
        let mut seat = Seat::take(&session).await;
        let before = seat.received;
        let begin = Instant::now();
        seat.press(&format!("cat {}; echo do''ne\r", file.display()))
            .await;
        seat.until("done\r\n").await;
        seen = seen.max(rate(begin.elapsed()));
        shown = shown.max((seat.received - before) as f64 / BYTES as f64);
        drop(seat);
        last = session;
        let session = terminal(daemon).await;
        let begin = Instant::now();
        let ran = session.run(&format!("cat {}", file.display())).await;
        assert_eq!(ran.code, Some(0));
        unseen = unseen.max(rate(begin.elapsed()));
    }
    let base = "raw PTY read loop";
    let what = "100 MiB on a terminal, one client";
    table.ratio(what, seen, raw, base, "MB/s", ">= 0.8x, aim 0.95x");
    table.figure(
        "of which the client was shown",
        format!("{:.0} %", shown * 100.0),
        "",
    );
    let tmux = (0..ROUNDS)
        .map(|_| absorbed_by_tmux(file))
        .fold(0.0, f64::max);
    let what = "100 MiB absorbed, nobody looks";
    table.ratio(what, unseen, tmux, "tmux, nobody looks", "MB/s", ">= 1x");
    last
}

/// A tmux server of our own, which ends with this.
struct Tmux<'a> {
    place: &'a Path,
}

impl Tmux<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-f", "/dev/null", "-S"]);
        command.arg(self.place.join("tmux.sock")).env_remove("TMUX");
        command.env("TERM", "xterm-256color");
        command
    }

    fn call(&self, arguments: &[&str]) {
        let status = self.command().args(arguments).status().unwrap();
        assert!(status.success(), "tmux {arguments:?}");
    }

    /// Starts a session that runs this in 80 by 30.
    fn start<'a>(place: &'a Path, line: &str) -> Tmux<'a> {
        let tmux = Tmux { place };
        tmux.call(&[
            "new-session",
            "-d",
            "-s",
            "one",
            "-x",
            "80",
            "-y",
            "30",
            line,
        ]);
        tmux
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        // Its last session may have ended, and the server with it.
        let _ = self.command().arg("kill-server").output();
    }
}

fn absorbed_by_tmux(file: &Path) -> f64 {
    let place = tempfile::Builder::new().prefix("sg-").tempdir().unwrap();
    let begin = Instant::now();
    let line = format!("cat {}; tmux wait-for -S over; sleep 60", file.display());
    let tmux = Tmux::start(place.path(), &line);
    tmux.call(&["wait-for", "over"]);
    rate(begin.elapsed())
}

/// The first screen after all that output.
async fn measure_return(table: &mut Table, daemon: &Daemon, session: &TestSession, file: &Path) {
    let place = tempfile::Builder::new().prefix("sg-").tempdir().unwrap();
    let line = format!(
        "cat {}; echo; echo last; tmux wait-for -S over; sleep 600",
        file.display()
    );
    let tmux = Tmux::start(place.path(), &line);
    tmux.call(&["wait-for", "over"]);
    let [mut ours, mut base] = [const { Vec::new() }; 2];
    for _ in 0..RETURNS {
        let begin = Instant::now();
        let seat = Seat::take(session).await;
        ours.push(begin.elapsed());
        drop(seat);
        let begin = Instant::now();
        let mut client = RawTerminal::start(tmux.command().arg("attach"));
        client.until("last");
        base.push(begin.elapsed());
    }
    let (ours, base) = (quantile(&mut ours, 0.5), quantile(&mut base, 0.5));
    let what = "first screen after 100 MiB, p50";
    table.ratio(what, ours, base, "tmux attach", "ms", "<= 2x, aim 1x");
    let program = measure_attach(daemon, session);
    table.ratio(
        "the same by `shellglass attach`",
        program.await,
        base,
        "tmux attach",
        "ms",
        "<= 2x, aim 1x",
    );
}

/// The program in a terminal, from its start to the prompt that the session shows.
async fn measure_attach(daemon: &Daemon, session: &TestSession) -> f64 {
    let mut seat = Seat::take(session).await;
    seat.press("echo la''st\r").await;
    seat.until("last\r\n").await;
    drop(seat);
    let mut times = Vec::new();
    for _ in 0..RETURNS {
        let mut command = daemon.command();
        command.args(["attach", &session.id]);
        let begin = Instant::now();
        let mut client = RawTerminal::start(&mut command);
        client.until("last");
        times.push(begin.elapsed());
    }
    quantile(&mut times, 0.5)
}

async fn measure_echo(table: &mut Table, session: &TestSession) {
    let mut seat = Seat::take(session).await;
    seat.press("cat >/dev/null; echo do''ne\r").await;
    seat.until("do''ne\r\n").await;
    let mut raw = RawTerminal::start(&mut Command::new("cat"));
    let [mut ours, mut base] = [const { Vec::new() }; 2];
    let mut buffer = [0; 64];
    for key in 1..=KEYS {
        tokio::time::sleep(KEY_PAUSE).await;
        let begin = Instant::now();
        seat.press("x").await;
        seat.until("x").await;
        ours.push(begin.elapsed());
        let begin = Instant::now();
        raw.master.write_all(b"x").unwrap();
        let count = raw.master.read(&mut buffer).unwrap();
        base.push(begin.elapsed());
        assert_eq!(&buffer[..count], b"x");
        if key % LINE_KEYS == 0 {
            // Takes the line away, of which the terminal shows something.
            seat.press("\x15").await;
            raw.master.write_all(b"\x15").unwrap();
            tokio::time::sleep(KEY_PAUSE).await;
            seat.next().await;
            let _ = raw.master.read(&mut [0; 4096]).unwrap();
        }
    }
    seat.press("\x03").await;
    let (p50, p99) = (quantile(&mut ours, 0.5), quantile(&mut ours, 0.99));
    let baseline = "raw PTY echo";
    table.ratio(
        "a key's echo, p50",
        p50,
        quantile(&mut base, 0.5),
        baseline,
        "ms",
        "",
    );
    let raw_p99 = quantile(&mut base, 0.99);
    table.ratio(
        "a key's echo, p99",
        p99,
        raw_p99,
        baseline,
        "ms",
        "<= 1.5 ms more",
    );
}

/// Idle terminals, each of which has shown some lines.
async fn measure_memory(table: &mut Table) {
    let daemon = Daemon::start("");
    let client = daemon.client().await;
    let mut sessions = Vec::new();
    let mut before = 0;
    for count in 0..SESSIONS + 10 {
        if count == 10 {
            tokio::time::sleep(REST).await;
            before = resident_kib(daemon.pid());
        }
        let mut session = terminal(&daemon).await;
        // One connection for all: it is the session's cost that counts.
        session.client = client.clone();
        let mut seat = Seat::with(&mut session.client.clone(), &session.id).await;
        seat.press(&format!("seq {LINES}; echo do''ne\r")).await;
        seat.until("done\r\n").await;
        sessions.push(session);
    }
    tokio::time::sleep(REST).await;
    let after = resident_kib(daemon.pid());
    let each = (after.saturating_sub(before)) as f64 / SESSIONS as f64;
    table.figure(
        "an idle terminal in the daemon",
        format!("{each:.1} KiB"),
        "<= 512 KiB",
    );
}
