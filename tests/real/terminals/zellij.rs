//! Zellij in every shell: one command with its own end, and what runs behind it is
//! known. It is built and not fetched, and so `make soak` runs these.

use super::desk::Desk;
use super::integration::assert_invisible;
use super::viewer::terminal_request;
use glass_proto::shellglass::v1::{CreateSessionRequest, Execution, Session};
use glass_vt::screen::{Screen, ScreenSize};
use shellglass_tests::{Daemon, PATIENCE, eventually, nu, processes};
use std::process::Command;
use std::time::Instant;

/// Nothing greets, nothing is kept of a session that has ended, and a pane's prompt is
/// no shell's outside.
const CONFIG: &str = r#"
show_startup_tips false
show_release_notes false
default_layout "compact"
default_shell "/bin/sh"
session_serialization false
env {
    PS1 "inside> "
}
"#;

/// What runs in a pane.
const INNER: &str = "tail -f /dev/null";

const QUIT: &str = "\x11";
const DETACH: &str = "\x0fd";

/// Zellij with everything that it writes below a daemon's home.
struct Zellij<'a> {
    daemon: &'a Daemon,
}

impl Zellij<'_> {
    fn new(daemon: &Daemon) -> Zellij<'_> {
        let program = std::env::var_os("SHELLGLASS_ZELLIJ");
        let program = program.expect("SHELLGLASS_ZELLIJ is its path; `scripts/zellij` builds it");
        let home = daemon.home();
        std::os::unix::fs::symlink(program, home.join("zellij")).unwrap();
        std::fs::write(home.join("zellij.kdl"), CONFIG).unwrap();
        std::fs::create_dir(home.join("scratch")).unwrap();
        Zellij { daemon }
    }

    fn variables(&self) -> Vec<(String, String)> {
        let below = |name: &str| self.daemon.home().join(name).display().to_string();
        let named = [
            ("HOME", below("")),
            ("TMPDIR", below("scratch")),
            ("XDG_CACHE_HOME", below("cache")),
            ("XDG_CONFIG_HOME", below("config")),
            ("XDG_DATA_HOME", below("data")),
            ("XDG_RUNTIME_DIR", below("scratch")),
            ("ZELLIJ_CONFIG_FILE", below("zellij.kdl")),
            ("ZELLIJ_SOCKET_DIR", below("servers")),
        ];
        named.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// A terminal in which it can be started as `./zellij`.
    async fn desk(&self, shell: &str) -> Desk {
        let mut request: CreateSessionRequest = terminal_request(self.daemon, shell);
        request.env.extend(self.variables());
        let desk = Desk::open(self.daemon, request).await;
        desk.prompted().await;
        desk
    }

    /// A terminal in which a session of this name was begun, with the line that did so
    /// and the prompt before it.
    async fn begun(&self, name: &str, shell: &str) -> (Desk, String, String) {
        let mut desk = self.desk(shell).await;
        let line = format!("./zellij --session {name}");
        desk.typed("echo first\r").await;
        let before = until_rows(&mut desk, &["first"]).await;
        let before = prompt(&before, "echo first").to_owned();
        assert!(!before.is_empty(), "{shell}");
        enter(&mut desk, &line, name, "inside>").await;
        (desk, line, before)
    }

    /// Runs it outside of all sessions. It can wait for a server that has died, and is
    /// not waited for as long.
    fn call(&self, arguments: &[&str]) {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE.as_secs().to_string()).arg("./zellij");
        command.args(arguments).current_dir(self.daemon.home());
        for name in ["ZELLIJ", "ZELLIJ_SESSION_NAME"] {
            command.env_remove(name);
        }
        let called = command.envs(self.variables()).output().unwrap();
        assert!(called.status.success(), "{arguments:?}: {called:?}");
    }

    /// Starts a server outside of all sessions, with this command in its pane. One who
    /// comes before a server has its first pane can end it, and so that is waited for.
    async fn serve(&self, name: &str, command: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let shell = self.daemon.home().join("shell");
        std::fs::write(&shell, format!("#!/bin/sh\nexec {command}\n")).unwrap();
        std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
        let config = self.daemon.home().join("elsewhere.kdl");
        let text = CONFIG.replace("/bin/sh", &shell.to_string_lossy());
        std::fs::write(&config, text).unwrap();
        let config = config.to_string_lossy();
        self.call(&["--config", &config, "attach", "--create-background", name]);
        let is_it = |(_, line): &(u32, String)| line.trim_end() == command;
        eventually(command, || processes().iter().any(is_it)).await;
    }
}

fn shells() -> [(&'static str, String); 4] {
    let named = ["bash", "zsh", "fish"].map(|name| (name, name.to_owned()));
    let [bash, zsh, fish] = named;
    [bash, zsh, fish, ("nu", nu())]
}

/// What a terminal shows, row by row.
fn rows(desk: &Desk) -> Vec<String> {
    let (columns, rows) = (80, 30);
    let mut screen = Screen::new(ScreenSize { columns, rows });
    screen.feed(&desk.viewer.bytes);
    screen.text()
}

/// Waits until a terminal shows rows that begin with these, in this order.
async fn until_rows(desk: &mut Desk, begins: &[&str]) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let shown = rows(desk);
        let mut rest = shown.iter();
        if begins
            .iter()
            .all(|begin| rest.any(|row| row.starts_with(begin)))
        {
            return shown;
        }
        assert!(Instant::now() < deadline, "no {begins:?} in {shown:#?}");
        desk.viewer.step().await.expect("the view goes on");
    }
}

/// Types a command line, and waits until Zellij has drawn its pane and its bar.
async fn enter(desk: &mut Desk, line: &str, name: &str, pane: &str) {
    desk.prompted().await;
    desk.keys(&format!("{line}\r")).await;
    desk.runs(line).await;
    let bar = format!(" Zellij ({name})");
    until_rows(desk, &[pane, &bar]).await;
}

/// Leaves it by a key, and expects that it was one command that succeeded.
async fn leave(desk: &mut Desk, keys: &str, line: &str) -> Execution {
    desk.keys(keys).await;
    let run = desk.ended(line).await;
    assert_eq!((run.command.as_str(), run.exit_code), (line, Some(0)));
    run
}

/// Whether a process of this command line runs, and Zellij is said to have started it.
fn runs_behind(shown: &Session, begin: &str) -> bool {
    let mut processes = shown.processes.iter();
    processes.any(|one| one.command.starts_with(begin) && one.source == "zellij")
}

/// Whether a process was started by this command line; nu makes its program's path whole.
fn is_started_by(command: &str, line: &str) -> bool {
    command.ends_with(line.trim_start_matches('.'))
}

/// What stands in front of a command that was typed: the prompt.
fn prompt<'a>(rows: &'a [String], command: &str) -> &'a str {
    let mut prompts = rows.iter().filter_map(|row| row.split_once(command));
    prompts.next().map_or("", |(prompt, _)| prompt)
}

/// After Zellij was left, the next prompt is like the one before, nothing stands between
/// and what is typed there is what runs.
async fn check_left(desk: &mut Desk, daemon: &Daemon, before: &str, shell: &str) {
    // What is typed before the prompt is there would be seen twice.
    until_rows(desk, &["Bye from Zellij!", before.trim_end()]).await;
    let run = desk.typed("echo back\r").await;
    assert_eq!(
        (run.command.as_str(), run.exit_code),
        ("echo back", Some(0)),
        "{shell}"
    );
    assert_eq!(run.cwd, daemon.home().to_string_lossy(), "{shell}");
    let shown = until_rows(desk, &["Bye from Zellij!", "back"]).await;
    let mut behind = shown.iter().skip_while(|row| !row.starts_with("Bye"));
    behind.next();
    let typed = behind.next().map_or("", String::as_str);
    let prompt = typed.split_once("echo back").map(|(prompt, _)| prompt);
    assert_eq!(prompt, Some(before), "{shell}: {shown:#?}");
    let said = behind.next().map(|row| row.trim_end());
    assert_eq!(said, Some("back"), "{shell}: {shown:#?}");
    assert_invisible(desk);
}

#[tokio::test]
#[ignore = "Zellij is built by make soak"]
async fn zellij_is_a_command_like_any_other() {
    let daemon = Daemon::start("");
    let zellij = Zellij::new(&daemon);
    for (name, shell) in shells() {
        let (mut desk, line, before) = zellij.begun(name, &shell).await;
        desk.keys("echo in''side; false\r").await;
        until_rows(&mut desk, &["inside> echo", "inside", "inside>"]).await;
        desk.keys(&format!("{INNER}\r")).await;
        let is_seen = |shown: &Session| runs_behind(shown, INNER);
        let shown = desk.session.until("it is seen inside", is_seen).await;
        // The client and the server are of the session itself.
        let own = shown.processes.iter().filter(|one| one.source == "direct");
        let own: Vec<&str> = own.map(|one| one.command.as_str()).collect();
        assert_eq!(own.len(), 2, "{shell}: {shown:?}");
        assert!(
            own.iter().any(|command| is_started_by(command, &line)),
            "{shell}: {own:?}"
        );
        assert!(
            own.iter().any(|command| command.contains(" --server ")),
            "{shell}: {own:?}"
        );
        leave(&mut desk, QUIT, &line).await;
        // What happened inside is nobody's command.
        assert_eq!(desk.commands().await.len(), 2, "{shell}");
        check_left(&mut desk, &daemon, &before, &shell).await;
        let is_over = |shown: &Session| shown.processes.is_empty();
        desk.session.until("nothing is left of it", is_over).await;
    }
}

#[tokio::test]
#[ignore = "Zellij is built by make soak"]
async fn what_zellij_goes_on_with_is_known_after_it_was_left() {
    let daemon = Daemon::start("");
    let zellij = Zellij::new(&daemon);
    for (name, shell) in shells() {
        let (mut desk, line, before) = zellij.begun(name, &shell).await;
        desk.keys(&format!("{INNER}\r")).await;
        let inner = |shown: &Session| runs_behind(shown, INNER);
        desk.session.until("it is seen inside", inner).await;
        leave(&mut desk, DETACH, &line).await;
        check_left(&mut desk, &daemon, &before, &shell).await;
        let goes_on = |shown: &Session| {
            let mut processes = shown.processes.iter();
            let has_client = processes.any(|one| is_started_by(&one.command, &line));
            !shown.busy && !has_client && inner(shown)
        };
        desk.session.until("it goes on alone", goes_on).await;
        let again = format!("./zellij attach {name}");
        desk.viewer.forget();
        enter(&mut desk, &again, name, "inside> tail").await;
        leave(&mut desk, QUIT, &again).await;
        let is_over = |shown: &Session| shown.processes.is_empty();
        desk.session.until("nothing is left of it", is_over).await;
    }
}

#[tokio::test]
#[ignore = "Zellij is built by make soak"]
async fn what_runs_behind_a_zellij_client_is_listed() {
    let daemon = Daemon::start("");
    let zellij = Zellij::new(&daemon);
    let other = "tail -s 5678 -f /dev/null";
    zellij.serve("elsewhere", other).await;
    let shows = |shown: &Session| runs_behind(shown, other);
    for (_, shell) in shells() {
        let mut desk = zellij.desk(&shell).await;
        let line = "./zellij attach elsewhere";
        enter(&mut desk, line, "elsewhere", "").await;
        let shown = desk.session.until("the server is elsewhere", shows).await;
        let own = shown.processes.iter().filter(|one| one.source == "direct");
        let own: Vec<&str> = own.map(|one| one.command.as_str()).collect();
        assert_eq!(own.len(), 1, "{shell}: {own:?}");
        assert!(is_started_by(own[0], line), "{shell}: {own:?}");
        leave(&mut desk, DETACH, line).await;
        let is_left = |shown: &Session| shown.processes.is_empty();
        desk.session.until("it has left", is_left).await;
    }
    // One that is no client is not shown what a server does, whatever its name.
    let desk = zellij.desk("bash").await;
    desk.keys("sh -c 'printf zellij > /proc/$$/comm; read x'\r")
        .await;
    let pretends = |shown: &Session| shown.quiet_reason == "terminal";
    let shown = desk.session.until("somebody pretends", pretends).await;
    assert!(!shown.processes.is_empty() && !shows(&shown), "{shown:?}");
    zellij.call(&["kill-session", "elsewhere"]);
}
