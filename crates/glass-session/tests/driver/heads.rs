//! The ways in which bash takes a command: from a head alone, from what follows a head
//! that has its length, and from fields.

use crate::harness::{Driven, End, blank, nonce};
use glass_model::ShellKind;
use glass_session::driver::{Request, encode_run};

/// The bytes of a head.
const HEAD_BYTES: usize = 128;

/// Makes a command so long that it does not fit a head.
fn lengthened(command: &str) -> String {
    format!("{command} # {}", "x".repeat(HEAD_BYTES))
}

#[test]
fn a_short_request_is_one_head() {
    let bytes = |request: Request<'_>| {
        let nonce = nonce(1);
        let request = Request {
            nonce: &nonce,
            ..request
        };
        let encoded = encode_run(ShellKind::Bash, "/".as_ref(), &request);
        encoded.expect("it can be encoded").message.len()
    };
    // Beside the tool call id and the command there are 27 bytes.
    let fits = "x".repeat(HEAD_BYTES - 27 - 4);
    let too_long = format!("{fits}x");
    let command = |command| Request { command, ..blank() };
    assert_eq!(bytes(command("")), HEAD_BYTES);
    assert_eq!(bytes(command(&fits)), HEAD_BYTES);
    assert!(bytes(command(&too_long)) > HEAD_BYTES);
    assert!(bytes(command("echo \u{e4}")) > HEAD_BYTES);
    let without_call = Request {
        tool_call_id: "",
        ..command("true")
    };
    assert!(bytes(without_call) > HEAD_BYTES);
    let large_number = Request {
        seq: 10_000_000_000,
        ..command("true")
    };
    assert!(bytes(large_number) > HEAD_BYTES);
}

#[test]
fn every_length_of_command_and_tool_call_id_arrives() {
    let mut shell = Driven::warm(ShellKind::Bash);
    for call_bytes in [1, 9, 10, 60, 100, 101, 102, 988, 989, 1000] {
        let call = "c".repeat(call_bytes);
        for text_bytes in (0..20).chain(50..110).chain([998, 1000, 4000]) {
            let text = "x".repeat(text_bytes);
            let command = format!("echo $SHELLGLASS_TOOL_CALL_ID {text}.");
            let request = Request {
                tool_call_id: &call,
                command: &command,
                ..blank()
            };
            let outcome = shell.run_with(request);
            assert_eq!(outcome.out, format!("{call} {text}.\n"));
        }
    }
}

#[test]
fn the_end_of_a_command_is_where_it_was() {
    let mut shell = Driven::warm(ShellKind::Bash);
    for (command, out) in [
        ("", ""),
        ("\n", ""),
        ("echo a\\", "a\\\n"),
        ("echo a  ", "a\n"),
        ("cat <<END\na\nEND", "a\n"),
        ("printf '<%s>' \"$SHELLGLASS_TOOL_CALL_ID\"", "<call>"),
    ] {
        for _ in 0..2 {
            assert_eq!(shell.out(command), out, "{command:?}");
        }
    }
}

/// A command in each of the ways.
fn each_way(command: &str) -> [(String, &'static [u8]); 4] {
    let trap = format!(": trap; {command}");
    [
        (command.to_owned(), b""),
        (lengthened(command), b""),
        (command.to_owned(), b"/"),
        (trap, b""),
    ]
}

#[test]
fn commands_follow_one_another_in_whatever_way_they_come() {
    // The last way makes the driver look for traps from then on, so it has shells of
    // its own.
    for ways in [3, 4] {
        for first in 0..ways {
            for second in 0..ways {
                let mut shell = Driven::warm(ShellKind::Bash);
                for (status, way) in (1..).zip([first, first, second, second, first]) {
                    let command = format!("echo \"$? $LINENO\"; (exit {status})");
                    let (command, cwd) = &each_way(&command)[way];
                    let request = Request {
                        command,
                        cwd: (!cwd.is_empty()).then_some(*cwd),
                        ..blank()
                    };
                    let outcome = shell.run_with(request);
                    // The word before is a command of its own, which is a success.
                    let before = if way == 3 { 0 } else { status - 1 };
                    assert_eq!(outcome.end, End::Done(status));
                    assert_eq!(outcome.out, format!("{before} 1\n"), "{first} {second}");
                }
            }
        }
    }
}

#[test]
fn a_command_that_is_sent_again_is_not_executed_again_in_any_way() {
    for way in 0..4 {
        let mut shell = Driven::warm(ShellKind::Bash);
        for before in ["true", "false"] {
            shell.run(before);
            let (command, cwd) = &each_way("echo once")[way];
            let nonce = nonce(shell.seq + 1);
            let request = Request {
                seq: shell.seq + 1,
                nonce: &nonce,
                command,
                cwd: (!cwd.is_empty()).then_some(*cwd),
                ..blank()
            };
            let encoded = encode_run(ShellKind::Bash, shell.dir.path(), &request);
            let message = encoded.expect("it can be encoded").message;
            shell.seq += 1;
            shell.send(&message);
            shell.send(&message);
            assert_eq!(shell.finish(0).out, "once\n", "way {way}");
            shell.send(&message);
            assert_eq!(shell.out("echo next"), "next\n", "way {way}");
        }
        assert_eq!(shell.started, [1, 2, 3, 4, 5, 6], "way {way}");
    }
}

#[test]
fn loops_that_a_command_leaves_are_ours_and_go_on() {
    let mut shell = Driven::warm(ShellKind::Bash);
    for levels in 1..6 {
        for word in ["break", "continue"] {
            let command = format!("echo a; {word} {levels}; echo b");
            for command in [command.clone(), lengthened(&command)] {
                assert_eq!(shell.out(&command), "a\n");
                assert_eq!(shell.out("false; echo $?"), "1\n");
                assert_eq!(shell.run("false").end, End::Done(1));
                assert_eq!(shell.out("echo $?"), "1\n");
            }
        }
    }
}

#[test]
fn a_tool_call_id_that_cannot_be_set_does_not_keep_a_command_from_running() {
    let mut shell = Driven::warm(ShellKind::Bash);
    shell.out("readonly SHELLGLASS_TOOL_CALL_ID");
    for _ in 0..3 {
        assert_eq!(shell.out("echo on"), "on\n");
        assert_eq!(shell.out(&lengthened("echo on")), "on\n");
    }
}

#[test]
fn nothing_of_the_driver_is_exported() {
    let mut shell = Driven::warm(ShellKind::Bash);
    shell.out("set -a");
    for command in ["true", "false", "true"] {
        shell.run(command);
        shell.run(&lengthened(command));
    }
    assert_eq!(shell.out("env | grep __sg"), "");
    assert_eq!(shell.out("set | grep -c '^__sg_head='"), "1\n");
}

#[test]
fn strict_options_do_not_reach_what_is_between_commands() {
    let mut shell = Driven::warm(ShellKind::Bash);
    shell.out("set -euo pipefail; set -E");
    shell.out("trap 'echo error' ERR");
    let mut shell_without_traps = Driven::warm(ShellKind::Bash);
    shell_without_traps.out("set -euo pipefail; set -E");
    for shell in [&mut shell, &mut shell_without_traps] {
        for _ in 0..3 {
            assert_eq!(shell.out("echo a"), "a\n");
            assert_eq!(shell.out(&lengthened("echo a")), "a\n");
        }
        assert_eq!(shell.run("false").end, End::Died(1));
    }
}
