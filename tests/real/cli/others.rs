//! Sessions, history, output, configuration, completions, manual.

use serde_json::{Value, json};
use shellglass_tests::Daemon;
use shellglass_tests::program::{Home, Ran, finish, piped, ran, wait_until};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

fn parsed(ran: &Ran) -> Value {
    let text = ran.quiet();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_session_is_made_shown_listed_and_disposed_of() {
    let daemon = Daemon::start("");
    let made = parsed(&daemon.cli(&[
        "session",
        "create",
        "--json",
        "--cwd",
        "/usr",
        "--name",
        "a name",
        "--task",
        "t-1",
        "--mode",
        "line",
        "--shell",
        "dash",
        "--startup",
        "none",
        "--env",
        "MINE=1",
    ]));
    let id = made["sessionId"].as_str().unwrap();
    assert_eq!(made["name"], json!("a name"));
    assert_eq!(made["taskId"], json!("t-1"));
    assert_eq!(made["mode"], json!("SESSION_MODE_LINE"));
    assert_eq!(made["workingDirectory"], json!("/usr"));
    assert_eq!(
        daemon.cli(&["run", "--session", id, "echo $MINE"]).quiet(),
        "1\n"
    );
    let shown = parsed(&daemon.cli(&["session", "show", id, "--json"]));
    assert_eq!(shown["lastCommand"], json!("echo $MINE"));
    assert_eq!(shown["lastExitCode"], json!(0));
    let text = daemon.cli(&["session", "show", id]).quiet();
    assert!(text.contains(id) && text.contains("echo $MINE"), "{text}");
    let listed = parsed(&daemon.cli(&["session", "list", "--json"]));
    assert_eq!(listed["sessions"][0], shown);
    let text = daemon.cli(&["session", "list"]).quiet();
    assert!(text.lines().count() == 1 && text.contains(id), "{text}");
    assert_eq!(
        parsed(&daemon.cli(&["session", "dispose", id, "--json"])),
        json!({})
    );
    assert_eq!(daemon.cli(&["session", "dispose", id]).quiet(), "");
    assert_eq!(
        parsed(&daemon.cli(&["session", "list", "--json"]))["sessions"],
        json!([])
    );
    let all = parsed(&daemon.cli(&["session", "list", "--all", "--json"]));
    assert_eq!(all["sessions"].as_array().unwrap().len(), 1);
    daemon
        .cli(&["run", "--session", id, "true"])
        .failed_with(125);
    for words in ["show", "dispose"] {
        daemon
            .cli(&["session", words, "s-aaaaaaaaaaaaaaaa"])
            .failed_with(1);
    }
    let refused = daemon.cli(&["session", "create", "--cwd", "/no/such/directory"]);
    refused.failed_with(1);
}

#[test]
fn a_history_is_text_or_json() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create", "--cwd", "/usr"]).quiet();
    let id = id.trim();
    daemon.cli(&["run", "--session", id, "echo one\necho two"]);
    daemon.cli(&["run", "--session", id, "(exit 4)"]);
    let text = daemon.cli(&["history", id]).quiet();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].ends_with("/usr  echo one\\necho two") && lines[0].contains("exit 0"));
    assert!(lines[1].contains("exit 4"), "{text}");
    let history = parsed(&daemon.cli(&["history", id, "--json"]));
    let executions = history["executions"].as_array().unwrap();
    assert_eq!(executions[0]["command"], json!("echo one\necho two"));
    assert_eq!(executions[1]["exitCode"], json!(4));
    let events = history["events"].as_array().unwrap();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["index"], json!(number.to_string()));
    }
    let pieces = events
        .iter()
        .filter_map(|event| event["stdout"]["data"].as_str());
    assert_eq!(pieces.collect::<String>(), "one\ntwo\n");
    // The number leads to the output.
    let number = executions[0]["shellId"].to_string();
    assert!(lines[0].trim_start().starts_with(&number), "{text}");
    assert_eq!(daemon.cli(&["output", &number]).quiet(), "one\ntwo\n");
    daemon
        .cli(&["history", "s-aaaaaaaaaaaaaaaa"])
        .failed_with(1);
}

#[test]
fn a_long_history_is_whole_as_json() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create"]).quiet();
    let id = id.trim();
    daemon.cli(&["run", "--session", id, "seq 1000000"]);
    let history = parsed(&daemon.cli(&["history", id, "--json"]));
    let events = history["events"].as_array().unwrap();
    let pieces = events
        .iter()
        .filter_map(|event| event["stdout"]["data"].as_str());
    let whole: String = (1..=1_000_000)
        .map(|number| format!("{number}\n"))
        .collect();
    assert!(pieces.collect::<String>() == whole);
}

fn last_number(daemon: &Daemon, id: &str) -> String {
    let shown = parsed(&daemon.cli(&["session", "show", id, "--json"]));
    shown["lastShellId"].to_string()
}

#[test]
fn output_is_printed_from_an_offset_and_exactly() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create"]).quiet();
    let id = id.trim();
    daemon.cli(&["run", "--session", id, "printf 0123456789"]);
    let number = last_number(&daemon, id);
    assert_eq!(daemon.cli(&["output", &number]).quiet(), "0123456789");
    assert_eq!(
        daemon.cli(&["output", &number, "--offset", "7"]).quiet(),
        "789"
    );
    assert_eq!(
        daemon.cli(&["output", &number, "--offset", "99"]).quiet(),
        ""
    );
    let command = "head -c 3000000 /dev/urandom | tee bytes";
    daemon.cli(&["run", "--session", id, command]);
    let ran = daemon.cli(&["output", &last_number(&daemon, id)]);
    let bytes = std::fs::read(daemon.home().join("bytes")).unwrap();
    assert!(
        ran.stdout == bytes,
        "{} bytes of {}",
        ran.stdout.len(),
        bytes.len()
    );
    daemon.cli(&["output", "999999"]).failed_with(1);
}

#[test]
fn output_follows_until_the_command_ends() {
    let daemon = Daemon::start("");
    let id = daemon.cli(&["session", "create"]).quiet();
    let id = id.trim();
    let command = "echo early; until test -e go; do sleep 0.01; done; echo late";
    let running = piped(daemon.line().args(["run", "--session", id, command]));
    shellglass_tests::program::wait_until("it runs", || last_number(&daemon, id) != "0");
    let number = last_number(&daemon, id);
    let mut follower = piped(daemon.line().args(["output", &number, "--follow"]));
    let mut out = BufReader::new(follower.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "early\n");
    std::fs::write(daemon.home().join("go"), "").unwrap();
    out.read_to_string(&mut line).unwrap();
    assert_eq!(line, "early\nlate\n");
    assert_eq!(finish(follower).status, 0);
    assert_eq!(finish(running).status, 0);
}

#[test]
fn the_configuration_is_shown_with_its_origins() {
    let home = Home::default();
    home.configure("[limits]\nqueue_max = 7\n\n[session]\nshell = \"zsh\"\n");
    let mut line = home.line();
    line.env("SHELLGLASS_LIMITS_SESSIONS_MAX", "11");
    let shown = ran(line.args(["config", "show"])).quiet();
    let at = |key: &str| {
        let found = shown.lines().find(|line| line.starts_with(key));
        found.unwrap_or_else(|| panic!("no {key} in {shown}"))
    };
    assert!(at("queue_max = 7").contains("config.toml"), "{shown}");
    assert!(
        at("sessions_max = 11").contains("SHELLGLASS_LIMITS_SESSIONS_MAX"),
        "{shown}"
    );
    assert!(!at("command_bytes_max").contains('#'), "{shown}");
    // What is shown is a configuration.
    home.configure(&shown);
    home.cli(&["config", "show"]).quiet();
    let paths = home.cli(&["config", "path"]).quiet();
    for place in ["config/config.toml", "data", "run"] {
        let place = home.path().join(place).display().to_string();
        assert!(paths.contains(&place), "{place} in {paths}");
    }
    let schema: Value = serde_json::from_str(&home.cli(&["config", "schema"]).quiet()).unwrap();
    assert_eq!(schema["type"], json!("object"));
    assert!(schema["properties"]["limits"].is_object(), "{schema}");
    assert_eq!(home.daemons(), Vec::<u32>::new(), "none is needed for this");
}

#[test]
fn a_project_can_only_narrow() {
    let home = Home::default();
    home.configure("[limits]\ncommand_bytes_max = 1000\n");
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join("deep")).unwrap();
    let in_project = |arguments: &[&str]| {
        let mut line = home.line();
        line.current_dir(project.join("deep")).env_remove("PWD");
        ran(line.args(arguments))
    };
    let write = |text: &str| std::fs::write(project.join(".shellglass.toml"), text).unwrap();
    write("[limits]\ncommand_bytes_max = 10\n");
    let refused = in_project(&["run", "echo far too long for this"]);
    refused.failed_with(2);
    assert_eq!(in_project(&["run", "echo ok"]).quiet(), "ok\n");
    write("[limits]\ncommand_bytes_max = 100000\n");
    let shown = in_project(&["config", "show"]).quiet();
    assert!(shown.contains("command_bytes_max = 1000"), "{shown}");
    write("[session]\nshell = \"zsh\"\n");
    let refused = in_project(&["run", "true"]);
    assert!(
        refused.stderr.contains(".shellglass.toml:2: "),
        "{refused:?}"
    );
    assert!(refused.stderr.contains("hint: "), "{refused:?}");
}

fn feed(program: &str, arguments: &[&str], input: &str) -> Ran {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    finish(child)
}

#[test]
fn completions_load_in_the_real_shells() {
    let home = Home::default();
    let completions = |shell: &str| home.cli(&["completions", shell]).quiet();
    let path = on_path(&home);
    let script = path.clone()
        + &completions("bash")
        + "\ncomplete -p shellglass\n\
        COMP_WORDS=(shellglass se) COMP_CWORD=1\n_clap_complete_shellglass shellglass se shellglass\n\
        echo \"${COMPREPLY[@]}\"\n";
    let bash = feed("bash", &["--norc", "-s"], &script).quiet();
    assert!(bash.contains("session") && bash.contains("serve"), "{bash}");
    let script = "autoload -Uz compinit; compinit -u -D\n".to_owned()
        + &completions("zsh")
        + "\necho ${_comps[shellglass]}\n";
    let zsh = feed("zsh", &["-f", "-s"], &script);
    assert_eq!(
        (zsh.status, zsh.out().trim()),
        (0, "_clap_dynamic_completer_shellglass"),
        "{zsh:?}"
    );
    let script = path + &completions("fish") + "\ncomplete -C 'shellglass se'\n";
    let fish = feed("fish", &["--no-config"], &script).quiet();
    assert!(fish.contains("session") && fish.contains("serve"), "{fish}");
    assert_eq!(home.cli(&["completions", "tcl"]).status, 2);
}

/// A line that puts a `shellglass` of this home on the path of a shell. What is
/// tested may have another name.
fn on_path(home: &Home) -> String {
    let folder = home.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let link = folder.join("shellglass");
    if !link.exists() {
        std::os::unix::fs::symlink(shellglass_tests::program(), &link).unwrap();
    }
    let home = home.path().display();
    format!("export PATH={home}/bin:$PATH SHELLGLASS_HOME={home} HOME={home}\n")
}

/// What is offered behind these words, one in each line.
fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let mut line = home.line();
    line.env("SHELLGLASS_COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .arg("--")
        .args(words);
    let offered = shellglass_tests::program::ran(&mut line).quiet();
    offered.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn completions_know_sessions_and_start_no_daemon() {
    let home = Home::default();
    let words = ["shellglass", "session", "show", ""];
    let has_session = |offers: &[String]| offers.iter().any(|offer| offer.starts_with("s-"));
    assert!(!has_session(&offered(&home, &words)));
    assert_eq!(home.daemons(), Vec::<u32>::new());
    // A name that would do something in a shell that believes it.
    let made = [
        "session",
        "create",
        "--name",
        "$(touch evil)\u{1b}[2J",
        "--mode",
        "line",
    ];
    let id = home.cli(&made).quiet().trim().to_owned();
    let ran = home.cli(&["run", "--session", &id, "true"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for words in [
        ["shellglass", "session", "show", ""].as_slice(),
        &["shellglass", "attach", "s-"],
        &["shellglass", "history", ""],
        &["shellglass", "run", "--session", ""],
        &["shellglass", "cancel", ""],
    ] {
        let what = format!("{words:?} offer it");
        wait_until(&what, || offered(&home, words).contains(&id));
    }
    let shown = home.cli(&["session", "show", &id, "--json"]).quiet();
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let number = shown["lastShellId"].to_string();
    let words = ["shellglass", "output", ""];
    wait_until("its number is offered", || {
        offered(&home, &words).contains(&number)
    });
    // fish shows remarks; what stands in them is harmless.
    let script = on_path(&home)
        + &home.cli(&["completions", "fish"]).quiet()
        + "\ncomplete -C 'shellglass attach s-'\n";
    wait_until("fish offers it", || {
        let fish = feed("fish", &["--no-config"], &script).quiet();
        assert!(!fish.contains('$') && !fish.contains('\u{1b}'), "{fish}");
        fish.contains(&id) && fish.contains("touch evil")
    });
}

/// What a command line says on a terminal.
fn said_on_a_terminal(home: &Home, arguments: &[&str]) -> String {
    use rustix::pty::OpenptFlags;
    use std::io::Read as _;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
    let mut line = home.line();
    line.args(arguments).env("NO_COLOR", "1");
    // We keep an end of our own: what was said stays to be read.
    let stderr = Stdio::from(slave.try_clone().unwrap());
    let line = line.stdin(Stdio::null()).stdout(Stdio::piped());
    let ran = finish(line.stderr(stderr).spawn().unwrap());
    assert_eq!(ran.status, 0, "{ran:?}");
    rustix::io::ioctl_fionbio(&master, true).unwrap();
    let mut said = Vec::new();
    // It ends with an error: nothing more is there.
    let _ = std::fs::File::from(master).read_to_end(&mut said);
    drop(slave);
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn the_first_command_says_where_to_watch_and_the_second_does_not() {
    let home = Home::default();
    let first = said_on_a_terminal(&home, &["run", "true"]);
    assert_eq!(first.lines().count(), 1, "{first:?}");
    let token = std::fs::read_to_string(home.path().join("data/person.token")).unwrap();
    let page = format!("/#token={}", token.trim());
    assert!(first.contains("watch at http://127.0.0.1:"), "{first:?}");
    assert!(first.trim_end().ends_with(&page), "{first:?}");
    assert_eq!(said_on_a_terminal(&home, &["run", "true"]), "");
    // Programs are told nothing.
    let other = Home::default();
    assert_eq!(other.cli(&["run", "true"]).quiet(), "");
}

#[test]
fn the_manual_page_renders() {
    let home = Home::default();
    let page = home.cli(&["man"]).quiet();
    assert!(page.contains(".TH"), "{page}");
    let there = Command::new("man").arg("--version").output();
    if there.is_ok_and(|output| output.status.success()) {
        let path = home.path().join("shellglass.1");
        std::fs::write(&path, page).unwrap();
        let mut man = Command::new("man");
        man.arg("-l")
            .arg(&path)
            .env("MANPAGER", "cat")
            .env("MANWIDTH", "100");
        man.env("LC_ALL", "C.UTF-8").env("MAN_KEEP_FORMATTING", "");
        let rendered = ran(&mut man);
        assert_eq!(rendered.status, 0, "{rendered:?}");
        let text = rendered.out();
        for word in [
            "NAME",
            "SHELLGLASS RUN",
            "--timeout",
            "SHELLGLASS_HOME",
            "Exit status",
        ] {
            assert!(text.contains(word), "no {word} in {text}");
        }
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    let home = Home::default();
    let version = home.cli(&["--version"]).quiet();
    assert!(version.starts_with("shellglass "), "{version}");
    for arguments in [
        &["--help"][..],
        &["run", "--help"],
        &["session", "create", "--help"],
    ] {
        let help = home.cli(arguments).quiet();
        assert!(help.contains("Usage: shellglass"), "{help}");
    }
}
