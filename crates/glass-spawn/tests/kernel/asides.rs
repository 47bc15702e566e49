//! Programs that the daemon runs for itself.

use std::io::{self, Read};
use std::process::Command;
use std::time::{Duration, Instant};

use glass_spawn::{Aside, ProcessRef, Streams};

const SOON: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn output(streams: &mut Streams) -> String {
    let mut text = String::new();
    streams.stdout.read_to_string(&mut text).expect("text");
    text
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !happened() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_aside_says_how_it_ended() {
    for (script, code) in [
        ("exit 0", Some(0)),
        ("exit 9", Some(9)),
        ("kill -9 $$", None),
    ] {
        let (mut aside, _streams) = Aside::start(shell(script)).expect("started");
        let mut status = None;
        wait_until("its end", || match aside.status() {
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                false
            }
            Ok(ended) => {
                status = Some(ended.code());
                true
            }
        });
        assert_eq!(status, Some(code), "{script}");
        aside.end(SOON).expect("nothing was left");
        aside.reap().expect("reaped");
    }
}

#[test]
fn an_aside_that_cannot_be_executed_is_an_error() {
    let error = Aside::start(Command::new("/no/such/program")).expect_err("it is not there");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn an_aside_gets_no_descriptor_that_this_process_inherited() {
    let null = std::fs::File::open("/dev/null").expect("it is there");
    // Unlike everything that the standard library opens, this survives exec.
    let inherited = rustix::io::dup(&null).expect("a descriptor");
    let flags = rustix::io::fcntl_getfd(&inherited).expect("flags");
    assert!(!flags.contains(rustix::io::FdFlags::CLOEXEC));
    let (aside, mut streams) = Aside::start(shell("echo /proc/$$/fd/*")).expect("started");
    let names = output(&mut streams);
    let numbers = names
        .split_whitespace()
        .filter_map(|name| name.rsplit('/').next());
    // A shell may read its own folder by one more, above 9.
    let numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
    assert_eq!(numbers[..3], [0, 1, 2], "{names}");
    assert!(numbers.len() <= 4, "{names}");
    aside.end(SOON).expect("ended");
    aside.reap().expect("reaped");
}

#[test]
fn an_aside_ends_with_the_thread_that_started_it() {
    let starting = std::thread::spawn(|| {
        let script = "sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; wait";
        let (aside, mut streams) = Aside::start(shell(script)).expect("started");
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            let mut byte = [0];
            streams.stdout.read_exact(&mut byte).expect("a number");
            line.extend(byte);
        }
        let background = String::from_utf8_lossy(&line)
            .trim()
            .parse()
            .expect("a number");
        let background = ProcessRef::of(background).expect("it runs");
        let shell = aside.process();
        assert!(shell.is_alive() && background.is_alive());
        // As if the daemon had been killed: nobody ends anything.
        (aside, streams, background)
    });
    let (aside, _streams, background) = starting.join().expect("started");
    let shell = aside.process();
    wait_until("the shell's end", || !shell.is_alive());
    wait_until("the end of what it started", || !background.is_alive());
    aside.reap().expect("reaped");
}
