//! A keeper for one test, and the means to look at what it does.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use glass_model::{LaunchPlan, WaitStatus};
use glass_spawn::tree::{self, Manner, Scope, TreeEnd};
use glass_spawn::{Keeper, KeeperEvent, Launch, Launched, ProcessRef, SpawnError, start_keeper};
use tokio::sync::mpsc;

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A keeper in its own directory; everything below it ends with this.
pub struct Home {
    pub keeper: Keeper,
    pub events: mpsc::Receiver<KeeperEvent>,
    process: ProcessRef,
    directory: tempfile::TempDir,
}

/// Starts a keeper at this socket, or finds it.
pub async fn start(socket: &Path, idle: Duration) -> (Keeper, mpsc::Receiver<KeeperEvent>) {
    start_with(socket, idle, &[]).await
}

/// The same, with these variables in its environment.
pub async fn start_with(
    socket: &Path,
    idle: Duration,
    variables: &[OsString],
) -> (Keeper, mpsc::Receiver<KeeperEvent>) {
    let mut variable = OsString::from("GLASS_TEST_SOCKET=");
    variable.push(socket);
    let exe = std::env::current_exe().expect("this program");
    let args: Vec<OsString> = [
        variable,
        format!("GLASS_TEST_IDLE_MS={}", idle.as_millis()).into(),
    ]
    .into_iter()
    .chain(variables.iter().cloned())
    .chain([exe.into()])
    .chain(["keeper_process", "--exact", "--ignored", "--test-threads=1"].map(OsString::from))
    .collect();
    let log = socket.with_extension("log");
    let log = Some(log.as_path()).filter(|log| log.parent().is_some_and(Path::exists));
    start_keeper(Path::new("/usr/bin/env"), &args, socket, log, PATIENCE)
        .await
        .expect("a keeper")
}

impl Home {
    pub async fn new() -> Home {
        Home::with_idle(Duration::from_secs(30)).await
    }

    pub async fn with_idle(idle: Duration) -> Home {
        Home::with(idle, &[]).await
    }

    /// A keeper with these variables in its environment.
    pub async fn with(idle: Duration, variables: &[OsString]) -> Home {
        let directory = tempfile::tempdir().expect("a directory");
        let socket = directory.path().join("run/k");
        let (keeper, events) = start_with(&socket, idle, variables).await;
        let process = ProcessRef::of(keeper.pid()).expect("the keeper runs");
        Home {
            keeper,
            events,
            process,
            directory,
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("run/k")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn keeper_process(&self) -> ProcessRef {
        self.process
    }

    /// Drops the connection and makes a new one, as a restarted daemon does.
    pub async fn reconnect(&mut self) {
        let (keeper, events) = Keeper::connect(&self.socket()).await.expect("a connection");
        (self.keeper, self.events) = (keeper, events);
    }

    /// Starts a shell script whose standard output is the pipe that is given.
    pub async fn script(&self, shell: &str, script: &str) -> (Launched, File) {
        let (read, write) = pipe();
        let mut launch = launch(&[shell, "-c", script]);
        launch.child_fds.push((1, write));
        (self.keeper.spawn(launch).await.expect("it starts"), read)
    }

    pub async fn bash(&self, script: &str) -> (Launched, File) {
        self.script("/bin/bash", script).await
    }

    pub async fn next_event(&mut self) -> KeeperEvent {
        let next = tokio::time::timeout(PATIENCE, self.events.recv());
        next.await
            .expect("an event in time")
            .expect("events until the connection is lost")
    }

    /// The status of a launch's child, once it has ended.
    pub async fn exit_of(&mut self, launched: &Launched) -> WaitStatus {
        loop {
            if let KeeperEvent::Exited { id, status, .. } = self.next_event().await
                && id == launched.id
            {
                return status;
            }
        }
    }

    pub async fn emptied(&mut self, launched: &Launched) {
        while self.next_event().await != (KeeperEvent::Emptied { id: launched.id }) {}
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let below = tree::descendants(&self.process);
            if below.iter().all(|process| process.dead) || Instant::now() > deadline {
                break;
            }
            for process in below {
                let _ = process.as_ref().stop();
                let _ = process.as_ref().kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // It leaves by itself, with time to tidy up.
        let _ = self.process.signal(15);
        while self.process.is_alive() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.process.kill();
    }
}

pub fn launch(argv: &[&str]) -> Launch {
    Launch {
        plan: LaunchPlan {
            program: argv[0].as_bytes().to_vec(),
            argv: argv.iter().map(|arg| arg.as_bytes().to_vec()).collect(),
            env: vec![b"PATH=/usr/local/bin:/usr/bin:/bin".to_vec()],
            cwd: b"/".to_vec(),
            cgroup: String::new(),
            ..LaunchPlan::default()
        },
        child_fds: Vec::new(),
        held: Vec::new(),
        tag: Vec::new(),
        walls_control: None,
    }
}

pub fn pipe() -> (File, OwnedFd) {
    let (read, write) = std::io::pipe().expect("a pipe");
    (File::from(OwnedFd::from(read)), write.into())
}

/// Reads until the other side is closed everywhere.
pub async fn read_all(mut file: File) -> String {
    let reading = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        file.read_to_string(&mut text).map(|_| text)
    });
    let text = tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("the pipe closes in time");
    text.expect("no panic").expect("text")
}

/// Reads one line, so that the writer is known to have got there.
pub async fn read_line(file: &File) -> String {
    let mut file = file.try_clone().expect("a copy");
    let reading = tokio::task::spawn_blocking(move || {
        let mut line = Vec::new();
        let mut byte = [0];
        while file.read(&mut byte).is_ok_and(|n| n == 1) && byte != *b"\n" {
            line.push(byte[0]);
        }
        String::from_utf8(line)
    });
    let line = tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("a line in time");
    line.expect("no panic").expect("text")
}

pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub async fn end(order: TreeEnd) -> Result<tree::Ended, tree::EndError> {
    tokio::task::spawn_blocking(move || tree::end(&order))
        .await
        .expect("no panic")
}

pub fn all_of(launched: &Launched, manner: Manner) -> TreeEnd {
    TreeEnd {
        reaper: launched.reaper,
        child: launched.child,
        init: launched.init,
        shell: None,
        cgroup: launched.cgroup.clone(),
        scope: Scope::Everything,
        manner,
        deadline: PATIENCE,
    }
}

pub fn living_below(launched: &Launched) -> Vec<ProcessRef> {
    let below = tree::descendants(&launched.reaper);
    below
        .iter()
        .filter(|process| !process.dead)
        .map(tree::Process::as_ref)
        .collect()
}

pub fn failure(result: Result<Launched, SpawnError>) -> SpawnError {
    result.expect_err("it cannot start")
}
