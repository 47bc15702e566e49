//! A shell under one of our drivers, and what comes of its commands.

use glass_model::{Shell, ShellKind, Startup};
use glass_session::driver::{
    self, Encoded, Report, ReportParser, Request, State, Style, Wanted, encode_run, parse_state,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest that a test waits for a shell.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many pairs of output pipes a test shell has.
const SLOTS: u32 = 3;

pub const KINDS: [ShellKind; 4] = [
    ShellKind::Bash,
    ShellKind::Zsh,
    ShellKind::Fish,
    ShellKind::Posix,
];

pub fn shell(kind: ShellKind) -> Shell {
    let path = match kind {
        ShellKind::Bash => "/usr/bin/bash",
        ShellKind::Zsh => "/usr/bin/zsh",
        ShellKind::Fish => "/usr/bin/fish",
        ShellKind::Posix | ShellKind::Nu | ShellKind::Other => "/usr/bin/dash",
    };
    Shell {
        kind,
        path: path.to_owned(),
    }
}

/// How a command came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Done(i32),
    NoCwd,
    /// The shell ended with it, with this code or 128 + signal.
    Died(i32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub end: End,
    pub out: String,
    pub err: String,
}

impl Outcome {
    pub fn code(&self) -> i32 {
        match self.end {
            End::Done(code) | End::Died(code) => code,
            End::NoCwd => -1,
        }
    }
}

pub struct Driven {
    pub kind: ShellKind,
    pub dir: TempDir,
    pub child: Child,
    pub seq: u64,
    pub cwd: Vec<u8>,
    pub started: Vec<u64>,
    request: UnixStream,
    report: UnixStream,
    parser: ReportParser,
    pipes: Vec<[OwnedFd; 2]>,
    own_output: Option<[File; 2]>,
}

impl Driven {
    pub fn warm(kind: ShellKind) -> Driven {
        Driven::start(kind, Startup::Nothing, &[])
    }

    pub fn start(kind: ShellKind, startup: Startup, env: &[(&str, &str)]) -> Driven {
        let mut driven = Driven::launch(&shell(kind), startup, Style::Warm, env);
        assert_eq!(
            driven.next_report(),
            Some(Report::Ready),
            "{kind:?} comes up"
        );
        driven
    }

    pub fn launch(shell: &Shell, startup: Startup, style: Style, env: &[(&str, &str)]) -> Driven {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let pipes = (0..SLOTS)
            .map(|slot| make_pipes(dir.path(), slot))
            .collect();
        let argv = driver::argv(shell, startup, style, dir.path());
        let (request, child_request) = UnixStream::pair().expect("a socket pair");
        let (report, child_report) = UnixStream::pair().expect("a socket pair");
        let control = if argv.stdin_is_control {
            ""
        } else {
            "8<&0 </dev/null"
        };
        let script = format!(
            r#"d=$1 p=$2 n=$3; shift 3; exec -a "$n" "$p" "$@" {control} 9>&1 >"$d/so" 2>"$d/se""#
        );
        let mut words = argv.argv.iter().map(|word| os(word));
        let mut command = Command::new("/usr/bin/bash");
        command
            .args(["-c", &script, "wrapper"])
            .arg(dir.path())
            .arg(os(&argv.program));
        command.arg(words.next().expect("a name")).args(words);
        command.env("TZ", "UTC").envs(env.iter().copied());
        command.stdin(Stdio::from(OwnedFd::from(child_request)));
        command.stdout(Stdio::from(OwnedFd::from(child_report)));
        command.process_group(0);
        let child = command.spawn().expect("the shell starts");
        drop(command);
        let own_output = argv
            .own_output_is_commands
            .then(|| ["so", "se"].map(|name| wait_for_file(&dir.path().join(name))));
        Driven {
            kind: shell.kind,
            dir,
            child,
            seq: 0,
            cwd: Vec::new(),
            started: Vec::new(),
            request,
            report,
            parser: ReportParser::new(),
            pipes,
            own_output,
        }
    }

    /// Runs a command to its end.
    pub fn run(&mut self, command: &str) -> Outcome {
        self.run_with(Request { command, ..blank() })
    }

    /// Runs a command whose shell has to outlive it, and returns its output.
    pub fn out(&mut self, command: &str) -> String {
        let outcome = self.run(command);
        assert!(
            matches!(outcome.end, End::Done(_)),
            "{:?} {command}: {outcome:?}",
            self.kind
        );
        outcome.out
    }

    /// Runs a request; its number and nonce are given here.
    pub fn run_with(&mut self, request: Request<'_>) -> Outcome {
        self.begin(request);
        self.finish(request.slot)
    }

    pub fn begin(&mut self, request: Request<'_>) {
        self.seq += 1;
        let nonce = nonce(self.seq);
        let request = Request {
            seq: self.seq,
            nonce: &nonce,
            ..request
        };
        let encoded =
            encode_run(self.kind, self.dir.path(), &request).expect("the request can be encoded");
        self.send_encoded(&encoded);
    }

    pub fn send_encoded(&mut self, encoded: &Encoded) {
        if let Some(text) = &encoded.file {
            std::fs::write(self.dir.path().join(driver::command_name(self.seq)), text)
                .expect("the command's file can be written");
        }
        self.send(&encoded.message);
    }

    pub fn send(&mut self, message: &[u8]) {
        self.request.write_all(message).expect("the shell reads");
    }

    /// Closes our end of the request channel.
    pub fn hang_up(&mut self) {
        self.request
            .shutdown(std::net::Shutdown::Both)
            .expect("a socket can be shut down");
    }

    /// Waits for the end of the command that was begun.
    pub fn finish(&mut self, slot: u32) -> Outcome {
        let mut output = [Vec::new(), Vec::new()];
        let end = self.wait_for_end(slot, &mut output);
        self.drain(slot, &mut output);
        let [out, err] = output.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Outcome { end, out, err }
    }

    fn wait_for_end(&mut self, slot: u32, output: &mut [Vec<u8>; 2]) -> End {
        let begun = Instant::now();
        loop {
            assert!(
                begun.elapsed() < PATIENCE,
                "{:?} does not answer",
                self.kind
            );
            self.drain(slot, output);
            let Some(reports) = self.read_reports() else {
                return End::Died(code_of(self.child.wait().expect("it can be waited for")));
            };
            for report in reports {
                match report {
                    Report::Started { seq } => self.started.push(seq),
                    Report::Done {
                        seq,
                        nonce: its_nonce,
                        status,
                        cwd,
                    } => {
                        assert_eq!((seq, its_nonce), (self.seq, nonce(self.seq)));
                        self.cwd = cwd;
                        return End::Done(status);
                    }
                    Report::NoCwd { seq, .. } => {
                        assert_eq!(seq, self.seq);
                        return End::NoCwd;
                    }
                    other => panic!("an unexpected report: {other:?}"),
                }
            }
        }
    }

    /// The next report, or none where the shell is gone.
    pub fn next_report(&mut self) -> Option<Report> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let mut reports = self.read_reports()?;
            match reports.len() {
                0 => {}
                1 => return reports.pop(),
                _ => panic!("more than one report: {reports:?}"),
            }
        }
        panic!("{:?} does not answer", self.kind);
    }

    /// What has been reported now, waiting a little; none at the end.
    pub fn read_reports(&mut self) -> Option<Vec<Report>> {
        let mut ready = vec![PollFd::new(&self.report, PollFlags::IN)];
        for pair in &self.pipes {
            ready.extend(pair.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        }
        let wait = Timespec {
            tv_sec: 0,
            tv_nsec: 200_000_000,
        };
        poll(&mut ready, Some(&wait)).expect("it can be polled");
        let revents = ready[0].revents();
        if revents.is_empty() {
            return Some(Vec::new());
        }
        let mut bytes = [0; 4096];
        let count = self.report.read(&mut bytes).expect("reports can be read");
        if count == 0 {
            return None;
        }
        Some(
            self.parser
                .push(&bytes[..count])
                .expect("these are reports"),
        )
    }

    /// Takes what is in the pipes of an execution now.
    pub fn drain(&mut self, slot: u32, output: &mut [Vec<u8>; 2]) {
        let pair = &self.pipes[slot as usize];
        for (pipe, bytes) in pair.iter().zip(output.iter_mut()) {
            let mut buffer = [0; 65536];
            while let Ok(count) = rustix::io::read(pipe, &mut buffer[..]) {
                bytes.extend_from_slice(&buffer[..count]);
            }
        }
        for (file, bytes) in self.own_output.iter_mut().flatten().zip(output.iter_mut()) {
            file.read_to_end(bytes).expect("its own output can be read");
        }
    }

    /// Asks for the state of the shell.
    pub fn snapshot(&mut self) -> State {
        self.ask(Wanted::Whole).expect("the state is whole")
    }

    /// Asks for the state of the shell, if it has changed.
    pub fn change(&mut self) -> Option<State> {
        self.ask(Wanted::Changed)
    }

    fn ask(&mut self, wanted: Wanted) -> Option<State> {
        self.seq += 1;
        let message = driver::encode_snapshot(self.kind, self.seq, wanted);
        self.send(&message);
        assert_eq!(self.next_report(), Some(Report::State { seq: self.seq }));
        self.state(&driver::state_name(self.seq))
    }

    /// A state that the shell has left.
    pub fn state(&self, name: &str) -> Option<State> {
        parse_state(&std::fs::read(self.dir.path().join(name)).ok()?)
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        // The group is the shell's own, made in `launch`, and is not reused
        // before the shell has been waited for.
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// The nonce of a request, as long as those of the daemon: bash takes others in
/// another way.
pub fn nonce(seq: u64) -> String {
    format!("n{seq:0>width$}", width = driver::NONCE_BYTES - 1)
}

/// A request with nothing in it but what the daemon gives to every one.
pub fn blank() -> Request<'static> {
    Request {
        seq: 1,
        nonce: "n",
        slot: 0,
        tool_call_id: "call",
        cwd: None,
        env: &[],
        command: "",
    }
}

pub fn code_of(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn make_pipes(dir: &Path, slot: u32) -> [OwnedFd; 2] {
    driver::pipe_names(slot).map(|name| {
        let path = dir.join(name);
        rustix::fs::mkfifoat(CWD, &path, Mode::from_raw_mode(0o600)).expect("a pipe can be made");
        // For reading and writing, so that there is always a reader.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::open(&path, flags, Mode::empty()).expect("a pipe can be opened")
    })
}

fn wait_for_file(path: &Path) -> File {
    let begun = Instant::now();
    loop {
        match File::open(path) {
            Ok(file) => return file,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn os(bytes: &[u8]) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

/// The descriptors of a program that no driver has started, as `ls` says them:
/// the tests may have been started with some of their own.
pub fn plain_descriptors() -> String {
    let output = Command::new("ls")
        .arg("/proc/self/fd")
        .stdin(Stdio::null())
        .output()
        .expect("ls can be run");
    String::from_utf8(output.stdout).expect("numbers are text")
}
