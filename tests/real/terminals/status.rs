//! The status line of `attach`: the last row of a terminal that is tall enough.

use super::tty::Tty;
use super::viewer::terminal;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, PATIENCE, TestSession};
use std::time::{Duration, Instant};

/// The last row of a terminal of 80 by 30.
const LAST: usize = 29;

/// Waits until the last row has all of these words; gives all rows.
fn until_said(tty: &mut Tty, words: &[&str]) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let lines = tty.lines();
        if words.iter().all(|word| lines[LAST].contains(word)) {
            return lines;
        }
        assert!(
            Instant::now() < deadline,
            "no {words:?} in\n{}",
            lines.join("\n")
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_row_says_what_runs_where_and_why_it_is_quiet() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    tty.until(">");
    tty.type_in("git init -q -b trunk repository && cd repository\r");
    until_said(&mut tty, &["✓ git init", "/repository", "trunk"]);
    tty.type_in("stty size; seq 100; sleep 600\r");
    let lines = until_said(&mut tty, &["sleep 600", " s  ·  ", "/repository", "trunk"]);
    assert_eq!(lines[LAST - 2..LAST], ["100", ""], "{lines:?}");
    tty.type_in("\x03");
    tty.type_in("stty size\r");
    tty.until_line(&["29 80"]);
    tty.type_in("stty -echo; cat; stty echo\r");
    until_said(&mut tty, &["asks for a password"]);
    tty.type_in("\x04exit\r");
    assert_eq!(tty.wait(), 0);
    assert!(!tty.lines().join("\n").contains("trunk"), "it is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_do_not_get_to_the_last_row() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    tty.until(">");
    for (number, sequences) in [
        "\\033c",
        "\\033[2J\\033[H",
        "\\033[r\\033[999;1Hlow\\n\\n",
        "\\033[?1049h\\033[2J\\033[99;1Hlow\\n\\n\\033[?1049l",
        "\\033[1;99r\\033[99Blow\\n",
        "\\033#8\\033[!p\\033[H\\033[J",
    ]
    .iter()
    .enumerate()
    {
        tty.type_in(&format!("printf '{sequences}'; echo do''ne {number}\r"));
        tty.until_line(&[&format!("done {number}")]);
        let lines = until_said(&mut tty, &["✓ printf"]);
        let done = format!("done {number}");
        let above = &lines[..LAST];
        assert!(above.iter().any(|line| line.ends_with(&done)), "{lines:?}");
    }
    tty.type_in("vim -n -u NONE\r");
    until_said(&mut tty, &["vim -n", "waits for keys"]);
    tty.type_in(":!true\r\r:q\r");
    until_said(&mut tty, &["✓ vim"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn mirrors_have_a_status_line_and_their_own_history_too() {
    let daemon = Daemon::start("");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    session.run("seq 100").await;
    let mut tty = Tty::start(&daemon, &["attach", &session.id]);
    until_said(&mut tty, &["✓ seq 100"]);
    session.run("echo a''fter; false").await;
    let lines = until_said(&mut tty, &["✗ 1 echo a''fter"]);
    assert_eq!(lines[LAST - 2..LAST], ["after", "$"], "{lines:?}");
    tty.type_in("\x1d");
    assert_eq!(tty.wait(), 0);
    assert!(!tty.lines().join("\n").contains("✗ 1"), "it is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_terminal_and_one_that_wants_none_have_every_row() {
    let daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut tty = Tty::start(&daemon, &["attach", "--write", "--no-status", &session.id]);
    tty.until(">");
    tty.type_in("stty size\r");
    tty.until_line(&["30 80"]);
    assert!(!tty.text().contains("\x1b[7m"));
    tty.type_in("\x1d");
    assert_eq!(tty.wait(), 0);
    let mut tty = Tty::start(&daemon, &["attach", "--write", &session.id]);
    until_said(&mut tty, &["✓ stty size"]);
    tty.resize(80, 9);
    let deadline = Instant::now() + PATIENCE;
    while !tty.text().contains("9 80\r\n") {
        assert!(Instant::now() < deadline, "{:?}", tty.text());
        tty.type_in("stty size\r");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
