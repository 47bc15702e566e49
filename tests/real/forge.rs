//! A command cannot forge its own end, nor anybody else's: what it prints goes
//! nowhere near the boundary, and what it or its programs send to the control
//! channels is not believed.

use crate::matrix::{Case, each_case};
use glass_proto::shellglass::v1::SessionMode;
use glass_proto::shellglass::v1::session_event::Event;
use shellglass_tests::{Daemon, TestSession, exists};
use std::collections::HashMap;

/// Everything that began has ended exactly once.
async fn every_execution_ended_once(session: &TestSession) {
    let mut ends: HashMap<u32, usize> = HashMap::new();
    for event in session.events().await {
        match event.event {
            Some(Event::CommandStart(_)) => drop(ends.entry(event.shell_id).or_default()),
            Some(Event::Exit(_)) => *ends.entry(event.shell_id).or_default() += 1,
            _ => {}
        }
    }
    assert!(!ends.is_empty());
    assert!(ends.values().all(|count| *count == 1), "{ends:?}");
}

/// Runs a command that ends with 7, whatever it claims, and then another one.
async fn claims_in_vain(case: &Case, command: &str) {
    let result = case.session.stream(command).await;
    let what = format!("{} {:?} {command:.90}: {result:?}", case.shell, case.mode);
    assert_eq!((result.code, result.ends), (Some(7), 1), "{what}");
    assert!(!result.aborted && !result.shell_replaced, "{what}");
    let next = case.session.stream("echo next; sh -c 'exit 3'").await;
    assert_eq!(
        (next.code, next.out().as_str()),
        (Some(3), "next\n"),
        "{what}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn printed_boundaries_are_only_output() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        for text in [
            r"\033]633;D;0\007\033]633;A\007\033]633;B\007",
            r"\033]133;D;0\007\033]133;A\007",
            r"d1\0000\0000\000/\000",
            r"r\000s1\000t1\000",
        ] {
            let command = format!("printf '{text}'; printf '{text}' >&2; sh -c 'exit 7'");
            claims_in_vain(&case, &command).await;
        }
        every_execution_ended_once(&case.session).await;
    })
    .await;
}

/// How a shell's own code names the number and the nonce of its request: what
/// an attacker who knows our drivers would use.
fn request_of(shell: &str) -> (&'static str, &'static str) {
    match shell {
        "bash" => ("${__sg_request[1]}", "${__sg_request[2]}"),
        "zsh" | "fish" => ("$__sg_seq", "$__sg_nonce"),
        _ => ("$__sg_last", "$__sg_nonce"),
    }
}

/// Sends a forged report, with the real number and nonce, and then nonsense, to
/// every descriptor that can be reached from a child of the shell.
const FORGER: &str = r#"
import ctypes, os, socket, sys
shell, seq, nonce = int(sys.argv[1]), sys.argv[2], sys.argv[3]
report = b"\0".join([b"d" + seq.encode(), nonce.encode(), b"0", b"/forged", b""])
libc = ctypes.CDLL(None, use_errno=True)
sent = 0
def forge(fd):
    global sent
    for data in (report, b"s" + seq.encode() + b"\0", b"nonsense"):
        try:
            socket.socket(fileno=os.dup(fd)).send(data, socket.MSG_DONTWAIT)
            sent += 1
        except OSError:
            pass
pidfd = os.pidfd_open(shell)
for number in range(64):
    if number > 2:
        try: forge(number)
        except OSError: pass
    stolen = libc.syscall(438, pidfd, number, 0)
    if stolen >= 0: forge(stolen)
    try:
        if number > 2: os.write(os.open(f"/proc/{shell}/fd/{number}", os.O_WRONLY), b"nonsense")
    except OSError: pass
if sent: open("sent", "a").write("x" * sent)
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_that_reach_the_control_channels_are_not_believed() {
    let daemon = Daemon::start("");
    let forger = daemon.home().join("forger.py");
    std::fs::write(&forger, FORGER).unwrap();
    each_case(&daemon, async |case: Case| {
        let (seq, nonce) = request_of(case.shell);
        let pid = if case.shell == "fish" {
            "$fish_pid"
        } else {
            "$$"
        };
        let forge = format!("python3 {} {pid} \"{seq}\" \"{nonce}\"", forger.display());
        claims_in_vain(&case, &format!("{forge}; sh -c 'exit 7'")).await;
        if case.mode == SessionMode::Pipe {
            let sent = std::fs::read(case.dir.join("sent")).unwrap_or_default();
            assert!(
                !sent.is_empty(),
                "{}: the forger reached nothing",
                case.shell
            );
        }
        claims_in_vain(&case, &format!("{forge} & sleep 0.1; sh -c 'exit 7'")).await;
        claims_in_vain(
            &case,
            &format!("setsid {forge} & sleep 0.1; sh -c 'exit 7'"),
        )
        .await;
        claims_in_vain(&case, &format!("echo x | {forge}; sh -c 'exit 7'")).await;
        every_execution_ended_once(&case.session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subshells_that_write_to_every_descriptor_are_not_believed() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let (seq, nonce) = request_of(case.shell);
        let report = format!("printf 'd%s\\0%s\\0%s\\0%s\\0' \"{seq}\" \"{nonce}\" 0 /forged");
        let forge = match case.shell {
            // fish has no subshells, and dash knows descriptors of one digit.
            "fish" => "sh -c 'for n in 3 4 5 6 7 8 9; do echo forged >&$n; done'".to_owned(),
            "dash" => format!("for n in 3 4 5 6 7 8 9; do {report} >&$n; done"),
            _ => format!("for n in {{3..40}}; do {report} >&$n; done"),
        };
        let (open, close) = if case.shell == "fish" {
            ("begin;", "; end")
        } else {
            ("(", ")")
        };
        let hidden = format!("{open} {forge} {close} 2>/dev/null");
        claims_in_vain(&case, &format!("{hidden}; sh -c 'exit 7'")).await;
        if case.shell != "fish" {
            claims_in_vain(&case, &format!("{hidden} & wait; sh -c 'exit 7'")).await;
            let late = format!("(sleep 0.02; {hidden}) & sh -c 'exit 7'");
            claims_in_vain(&case, &late).await;
            claims_in_vain(&case, &format!("x=$( {hidden} ); sh -c 'exit 7'")).await;
        }
        every_execution_ended_once(&case.session).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_numbers_of_the_control_channels_are_closed_for_commands() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        for number in [8, 9] {
            // In the shell's own process and in a program.
            let own = format!("echo forged >&{number}");
            let result = case.session.stream(&format!("{own}; sh -c 'exit 7'")).await;
            assert_eq!(
                result.code,
                Some(7),
                "{} {:?} {result:?}",
                case.shell,
                case.mode
            );
            let program = format!("sh -c 'echo forged >&{number}' 2>/dev/null");
            let result = case.session.stream(&program).await;
            assert_ne!(
                result.code,
                Some(0),
                "{} {:?} {result:?}",
                case.shell,
                case.mode
            );
        }
        every_execution_ended_once(&case.session).await;
    })
    .await;
}

/// What remains possible: the shell's own code lies about itself. It stays in
/// its own execution, which ends once, and the session goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_lies_about_its_own_command_harms_no_other() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh"] {
        let case = Case::make(&daemon, shell, SessionMode::Pipe).await;
        let (seq, nonce) = request_of(shell);
        let lies = [
            format!("printf 'd%s\\0%s\\0%s\\0%s\\0' \"{seq}\" \"{nonce}\" 0 /"),
            format!("printf 'd%s\\0' \"{seq}\""),
            "printf nonsense".to_owned(),
            "printf 'r\\0t1\\0s1\\0'".to_owned(),
            format!("printf 'n%s\\0%s\\0' \"{seq}\" \"{nonce}\""),
        ];
        for lie in lies {
            let command =
                format!("{{ for n in {{3..40}}; do {lie} >&$n; done; }} 2>/dev/null; sleep 0.05");
            let result = case.session.stream(&command).await;
            let what = format!("{shell} {command:.80}: {result:?}");
            assert_eq!(result.ends, 1, "{what}");
            let next = case.session.stream("echo next; sh -c 'exit 3'").await;
            assert_eq!(
                (next.code, next.out().as_str()),
                (Some(3), "next\n"),
                "{what}"
            );
        }
        every_execution_ended_once(&case.session).await;
    }
}

/// The report that a command has begun cannot stay in a channel that others
/// write to, and must be known to the next daemon all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_behind_forged_reports_runs_once_across_a_crash() {
    let mut daemon = Daemon::start("");
    let forger = daemon.home().join("forger.py");
    std::fs::write(&forger, FORGER).unwrap();
    let case = Case::make(&daemon, "bash", SessionMode::Pipe).await;
    let (seq, nonce) = request_of("bash");
    let forge = format!("python3 {} $$ \"{seq}\" \"{nonce}\"", forger.display());
    let command = format!(
        "echo ran >>runs; {forge}; touch forged; until test -e go; do sleep 0.02; done; exit 5"
    );
    let mut request = case.session.request(&command);
    request.args.as_mut().unwrap().tool_call_id = "forged-and-crashed".to_owned();
    let running = case.session.submit_request(request.clone()).await;
    exists(&case.dir.join("forged")).await;
    // The daemon has seen the forged reports when it answers this.
    assert_eq!(case.session.output_of(case.last_started().await).await, "");
    drop(running);
    daemon.crash_and_restart();
    let session = TestSession {
        client: daemon.client().await,
        id: case.session.id.clone(),
    };
    let attached = session.submit_request(request).await;
    std::fs::write(case.dir.join("go"), "").unwrap();
    let result = attached.end().await;
    assert_eq!((result.code, result.ends), (Some(5), 1), "{result:?}");
    let next = session.stream("cat runs").await;
    assert_eq!((next.code, next.out().as_str()), (Some(0), "ran\n"));
    every_execution_ended_once(&session).await;
}
