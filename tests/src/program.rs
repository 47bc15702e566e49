//! The program as a person uses it: command lines, what they print, and how
//! they exit.

use crate::{Daemon, PATIENCE, assert_no_panic, end_everything_under, processes, program};
use std::io::Read;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How a command line went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Its exit status, or minus the signal that ended it.
    pub status: i32,
    /// The bytes of its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: String,
}

impl Ran {
    /// Standard output as text.
    pub fn out(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("it printed text")
    }

    /// Checks that it exited with this status and says what to do next; gives
    /// what it said.
    pub fn failed_with(&self, status: i32) -> &str {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.stdout, b"", "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        assert!(self.stderr.contains("\nhint: "), "{self:?}");
        &self.stderr
    }

    /// Checks that it succeeded and said nothing on standard error; gives its
    /// standard output.
    pub fn quiet(&self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{self:?}");
        self.out()
    }
}

/// Waits for a process whose standard output and standard error are pipes.
pub fn finish(mut child: Child) -> Ran {
    let out = child.stdout.take().map(gather);
    let err = child.stderr.take().map(gather);
    let deadline = Instant::now() + PATIENCE * 2;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            // It is ours, and it hangs.
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("a command line does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let joined = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
        reader.map_or_else(Vec::new, |reader| reader.join().unwrap())
    };
    Ran {
        status: status
            .code()
            .unwrap_or_else(|| -status.signal().unwrap_or(0)),
        stdout: joined(out),
        stderr: String::from_utf8_lossy(&joined(err)).into_owned(),
    }
}

fn gather(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A process that was killed may leave its pipe to others.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Runs a command to its end.
pub fn ran(command: &mut Command) -> Ran {
    finish(piped(command))
}

/// Starts a command with pipes for what it prints.
pub fn piped(command: &mut Command) -> Child {
    let command = command.stdin(Stdio::null());
    let started = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    started.expect("the program can be started")
}

/// Sends a signal to a process.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("a process has a number"), signal)
        .expect("a process of ours can be signalled");
}

/// Whether a process lives; one that only waits to be reaped does not.
pub fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
    !matches!(state, Some(b'Z' | b'X'))
}

/// The first port that is tried, below those that the kernel gives to whoever
/// names none.
const PORT_FIRST: u16 = 10_000;

/// A port that is free now and, because nobody gets it by chance, stays so.
pub fn free_port() -> u16 {
    use std::sync::atomic::{AtomicU16, Ordering};
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let of_process = u16::try_from(std::process::id() % 199).expect("it is below 199") * 100;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) % 2_000;
        let port = PORT_FIRST + of_process + step;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until a condition holds, outside of any runtime.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(
            Instant::now() < deadline,
            "this did not come to pass: {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Daemon {
    /// Runs a command line against this daemon.
    pub fn cli(&self, arguments: &[&str]) -> Ran {
        ran(self.line().args(arguments))
    }

    /// A command line against this daemon, in its home directory.
    pub fn line(&self) -> Command {
        line_in(self.home())
    }
}

/// A home directory without a daemon; whatever is started in it ends with it.
pub struct Home(TempDir);

impl Default for Home {
    fn default() -> Home {
        let dir = tempfile::Builder::new().prefix("sg-").tempdir_in("/tmp");
        Home(dir.unwrap())
    }
}

impl Home {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A command line of the program in this home.
    pub fn line(&self) -> Command {
        line_in(self.path())
    }

    /// Runs a command line in this home.
    pub fn cli(&self, arguments: &[&str]) -> Ran {
        ran(self.line().args(arguments))
    }

    /// Writes the configuration.
    pub fn configure(&self, config: &str) {
        std::fs::create_dir_all(self.path().join("config")).unwrap();
        std::fs::write(self.path().join("config/config.toml"), config).unwrap();
    }

    /// The daemons that run in this home.
    pub fn daemons(&self) -> Vec<u32> {
        let pid_of = |(pid, line): (u32, String)| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let home = format!("SHELLGLASS_HOME={}\0", self.path().display());
            let is_here = environment
                .windows(home.len())
                .any(|window| window == home.as_bytes());
            (line.contains(" serve") && is_here).then_some(pid)
        };
        processes().into_iter().filter_map(pid_of).collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.path().join("data/daemon.log"));
            eprintln!("--- the daemon's log ---\n{}", log.unwrap_or_default());
        }
        for pid in self.daemons() {
            let pid = i32::try_from(pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            if let Some(pid) = pid {
                // It may be gone already.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        end_everything_under(self.path());
        let log = std::fs::read_to_string(self.path().join("data/daemon.log"));
        assert_no_panic(&log.unwrap_or_default());
    }
}

/// The program with nothing of this machine's configuration around it.
fn line_in(home: &Path) -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SHELLGLASS") {
            command.env_remove(name);
        }
    }
    command
        .env("SHELLGLASS_HOME", home)
        .env("HOME", home)
        .env("PWD", home)
        .env("SHELL", "/bin/bash")
        // As the daemons of other tests have it, for those that this starts.
        .env("SHELLGLASS_SANDBOX_DEFAULT", "none")
        .env("SHELLGLASS_SANDBOX_AGENT", "none")
        .current_dir(home);
    command
}
