//! The other host is this one, and `ssh` a shell here.

use super::call::{Answer, Reached, call};
use super::words::Words;
use super::{DIRECTORY, carry};
use crate::end::End;
use crate::relay::{CANCEL, RelayOrder, secret};
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for what takes a moment.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a script takes itself, as what is sent does.
const TAKEN: &str = "mv \"$sg_dir/run\" \"$sg_dir/begun\" || exit 125; rm -rf \"$sg_dir\"\n";

fn words_of(texts: &[&str]) -> Vec<OsString> {
    texts.iter().map(OsString::from).collect()
}

/// Whether something with this in it is in a directory of ours.
fn is_left(mark: &str) -> bool {
    let all = fs::read_dir("/tmp").expect("there is a /tmp");
    let ours = all.filter_map(|entry| Some(entry.ok()?.path()));
    ours.filter(|path| path.to_string_lossy().starts_with(DIRECTORY))
        .any(|path| {
            let files = fs::read_dir(path).into_iter().flatten();
            let mut texts = files.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok());
            texts.any(|text| text.contains(mark))
        })
}

/// An order for a way there and what has the terminal.
fn order(way: &[&str], terminal: &[&str]) -> RelayOrder {
    RelayOrder {
        dir: "/".into(),
        number: 1,
        log: "/no/such/log".into(),
        input: false,
        terminal: Some(way.len()),
        ssh: [words_of(way), words_of(terminal)].concat(),
    }
}

/// Carries a script that has this mark; `way` leads there, and `terminal` is what runs
/// the last word that it is given.
fn carried(way: &[&str], terminal: &[&str], script: &str, mark: &str) -> End {
    let (_ours, theirs) = UnixStream::pair().expect("there are sockets");
    let order = order(way, terminal);
    let script = format!("{script}\n# {mark}\n");
    carry(&order, script.as_bytes(), way.len(), theirs.as_fd()).expect("it is known")
}

#[test]
fn what_was_not_begun_is_told_so_and_leaves_nothing() {
    let way = ["sh", "-s"];
    let mark = secret().expect("it is random");
    let refused = ["sh", "-c", "exit 255"];
    let end = carried(&way, &refused, TAKEN, &mark);
    assert_eq!(end, End::NotBegun("ssh did not say why".to_owned()));
    assert!(!is_left(&mark), "refused");
    let end = carried(&way, &["/no/such/ssh"], TAKEN, &mark);
    assert!(
        matches!(&end, End::NotBegun(why) if why.starts_with("ssh does not start: ")),
        "{end:?}"
    );
    assert!(!is_left(&mark), "not started");
    let ended = ["sh", "-c", "kill -9 $$"];
    let end = carried(&way, &ended, TAKEN, &mark);
    assert_eq!(end, End::NotBegun("ssh was ended".to_owned()));
    assert!(!is_left(&mark), "ended");
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let mark = secret().expect("it is random");
    // A file may have no more than this many blocks.
    let way = ["sh", "-c", "trap '' XFSZ; ulimit -f 1; exec sh -s"];
    let script = format!("{TAKEN}{}", format!("# {mark}\n").repeat(4_000));
    let end = carried(&way, &["sh", "-c"], &script, &mark);
    assert!(matches!(end, End::NotBegun(_)), "{end:?}");
    assert!(!is_left(&mark));
}

#[test]
fn an_end_in_doubt_is_asked_about() {
    let way = ["sh", "-c", "echo noise; exec sh -s"];
    let mark = secret().expect("it is random");
    for (then, expected) in [
        ("exit 7", End::Exited(7)),
        (
            "mkdir \"$sg_dir\"; echo 255 >\"$sg_dir/code\"; exit 255",
            End::Exited(255),
        ),
        ("exit 255", End::Lost("ssh did not say why".to_owned())),
    ] {
        let script = format!("{TAKEN}{then}");
        assert_eq!(carried(&way, &["sh", "-c"], &script, &mark), expected);
        assert!(!is_left(&mark), "{then}");
    }
}

/// Waits for this, though not for ever.
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn who_is_told_to_stop_ends_what_ignores_a_hang_up() {
    let (mut ours, theirs) = UnixStream::pair().expect("there are sockets");
    let begun = std::env::temp_dir().join(format!("begun-{}", secret().expect("it is random")));
    let script = format!(
        "{TAKEN}export SHELLGLASS_REMOTE_ID=$sg_id\n\
         sh -c 'trap \"\" HUP TERM; echo $$ >{0}.new; mv {0}.new {0}; while :; do sleep 1; done'\n",
        begun.display()
    );
    let order = order(&["sh", "-s"], &["sh", "-c"]);
    let waiting = std::thread::spawn(move || carry(&order, script.as_bytes(), 2, theirs.as_fd()));
    wait_for("it runs", || begun.exists());
    let pid = fs::read_to_string(&begun).expect("it has a number");
    fs::remove_file(&begun).expect("it was there");
    ours.write_all(CANCEL).expect("it listens");
    let end = waiting.join().expect("it ends").expect("it is known");
    assert_eq!(end, End::Stopped(Some(0)));
    let command_line = fs::read(Path::new("/proc").join(pid.trim()).join("cmdline"));
    assert!(command_line.unwrap_or_default().is_empty(), "it still runs");
}

#[test]
fn who_is_told_to_stop_before_a_shell_answered_has_left_nothing_there() {
    let (mut ours, theirs) = UnixStream::pair().expect("there are sockets");
    ours.write_all(CANCEL).expect("it listens");
    let order = order(&["sleep", "100"], &["sh", "-c"]);
    let end = carry(&order, TAKEN.as_bytes(), 2, theirs.as_fd()).expect("it is known");
    assert_eq!(end, End::Stopped(Some(0)));
}

/// Has a shell read a script of a mebibyte, of which the last line says something.
fn called(shell: &str, quiet: Duration) -> Answer {
    let (_ours, theirs) = UnixStream::pair().expect("there are sockets");
    let mut script = "# nothing but words\n".repeat(50_000).into_bytes();
    script.extend_from_slice(b"echo; echo last\n");
    let mut words = Words::new(theirs.as_fd());
    let way = words_of(&["sh", "-c", shell]);
    call(&way, "secret", &script, quiet, &mut words).expect("it was called")
}

#[test]
fn more_than_a_pipe_holds_passes_both_ways_at_once() {
    let loud = "sh -s; head -c 1000000 /dev/zero | tr '\\0' n; echo; echo at last";
    let answer = called(loud, PATIENCE);
    assert!(
        matches!(&answer, Answer::Said(said) if said == "at last"),
        "{answer:?}"
    );
    // It talks before it listens.
    let loud = "head -c 1000000 /dev/zero | tr '\\0' n; exec sh -s";
    let answer = called(loud, PATIENCE);
    assert!(
        matches!(&answer, Answer::Said(said) if said == "last"),
        "{answer:?}"
    );
}

#[test]
fn who_does_not_read_or_answer_is_not_waited_for_for_ever() {
    let short = Duration::from_millis(200);
    for (shell, reached) in [
        ("exec sleep 100", Reached::Nobody),
        ("read -r x; eval \"$x\"; exec sleep 100", Reached::Shell),
    ] {
        let answer = called(shell, short);
        assert!(
            matches!(answer, Answer::Failed(as_far) if as_far == reached),
            "{shell} {answer:?}"
        );
    }
}
