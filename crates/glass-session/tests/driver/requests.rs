//! What a request can ask for.

use crate::harness::{Driven, End, KINDS, blank, nonce};
use glass_model::{Shell, ShellKind, Startup};
use glass_session::driver::{Report, Request, RequestError, Style, encode_run};
use std::path::Path;

#[test]
fn the_status_is_reported() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        for (command, status) in [
            ("true", 0),
            ("false", 1),
            ("sh -c 'exit 42'", 42),
            ("sh -c 'kill -9 $$'", 137),
        ] {
            assert_eq!(
                shell.run(command).end,
                End::Done(status),
                "{kind:?} {command}"
            );
        }
        assert_eq!(
            shell.run("nonexistent-command").end,
            End::Done(127),
            "{kind:?}"
        );
    }
}

#[test]
fn a_command_begins_with_the_status_of_the_one_before() {
    for kind in [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix] {
        let mut shell = Driven::warm(kind);
        shell.run("sh -c 'exit 42'");
        assert_eq!(shell.out("echo $?"), "42\n", "{kind:?}");
        assert_eq!(shell.out("echo $?"), "0\n", "{kind:?}");
    }
}

#[test]
fn a_request_that_is_sent_again_is_not_executed_again() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        let nonce = nonce(1);
        let request = Request {
            seq: 1,
            nonce: &nonce,
            command: "echo once",
            ..blank()
        };
        let encoded = encode_run(kind, shell.dir.path(), &request).expect("it can be encoded");
        shell.seq = 1;
        shell.send(&encoded.message);
        shell.send(&encoded.message);
        let first = shell.finish(0);
        assert_eq!(first.out, "once\n");
        assert_eq!(shell.out("echo next"), "next\n", "{kind:?}");
        assert_eq!(shell.started, [1, 2]);
    }
}

#[test]
fn a_directory_is_entered_first_and_a_missing_one_executes_nothing() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        shell.out("cd /tmp");
        let missing = Request {
            cwd: Some(b"/nonexistent"),
            command: "echo ran",
            ..blank()
        };
        let outcome = shell.run_with(missing);
        assert_eq!(
            (outcome.end, outcome.out.as_str(), outcome.err.as_str()),
            (End::NoCwd, "", "")
        );
        assert_eq!(shell.out("pwd"), "/tmp\n");
        let odd = shell.dir.path().join("o'dd \\ $x\nname");
        std::fs::create_dir(&odd).expect("a directory");
        let odd = odd.to_str().expect("a plain path").to_owned();
        let request = Request {
            cwd: Some(odd.as_bytes()),
            command: "pwd",
            ..blank()
        };
        assert_eq!(shell.run_with(request).out, format!("{odd}\n"), "{kind:?}");
        assert_eq!(shell.cwd, odd.as_bytes());
    }
}

#[test]
fn the_tool_call_id_is_that_of_each_command() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        for id in ["call_1", "it's odd $x \\ ", "two\nlines"] {
            let request = Request {
                tool_call_id: id,
                command: "printenv SHELLGLASS_TOOL_CALL_ID",
                ..blank()
            };
            assert_eq!(shell.run_with(request).out, format!("{id}\n"), "{kind:?}");
        }
        let without = Request {
            tool_call_id: "",
            command: "printenv SHELLGLASS_TOOL_CALL_ID",
            ..blank()
        };
        assert_eq!(shell.run_with(without).code(), 1, "{kind:?}");
    }
}

#[test]
fn variables_of_one_command_are_restored_after_it() {
    let odd = "it's\nodd $x \\ `y` \u{e9}\u{c1} ".to_owned();
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        let (plain, exported) = match kind {
            ShellKind::Fish => ("set -g PLAIN p", "set -gx EXPORTED 'e  e'"),
            _ => ("PLAIN=p", "export EXPORTED='e  e'"),
        };
        shell.out(plain);
        shell.out(exported);
        let env = ["PLAIN", "EXPORTED", "ABSENT"].map(|name| (name.to_owned(), odd.clone()));
        let command = "printenv PLAIN EXPORTED ABSENT";
        let inside = shell.run_with(Request {
            env: &env,
            command,
            ..blank()
        });
        assert_eq!(inside.out, format!("{odd}\n{odd}\n{odd}\n"), "{kind:?}");
        assert_eq!(shell.out("printenv EXPORTED"), "e  e\n", "{kind:?}");
        assert_eq!(shell.out("printenv PLAIN ABSENT"), "", "{kind:?}");
        assert_eq!(shell.out("echo $PLAIN"), "p\n", "{kind:?}");
    }
}

#[test]
fn variables_can_be_given_under_strict_options() {
    for (kind, options) in [
        (ShellKind::Bash, "set -euo pipefail"),
        (
            ShellKind::Zsh,
            "setopt no_unset err_exit ksh_arrays sh_word_split",
        ),
        (ShellKind::Posix, "set -eu"),
    ] {
        let mut shell = Driven::warm(kind);
        shell.out(options);
        let env = [("ABSENT".to_owned(), "a b".to_owned())];
        let command = "printenv ABSENT";
        assert_eq!(
            shell
                .run_with(Request {
                    env: &env,
                    command,
                    ..blank()
                })
                .out,
            "a b\n"
        );
        assert_eq!(shell.out("echo ${ABSENT-unset}"), "unset\n", "{kind:?}");
    }
}

#[test]
fn long_commands_travel_in_a_file() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        for length in [4000, 5000, 1 << 20] {
            let line = "x".repeat(90);
            let text: String = std::iter::repeat_n(format!("{line}\n"), length / 91).collect();
            let command = format!("printf %s '{text}' | wc -c");
            let outcome = shell.run(&command);
            assert_eq!(
                outcome.out.trim(),
                text.len().to_string(),
                "{kind:?}: {}",
                outcome.err
            );
        }
    }
}

#[test]
fn any_text_arrives_as_it_was_written() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        for text in [
            "  two  spaces  ",
            "tab\there",
            "back\\slash\\\\n",
            "\u{c1}\u{81}\u{1f600}",
            "a\nb",
        ] {
            let quoted = String::from_utf8(glass_session::driver::quote(kind, text.as_bytes()))
                .expect("text stays text");
            assert_eq!(
                shell.out(&format!("\n\n  printf %s {quoted}  \n\n")),
                text,
                "{kind:?}"
            );
        }
        let here = "cat <<'END'\n$x `y` \\ '\nEND";
        if kind != ShellKind::Fish {
            assert_eq!(shell.out(here), "$x `y` \\ '\n", "{kind:?}");
        }
    }
}

#[test]
fn what_no_shell_can_hold_is_refused() {
    let check = |request: Request<'_>| encode_run(ShellKind::Bash, Path::new("/"), &request);
    assert_eq!(
        check(Request {
            command: "a\0b",
            ..blank()
        }),
        Err(RequestError::NulByte {
            what: "command",
            offset: 1
        })
    );
    let env = [("a b".to_owned(), String::new())];
    assert!(matches!(
        check(Request {
            env: &env,
            ..blank()
        }),
        Err(RequestError::BadName { .. })
    ));
    assert_eq!(
        check(Request {
            nonce: "a b",
            ..blank()
        }),
        Err(RequestError::BadNonce)
    );
    let long = "x".repeat((4 << 20) + 1);
    assert!(matches!(
        check(Request {
            command: &long,
            ..blank()
        }),
        Err(RequestError::TooLong { .. })
    ));
    assert_eq!(
        encode_run(ShellKind::Other, Path::new("/"), &blank()),
        Err(RequestError::NotDriven)
    );
}

#[test]
fn started_comes_before_the_command_has_ended() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        shell.begin(Request {
            command: "sleep 100",
            ..blank()
        });
        assert_eq!(
            shell.next_report(),
            Some(Report::Started { seq: 1 }),
            "{kind:?}"
        );
    }
}

#[test]
fn a_shell_ends_when_the_other_side_is_gone() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        shell.out("true");
        shell.hang_up();
        assert_eq!(shell.next_report(), None, "{kind:?}");
        let status = shell.child.wait().expect("it can be waited for");
        assert_eq!(status.code(), Some(0), "{kind:?}");
    }
}

#[test]
fn a_snapshot_does_not_stand_in_the_way_of_a_request() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        shell.seq = 100;
        shell.snapshot();
        shell.seq = 0;
        assert_eq!(shell.out("echo first"), "first\n", "{kind:?}");
    }
}

#[test]
fn bash_that_calls_itself_sh_is_driven_as_a_posix_shell() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("sh");
    std::os::unix::fs::symlink("/usr/bin/bash", &path).expect("a link");
    let shell = Shell {
        kind: ShellKind::Posix,
        path: path.to_str().expect("a plain path").to_owned(),
    };
    let mut sh = Driven::launch(&shell, Startup::Nothing, Style::Warm, &[]);
    assert_eq!(sh.next_report(), Some(Report::Ready));
    let env = [("ONE".to_owned(), "1".to_owned())];
    let command = "printenv ONE";
    assert_eq!(
        sh.run_with(Request {
            env: &env,
            command,
            ..blank()
        })
        .out,
        "1\n"
    );
    assert_eq!(
        sh.out("trap 'echo bye' EXIT; echo ${ONE-unset}"),
        "unset\nbye\n"
    );
    assert_eq!(sh.run("nope").err, "sh: line 1: nope: command not found\n");
    let outcome = sh.run("trap 'echo bye' EXIT; exit 4");
    assert_eq!((outcome.end, outcome.out.as_str()), (End::Died(4), "bye\n"));
}
