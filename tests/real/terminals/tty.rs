//! A real terminal on our side, with the program in it.

use glass_vt::screen::{Screen, ScreenSize};
use rustix::pty::OpenptFlags;
use rustix::termios::{Termios, Winsize};
use shellglass_tests::{Daemon, PATIENCE};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A terminal with a command line of the program in it.
pub struct Tty {
    master: std::fs::File,
    slave: OwnedFd,
    child: Option<Child>,
    /// How the terminal treated its keys before the program had it.
    pub before: Termios,
    seen: Vec<u8>,
}

impl Tty {
    /// Starts `shellglass` with these arguments in a terminal of 80 by 30.
    pub fn start(daemon: &Daemon, arguments: &[&str]) -> Tty {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
        let mut tty = Tty {
            master: master.into(),
            before: rustix::termios::tcgetattr(&slave).unwrap(),
            slave,
            child: None,
            seen: Vec::new(),
        };
        tty.resize(80, 30);
        rustix::io::ioctl_fionbio(&tty.master, true).unwrap();
        tty.spawn(daemon, arguments);
        tty
    }

    fn spawn(&mut self, daemon: &Daemon, arguments: &[&str]) {
        let program = daemon.command();
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program.get_program());
        command
            .args(arguments)
            .env("SHELLGLASS_HOME", daemon.home());
        let end = || Stdio::from(self.slave.try_clone().unwrap());
        command.stdin(end()).stdout(end()).stderr(end());
        self.child = Some(command.spawn().unwrap());
    }

    /// How the terminal treats its keys.
    pub fn modes(&self) -> Termios {
        rustix::termios::tcgetattr(&self.slave).unwrap()
    }

    /// Whether keys come one by one and unseen.
    pub fn is_raw(&self) -> bool {
        use rustix::termios::LocalModes;
        let local = self.modes().local_modes;
        !local.intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Changes the size, of which the kernel tells the program.
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize {
            ws_col: columns,
            ws_row: rows,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&self.master, size).unwrap();
    }

    /// Types.
    pub fn type_in(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Types more than a terminal holds, and waits for it to be taken.
    pub fn pour(&mut self, mut keys: &[u8]) {
        let deadline = Instant::now() + PATIENCE;
        while !keys.is_empty() {
            match self.master.write(keys) {
                Ok(count) => keys = &keys[count..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    assert!(Instant::now() < deadline, "{} bytes wait", keys.len());
                    drop(self.text());
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => panic!("it takes no keys: {error}"),
            }
        }
    }

    /// What was shown so far.
    pub fn text(&mut self) -> String {
        let mut buffer = [0; 16 * 1024];
        while let Ok(count @ 1..) = self.master.read(&mut buffer) {
            self.seen.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// The lines of a screen of 80 by 30 that was shown all of it.
    pub fn lines(&mut self) -> Vec<String> {
        self.text();
        let (columns, rows) = (80, 30);
        let mut screen = Screen::new(ScreenSize { columns, rows });
        screen.feed(&self.seen);
        screen.text()
    }

    /// Waits until a line of the screen has all of these words.
    pub fn until_line(&mut self, words: &[&str]) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let lines = self.lines();
            let has_all = |line: &&String| words.iter().all(|word| line.contains(word));
            if let Some(line) = lines.iter().find(has_all) {
                return line.clone();
            }
            assert!(
                Instant::now() < deadline,
                "no line with {words:?} in\n{}",
                lines.join("\n")
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Forgets what was shown.
    pub fn forget(&mut self) {
        self.text();
        self.seen.clear();
    }

    /// Waits until this was shown.
    pub fn until(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.text().contains(text) {
            assert!(
                Instant::now() < deadline,
                "no '{text}' in {:?}",
                self.text()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The program's process.
    pub fn pid(&self) -> rustix::process::Pid {
        let id = self.child.as_ref().expect("it runs").id();
        rustix::process::Pid::from_raw(id.cast_signed()).expect("a process has a number")
    }

    /// Waits for the program; its status, or minus the signal that ended it.
    pub fn wait(&mut self) -> i32 {
        self.ended(|tty| drop(tty.text()))
    }

    /// The same, while nobody reads what the program shows.
    pub fn wait_unread(&mut self) -> i32 {
        self.ended(|_| {})
    }

    fn ended(&mut self, mut meanwhile: impl FnMut(&mut Tty)) -> i32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            meanwhile(self);
            let child = self.child.as_mut().expect("it runs");
            if let Some(status) = child.try_wait().unwrap() {
                self.child = None;
                let signal = status.signal().unwrap_or(0);
                return status.code().unwrap_or(-signal);
            }
            assert!(
                Instant::now() < deadline,
                "it does not end: {:?}",
                self.text().chars().rev().take(2_000).collect::<String>()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It is ours, and nobody waits for it any more.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
