//! `run`: streams, exit statuses, environment, JSON.

use serde_json::{Value, json};
use shellglass_tests::Daemon;
use shellglass_tests::program::{Home, finish, is_alive, piped, ran, wait_until};
use std::io::{BufRead as _, BufReader};
use std::process::Command;

#[test]
fn run_exits_as_the_command_did() {
    let daemon = Daemon::start("");
    for (command, status) in [
        ("true", 0),
        ("false", 1),
        ("exit 3", 3),
        ("exit 255", 255),
        ("sh -c 'exit 42'", 42),
        ("there-is-no-such-command", 127),
        ("/etc/passwd", 126),
        ("sh -c 'kill -KILL $$'", 137),
        ("sh -c 'kill -TERM $$'", 143),
        ("kill -KILL $$", 137),
    ] {
        for flags in [&[][..], &["--json"][..]] {
            let ran = ran(daemon.line().arg("run").args(flags).arg(command));
            assert_eq!(ran.status, status, "{command}: {ran:?}");
        }
    }
}

#[test]
fn run_keeps_the_streams_apart_and_every_byte() {
    let daemon = Daemon::start("");
    let ran = daemon.cli(&["run", "printf 'a\\0\\xffb'; printf 'e\\n' >&2"]);
    assert_eq!(ran.stdout, b"a\0\xffb");
    assert_eq!((ran.stderr.as_str(), ran.status), ("e\n", 0));
    let ran = daemon.cli(&["run", "head -c 5000000 /dev/urandom | tee bytes"]);
    let bytes = std::fs::read(daemon.home().join("bytes")).unwrap();
    assert!(ran.stdout == bytes);
}

#[test]
fn run_prints_output_before_the_command_ends() {
    let daemon = Daemon::start("");
    let command = "echo early; until test -e go; do sleep 0.01; done; echo late";
    let mut child = piped(daemon.line().args(["run", command]));
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "early\n");
    std::fs::write(daemon.home().join("go"), "").unwrap();
    line.clear();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "late\n");
    assert_eq!(finish(child).status, 0);
}

#[test]
fn a_timeout_exits_with_124() {
    let daemon = Daemon::start("");
    let ran = daemon.cli(&[
        "run",
        "--timeout",
        "0.3",
        "echo out; sleep 1000; touch next",
    ]);
    assert_eq!((ran.status, ran.stdout.as_slice()), (124, &b"out\n"[..]));
    let ran = daemon.cli(&["run", "--json", "--timeout", "0.3", "echo out; sleep 1000"]);
    assert_eq!(ran.status, 124);
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(printed["timeout"]["timeoutMs"], json!(300));
    assert_eq!(printed["timeout"]["stdout"], json!("out\n"));
    assert!(!daemon.home().join("next").exists());
}

#[test]
fn what_is_not_the_commands_exits_with_125() {
    let daemon = Daemon::start("");
    for arguments in [
        &["run", "--shell", "/no/such/shell", "true"][..],
        &["run", "--shell", "no-such-shell", "true"],
        &["run", "--session", "s-aaaaaaaaaaaaaaaa", "true"],
        &["run", "--cwd", "/no/such/directory", "true"],
        &["run", ""],
    ] {
        daemon.cli(arguments).failed_with(125);
    }
}

#[test]
fn rights_that_cannot_be_had_exit_with_126() {
    let daemon = Daemon::start("");
    let ran = daemon.home().join("ran");
    let touch = format!("touch '{}'", ran.display());
    // Nobody may write the whole file system, and a missing path grants nothing.
    for flags in [&["--cwd", "/"][..], &["--rw", "/there/is/nothing"]] {
        let arguments = [&["run", "--sandbox", "rw"], flags, &[&touch]].concat();
        daemon.cli(&arguments).failed_with(126);
        let arguments = [&["run", "--json", "--sandbox", "rw"], flags, &[&touch]].concat();
        let answer = daemon.cli(&arguments);
        assert_eq!(answer.status, 126, "{answer:?}");
    }
    assert!(!ran.exists());
    let ran = daemon.cli(&["run", "--sandbox", "none", "echo open"]);
    assert_eq!(ran.quiet(), "open\n");
}

#[test]
fn bad_usage_exits_with_2_and_starts_nothing() {
    let home = shellglass_tests::program::Home::default();
    for arguments in [
        &["run"][..],
        &["run", "--timeout", "0", "true"],
        &["run", "--timeout", "soon", "true"],
        &["run", "--env", "1X=y", "true"],
        &["run", "--session", "s", "--shell", "zsh", "true"],
        &["run", "--no-such-flag", "true"],
        &["run", "echo", "two words"],
        &["no-such-command"],
        &["session"],
        &["serve", "--listen", "everywhere"],
        &["output", "abc"],
        &[],
    ] {
        let ran = home.cli(arguments);
        assert_eq!(ran.status, 2, "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, b"", "{arguments:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
    assert_eq!(home.daemons(), Vec::<u32>::new());
}

#[test]
fn run_uses_the_callers_directory_and_environment() {
    let daemon = Daemon::start("[session]\nscrub_env = [\"SECRET_*\"]\n");
    std::fs::create_dir(daemon.home().join("sub")).unwrap();
    std::os::unix::fs::symlink(daemon.home().join("sub"), daemon.home().join("link")).unwrap();
    let ran_in = |directory: &str, arguments: &[&str]| {
        let directory = daemon.home().join(directory);
        let mut line = daemon.line();
        line.current_dir(&directory).env("PWD", &directory);
        line.env("MINE", "a b\nc").env("SECRET_KEY", "hidden");
        ran(line.arg("run").args(arguments)).out()
    };
    let home = daemon.home().display();
    assert_eq!(ran_in("sub", &["pwd"]), format!("{home}/sub\n"));
    assert_eq!(ran_in("link", &["pwd"]), format!("{home}/link\n"));
    assert_eq!(
        ran_in("sub", &["--cwd", "..", "pwd -P"]),
        format!("{home}\n")
    );
    assert_eq!(ran_in("sub", &["--cwd", "/usr", "pwd"]), "/usr\n");
    assert_eq!(ran_in("sub", &["printenv MINE"]), "a b\nc\n");
    assert_eq!(
        ran_in("sub", &["printenv SECRET_KEY || echo scrubbed"]),
        "scrubbed\n"
    );
    let given = &["--env", "MINE=other", "--env", "X=", "printenv MINE X"];
    assert_eq!(ran_in("sub", given), "other\n\n");
    assert_eq!(
        ran_in("sub", &["printenv SHELLGLASS; cat; echo $?"]),
        "1\n0\n"
    );
}

#[test]
fn run_takes_a_shell_and_a_mode() {
    let daemon = Daemon::start("");
    for (shell, code) in [
        ("bash", "echo $BASH_VERSION"),
        ("zsh", "echo $ZSH_VERSION"),
        ("fish", "echo $FISH_VERSION"),
        ("dash", "echo 1"),
    ] {
        for mode in ["auto", "pipe", "line"] {
            let ran = daemon.cli(&["run", "--shell", shell, "--mode", mode, code]);
            assert!(
                ran.quiet().starts_with(|c: char| c.is_ascii_digit()),
                "{shell}"
            );
        }
    }
}

#[test]
fn run_in_a_session_keeps_its_state() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create", "--cwd", "/usr"]).quiet();
    let id = id.trim();
    daemon
        .cli(&["run", "--session", id, "X=kept; cd /tmp"])
        .quiet();
    let ran = daemon.cli(&["run", "--session", id, "echo $X; pwd; (exit 5)"]);
    assert_eq!((ran.out().as_str(), ran.status), ("kept\n/tmp\n", 5));
    let ran = daemon.cli(&[
        "run",
        "--session",
        id,
        "--cwd",
        "/usr",
        "--env",
        "E=1",
        "echo $E; pwd",
    ]);
    assert_eq!(ran.quiet(), "1\n/usr\n");
    let ran = daemon.cli(&["run", "--session", id, "--cwd", "/no/such", "touch ran"]);
    ran.failed_with(125);
}

#[test]
fn json_is_one_value_with_the_contracts_names() {
    let daemon = Daemon::start("");
    let command = "echo out; echo err >&2; exit 3";
    let ran = daemon.cli(&["run", "--json", command]);
    assert_eq!((ran.status, ran.stderr.as_str()), (3, ""));
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let failure = &printed["failure"];
    assert_eq!(failure["command"], json!(command));
    assert_eq!(failure["exitCode"], json!(3));
    assert_eq!(failure["stdout"], json!("out\n"));
    assert_eq!(failure["stderr"], json!("err\n"));
    assert_eq!(failure["workingDirectory"], json!(daemon.home()));
    assert_eq!(failure["aborted"], json!(false));
    assert!(failure["executionTime"].is_number());
    assert!(failure["shellId"].is_number());
    assert!(failure["interleavedOutput"].is_string());
    assert_eq!(
        printed["sandboxPolicy"]["type"],
        json!("TYPE_INSECURE_NONE")
    );
    assert_eq!(printed["isBackground"], json!(false));
    let ran = daemon.cli(&["run", "--json", "seq 1000000"]);
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let location = &printed["success"]["outputLocation"];
    assert_eq!(location["lineCount"], json!("1000000"));
    assert!(location["filePath"].is_string());
}

#[test]
fn a_reader_that_leaves_ends_the_command() {
    let daemon = Daemon::start("");
    let program = shellglass_tests::program().display().to_string();
    let script = format!("{program} run 'echo $$ >pid; yes' | head -n 1; echo ${{PIPESTATUS[0]}}");
    let mut line = Command::new("bash");
    line.args(["-c", &script]).current_dir(daemon.home());
    line.env("SHELLGLASS_HOME", daemon.home())
        .env("HOME", daemon.home());
    assert_eq!(ran(&mut line).quiet(), "y\n141\n");
    let pid = std::fs::read_to_string(daemon.home().join("pid")).unwrap();
    let process = pid.trim().parse().unwrap();
    wait_until("the command is gone", || !is_alive(process));
}

#[test]
fn a_long_silence_is_remarked_on_a_terminal_alone() {
    let daemon = Daemon::start("");
    let program = shellglass_tests::program().display().to_string();
    let quiet = "sleep 4; echo done";
    // `script` gives it a terminal and shows what that gets.
    let mut line = daemon.line();
    let on_terminal = format!("{program} run '{quiet}'");
    let mut script = Command::new("script");
    script.args(["-qec", &on_terminal, "/dev/null"]);
    for (name, value) in line.get_envs() {
        if let Some(value) = value {
            script.env(name, value);
        }
    }
    let shown = finish(piped(script.current_dir(daemon.home())));
    let silent = ran(line.args(["run", quiet]));
    let text = shown.out();
    assert!(
        text.contains("quiet for 2 s") || text.contains("quiet for 3 s"),
        "{text:?}"
    );
    // The line is taken away before anything else is shown.
    assert!(text.ends_with("\r\u{1b}[Kdone\r\n"), "{text:?}");
    assert_eq!(silent.quiet(), "done\n");
}

#[test]
fn the_callers_variables_enter_a_sandbox_and_the_daemons_do_not() {
    let home = shellglass_tests::program::Home::default();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let line = |arguments: &[&str], given: bool| {
        let mut line = home.line();
        line.args(arguments).current_dir(&project);
        if given {
            line.env("GLASS_GIVEN", "seen");
        }
        shellglass_tests::program::ran(&mut line).quiet()
    };
    let show = ["run", "--sandbox", "rw", "echo \"[$GLASS_GIVEN]\""];
    // The first call starts the daemon, which then has the variable, too.
    assert_eq!(line(&show, true), "[seen]\n");
    assert_eq!(line(&show, true), "[seen]\n");
    assert_eq!(line(&show, false), "[]\n");
    let create = ["session", "create", "--sandbox", "rw"];
    let session = line(&create, true);
    let session = session.trim();
    let show = ["run", "--session", session, "echo \"[$GLASS_GIVEN]\""];
    assert_eq!(line(&show, true), "[]\n");
    line(&["session", "dispose", session], false);
}

#[test]
fn a_command_that_was_not_quoted_is_shown_quoted() {
    let home = Home::default();
    for (words, hint) in [
        (
            &["run", "echo", "a", "b"][..],
            "hint: the command is one argument: shellglass run 'echo a b'\n",
        ),
        (
            &["run", "ls", "-la"],
            "hint: the command is one argument, in quotes: shellglass run 'ls -l'\n",
        ),
    ] {
        let said = home.cli(words);
        assert!(said.failed_with(2).ends_with(hint), "{said:?}");
    }
    assert!(home.daemons().is_empty(), "nothing was begun");
}
