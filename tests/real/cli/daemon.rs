//! The daemon behind the command line: started when needed, stopped without
//! harm, lost without loss.

use rustix::process::Signal;
use serde_json::Value;
use shellglass_tests::Daemon;
use shellglass_tests::program::{Home, finish, is_alive, piped, signal, wait_until};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::net::UnixStream;

#[test]
fn run_starts_a_daemon_when_none_runs() {
    let home = Home::default();
    assert_eq!(home.cli(&["run", "echo first"]).quiet(), "first\n");
    let daemons = home.daemons();
    assert_eq!(daemons.len(), 1);
    assert_eq!(home.cli(&["run", "echo second"]).quiet(), "second\n");
    assert_eq!(home.daemons(), daemons);
}

#[test]
fn many_first_runs_start_one_daemon() {
    let home = Home::default();
    let children: Vec<_> = (0..12)
        .map(|number| piped(home.line().args(["run", &format!("echo {number}")])))
        .collect();
    for (number, child) in children.into_iter().enumerate() {
        assert_eq!(finish(child).quiet(), format!("{number}\n"));
    }
    wait_until("one daemon is left", || home.daemons().len() == 1);
}

#[test]
fn detach_returns_when_the_daemon_answers() {
    let home = Home::default();
    let said = home.cli(&["serve", "--detach"]).quiet();
    assert_eq!(said.lines().count(), 1, "{said}");
    let socket = home.path().join("run/daemon.sock");
    assert!(
        said.contains(&format!("unix:{}", socket.display())),
        "{said}"
    );
    UnixStream::connect(&socket).expect("it is ready");
    let pid = std::fs::read_to_string(home.path().join("run/daemon.pid")).unwrap();
    assert_eq!(home.daemons(), [pid.trim().parse::<u32>().unwrap()]);
    home.cli(&["serve", "--detach"]).failed_with(1);
    home.cli(&["serve"]).failed_with(1);
    assert_eq!(home.cli(&["run", "echo fine"]).quiet(), "fine\n");
}

#[test]
fn a_daemon_with_a_tcp_address_says_the_token() {
    let home = Home::default();
    let said = home
        .cli(&["serve", "--detach", "--listen", "127.0.0.1:0"])
        .quiet();
    let (address, token) = said.trim().rsplit_once("/#token=").expect(&said);
    let address = address.rsplit_once("http://").expect(&said).1;
    std::net::TcpStream::connect(address).expect("it listens there");
    let kept = std::fs::read_to_string(home.path().join("data/person.token")).unwrap();
    assert_eq!(kept.trim(), token);
}

#[test]
fn page_names_the_daemons_own_address_and_starts_it() {
    let home = Home::default();
    home.configure("[daemon]\nlisten = \"127.0.0.1:0\"\n");
    let told: Value = serde_json::from_str(&home.cli(&["page", "--json"]).quiet()).unwrap();
    let address = told["address"].as_str().unwrap();
    let listening = address.strip_prefix("http://").expect(address);
    std::net::TcpStream::connect(listening).expect("it listens there");
    assert_eq!(home.daemons().len(), 1);
    let file = told["personTokenFile"].as_str().unwrap();
    let token = std::fs::read_to_string(file).unwrap();
    assert!(!told.to_string().contains(token.trim()), "{told}");
    let said = home.cli(&["page"]).quiet();
    assert_eq!(said, format!("{address}/#token={}\n", token.trim()));
}

#[test]
fn page_says_that_there_is_none() {
    let home = Home::default();
    home.configure("[daemon]\nlisten = \"none\"\n");
    let said = home.cli(&["page"]);
    assert!(said.failed_with(1).contains("hint: "), "{said:?}");
}

#[test]
fn serve_in_the_foreground_ends_with_its_signal() {
    for how in [Signal::TERM, Signal::INT] {
        let home = Home::default();
        let mut child = piped(home.line().arg("serve"));
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("shellglass: listening on unix:"), "{line}");
        signal(child.id(), how);
        let ran = finish(child);
        assert_eq!(ran.status, 0, "{ran:?}");
        out.read_to_string(&mut line).unwrap();
        assert_eq!(line.lines().count(), 1);
        assert!(!home.path().join("run/daemon.sock").exists());
        assert!(!home.path().join("run/daemon.pid").exists());
    }
}

#[test]
fn commands_outlive_a_daemon_that_is_stopped() {
    let home = Home::default();
    let id = home.cli(&["session", "create"]).quiet();
    let id = id.trim();
    let command = "echo $$; until test -e go; do sleep 0.01; done; echo went; exit 6";
    let mut child = piped(home.line().args(["run", "--session", id, command]));
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut pid = String::new();
    out.read_line(&mut pid).unwrap();
    let process: u32 = pid.trim().parse().unwrap();
    let daemon = home.daemons()[0];
    signal(daemon, Signal::TERM);
    wait_until("the daemon has gone", || !home.daemons().contains(&daemon));
    assert!(is_alive(process), "the command goes on");
    // The one that waits for it finds it again, in a daemon that it starts.
    wait_until("another daemon runs", || home.daemons().len() == 1);
    assert!(is_alive(process));
    std::fs::write(home.path().join("go"), "").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "went\n");
    assert_eq!(finish(child).status, 6);
    let history = home.cli(&["history", id, "--json"]).quiet();
    let history: Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history["executions"].as_array().unwrap().len(), 1);
    assert_eq!(history["executions"][0]["exitCode"], 6);
}

#[test]
fn run_goes_on_when_the_daemon_is_lost() {
    let mut daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create"]).quiet();
    for flags in [
        &[][..],
        &["--session", id.trim()][..],
        &["--mode", "line"][..],
    ] {
        let command = "echo x >>ran; for i in $(seq 200); do echo $i; sleep 0.01; done; exit 9";
        let mut child = piped(daemon.line().arg("run").args(flags).arg(command));
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        for _ in 0..4 {
            for _ in 0..20 {
                out.read_line(&mut text).unwrap();
            }
            daemon.crash_and_restart();
        }
        out.read_to_string(&mut text).unwrap();
        let expected: String = (1..=200).map(|number| format!("{number}\n")).collect();
        assert_eq!(text, expected, "{flags:?}");
        assert_eq!(finish(child).status, 9, "{flags:?}");
        let ran = std::fs::read_to_string(daemon.home().join("ran")).unwrap();
        assert_eq!(ran, "x\n", "{flags:?}");
        std::fs::remove_file(daemon.home().join("ran")).unwrap();
    }
}

#[test]
fn a_result_as_json_survives_the_daemon() {
    let mut daemon = Daemon::start("");
    let command = "touch begun; until test -e go; do sleep 0.01; done; echo went; exit 9";
    let child = piped(daemon.line().args(["run", "--json", command]));
    let begun = daemon.home().join("begun");
    wait_until("the command has begun", || begun.exists());
    daemon.crash_and_restart();
    std::fs::write(daemon.home().join("go"), "").unwrap();
    let ran = finish(child);
    assert_eq!(ran.status, 9, "{ran:?}");
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(printed["failure"]["stdout"], "went\n");
}
