//! Children on a terminal of their own.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use glass_model::WaitStatus;
use glass_spawn::{Launch, terminal};

use crate::fixture::{Home, PATIENCE, launch};
use crate::walls::Ground;

/// Our end of a child's terminal, and all that came out of it.
struct Desk {
    master: File,
    seen: String,
}

impl Desk {
    /// Puts a launch on a terminal of 81 columns and 27 rows.
    fn seat(launch: &mut Launch) -> Desk {
        let pair = terminal::open(81, 27).expect("a terminal");
        let copy = |fd: &OwnedFd| fd.try_clone().expect("a copy");
        launch.child_fds = vec![
            (0, copy(&pair.slave)),
            (1, copy(&pair.slave)),
            (2, pair.slave),
        ];
        launch.held = vec![("tty".to_owned(), copy(&pair.master))];
        launch.plan.takes_terminal = true;
        Desk {
            master: pair.master.into(),
            seen: String::new(),
        }
    }

    /// Reads until this was said.
    fn until(&mut self, words: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.seen.contains(words) {
            assert!(Instant::now() < deadline, "no '{words}' in {:?}", self.seen);
            let mut buffer = [0; 4096];
            match self.master.read(&mut buffer) {
                Ok(count) => self.seen += &String::from_utf8_lossy(&buffer[..count]),
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    fn type_in(&mut self, keys: &str) {
        self.master
            .write_all(keys.as_bytes())
            .expect("there is room");
    }
}

/// Says what a terminal is for, and waits for a Ctrl+C.
const SCRIPT: &str = "trap 'echo interrupted; exit 5' INT; tty >/dev/null && stty size; \
    : </dev/tty && echo controlled; read -r line; echo \"got $line\"; sleep 60";

async fn is_a_terminal(home: &mut Home, mut launch: Launch) {
    let mut desk = Desk::seat(&mut launch);
    let launched = home.keeper.spawn(launch).await.expect("it starts");
    desk.until("27 81\r\n");
    desk.until("controlled\r\n");
    assert_eq!(terminal::foreground(&desk.master), Some(launched.child.pid));
    desk.type_in("some words\n");
    desk.until("got some words\r\n");
    desk.type_in("\x03");
    desk.until("interrupted\r\n");
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(5));
}

#[tokio::test]
async fn a_child_has_the_terminal_that_it_is_given() {
    let mut home = Home::new().await;
    is_a_terminal(&mut home, launch(&["/bin/bash", "-c", SCRIPT])).await;
}

#[tokio::test]
async fn a_child_behind_walls_has_the_terminal_that_it_is_given() {
    let mut ground = Ground::new().await;
    let script = SCRIPT.replace("tty >/dev/null", "[ -t 0 ]");
    let launch = ground.launch(ground.walls(Vec::new()), &script);
    is_a_terminal(&mut ground.home, launch).await;
}

#[tokio::test]
async fn a_terminal_stays_open_while_the_keeper_holds_it() {
    let mut home = Home::new().await;
    let mut ask = launch(&[
        "/bin/bash",
        "-c",
        "echo begun; read -r line; echo \"got $line\"",
    ]);
    let mut desk = Desk::seat(&mut ask);
    let launched = home.keeper.spawn(ask).await.expect("it starts");
    desk.until("begun\r\n");
    drop(desk);
    home.reconnect().await;
    let held = home.keeper.adopt(launched.id).await.expect("it is held");
    let (label, master) = held.into_iter().next().expect("one descriptor");
    assert_eq!(label, "tty");
    let mut desk = Desk {
        master: master.into(),
        seen: String::new(),
    };
    desk.type_in("later\n");
    desk.until("got later\r\n");
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(0));
}
