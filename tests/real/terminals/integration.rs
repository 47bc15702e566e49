//! What a terminal's shell is known to do: every command that is typed, with its
//! text, its code and its directory, and nothing of how that is known.

use super::desk::Desk;
use super::viewer::terminal_request;
use glass_proto::shellglass::v1::CreateSessionRequest;
use glass_proto::shellglass::v1::session_event::Event;
use shellglass_tests::Daemon;

/// Text and code of a command that is typed.
pub type Case = (&'static str, &'static str, i32);

/// What bash and zsh read alike.
const POSIX: [Case; 8] = [
    ("echo hi\r", "echo hi", 0),
    ("(exit 42)\r", "(exit 42)", 42),
    ("false | true\r", "false | true", 0),
    ("true | false\r", "true | false", 1),
    ("cat <<E\rline\rE\r", "cat <<E\nline\nE", 0),
    ("nosuchcommand-x\r", "nosuchcommand-x", 127),
    ("sh -c 'kill -9 $$'\r", "sh -c 'kill -9 $$'", 137),
    ("printf 'a;b\\\\c'\r", "printf 'a;b\\\\c'", 0),
];

const FISH: [Case; 5] = [
    ("echo hi\r", "echo hi", 0),
    ("sh -c 'exit 42'\r", "sh -c 'exit 42'", 42),
    ("true | false\r", "true | false", 1),
    ("begin\recho a\rend\r", "begin\necho a\nend", 0),
    ("nosuchcommand-x\r", "nosuchcommand-x", 127),
];

pub async fn check(desk: &mut Desk, shell: &str, cases: &[Case]) {
    for (keys, text, code) in cases {
        let run = desk.typed(keys).await;
        // fish indents the lines of a block.
        let lines = run.command.lines().map(str::trim_start);
        let command = lines.collect::<Vec<_>>().join("\n");
        assert_eq!(command, *text, "{shell}");
        assert_eq!(run.exit_code, Some(*code), "{shell}: {text}");
    }
}

pub fn assert_invisible(desk: &Desk) {
    let shown = desk.viewer.text();
    for trace in ["]633", "glass", "6714", "6715", "6716", "127137"] {
        assert!(!shown.contains(trace), "{trace} is seen: {shown:?}");
    }
}

#[tokio::test]
async fn every_typed_command_is_known_with_its_text_and_code() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        let cases: &[Case] = if shell == "fish" { &FISH } else { &POSIX };
        check(&mut desk, shell, cases).await;
        let known = desk.commands().await.len();
        // An empty line and one that is given up are no commands. A terminal
        // forgets what is typed behind Ctrl+C until the prompt is back, where
        // `true` is handed over.
        desk.keys("\r").await;
        desk.keys("given up\x03").await;
        desk.settle().await;
        check(&mut desk, shell, &[("echo last\r", "echo last", 0)]).await;
        let own = desk.commands().await.into_iter();
        let own = own.filter(|run| run.command != "true");
        assert_eq!(own.count(), known + 1, "{shell}");
        desk.viewer.until("last\r\n").await;
        assert_invisible(&desk);
    }
}

#[tokio::test]
async fn a_block_is_one_command() {
    let daemon = Daemon::start("");
    for (shell, text) in [
        ("bash", "for i in 1 2; do echo $i; done"),
        ("zsh", "for i in 1 2\ndo echo $i\ndone"),
    ] {
        let mut desk = Desk::bare(&daemon, shell).await;
        let keys = "for i in 1 2\rdo echo $i\rdone\r";
        check(&mut desk, shell, &[(keys, text, 0)]).await;
        assert_eq!(desk.commands().await.len(), 1, "{shell}");
    }
}

#[tokio::test]
async fn the_directory_follows_the_shell() {
    let daemon = Daemon::start("");
    let odd = daemon.home().join("a b;c\\d é");
    std::fs::create_dir(&odd).unwrap();
    let odd = odd.to_string_lossy().into_owned();
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        let moved = desk.typed("cd 'a b;c\\d é'\r").await;
        assert_eq!(moved.exit_code, Some(0), "{shell}");
        assert_eq!(moved.cwd, daemon.home().to_string_lossy(), "{shell}");
        let there = desk.typed("true\r").await;
        assert_eq!(there.cwd, odd, "{shell}");
        let shown = desk
            .session
            .until("it is there", |shown| shown.working_directory == odd);
        shown.await;
    }
}

#[tokio::test]
async fn a_shell_is_busy_while_a_command_runs_and_idle_at_its_prompt() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        desk.session
            .until("it is idle", |shown| !shown.busy && !shown.running)
            .await;
        desk.keys("sleep 1000\r").await;
        desk.runs("sleep 1000").await;
        // Before it has the keyboard, Ctrl+C is the shell's.
        desk.is_in_front("sleep 1000").await;
        desk.keys("\x03").await;
        let run = desk.ended("sleep").await;
        assert_eq!(run.exit_code, Some(130), "{shell}");
        let last = |shown: &glass_proto::shellglass::v1::Session| {
            !shown.busy && shown.last_command == "sleep 1000" && shown.last_exit_code == Some(130)
        };
        desk.session.until("it is known as the last", last).await;
    }
}

#[tokio::test]
async fn what_the_history_is_not_to_have_is_not_known() {
    let daemon = Daemon::start("");
    for (shell, setting) in [
        ("bash", "HISTCONTROL=ignoreboth\r"),
        ("zsh", "setopt hist_ignore_space\r"),
        ("fish", "true\r"),
    ] {
        let mut desk = Desk::bare(&daemon, shell).await;
        desk.typed(setting).await;
        check(&mut desk, shell, &[("echo one\r", "echo one", 0)]).await;
        check(&mut desk, shell, &[(" echo hunter2\r", "", 0)]).await;
        // The last line once more is the last line, and not a secret.
        check(&mut desk, shell, &[("echo one\r", "echo one", 0)]).await;
        check(&mut desk, shell, &[("echo one\r", "echo one", 0)]).await;
    }
}

#[tokio::test]
async fn a_shell_in_a_shell_is_one_command_with_its_own_end() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        desk.keys("bash --norc\r").await;
        desk.runs("bash --norc").await;
        desk.viewer.forget();
        desk.keys("echo in''ner; false\r").await;
        desk.viewer.until("inner\r\n").await;
        desk.keys("exit 3\r").await;
        let run = desk.ended("the inner shell").await;
        assert_eq!(
            (run.command.as_str(), run.exit_code),
            ("bash --norc", Some(3))
        );
        assert_eq!(desk.commands().await.len(), 1, "{shell}");
    }
}

#[tokio::test]
async fn full_screen_programs_are_commands_like_any_other() {
    let daemon = Daemon::start("");
    std::fs::write(daemon.home().join("text"), "a line\n").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        desk.keys("vim -u NONE -i NONE text\r").await;
        desk.runs("vim -u NONE -i NONE text").await;
        desk.viewer.until("a line").await;
        desk.keys(":cq\r").await;
        assert_eq!(desk.ended("vim").await.exit_code, Some(1), "{shell}");
        desk.keys("less text\r").await;
        desk.runs("less text").await;
        desk.viewer.until("(END)").await;
        desk.keys("q").await;
        assert_eq!(desk.ended("less").await.exit_code, Some(0), "{shell}");
        check(&mut desk, shell, &[("clear\r", "clear", 0)]).await;
        check(&mut desk, shell, &[("echo hi\r", "echo hi", 0)]).await;
        assert_invisible(&desk);
    }
}

#[tokio::test]
async fn a_job_that_ends_at_the_prompt_changes_nothing() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        check(&mut desk, shell, &[("sleep 0.1 &\r", "sleep 0.1 &", 0)]).await;
        desk.keys("\r").await;
        let wait: Case = ("wait; sh -c 'exit 5'\r", "wait; sh -c 'exit 5'", 5);
        check(&mut desk, shell, &[wait]).await;
        assert_eq!(desk.commands().await.len(), 2, "{shell}");
    }
}

pub fn with_files(daemon: &Daemon, shell: &str, startup: &str) -> CreateSessionRequest {
    CreateSessionRequest {
        startup: startup.to_owned(),
        ..terminal_request(daemon, shell)
    }
}

#[tokio::test]
async fn the_users_own_files_and_hooks_go_on() {
    let daemon = Daemon::start("");
    let home = daemon.home();
    let bash = "set -u\nPS1='mine> '\nmade=1\n\
                themed() { echo \"code $?\" >> prompts; PS1=\"mine> \"; }\n\
                PROMPT_COMMAND=themed\n\
                trap 'echo \"$BASH_COMMAND\" >> traced' DEBUG\n";
    std::fs::write(home.join(".bashrc"), bash).unwrap();
    std::fs::write(home.join(".bash_profile"), ". ~/.bashrc\nlogged_in=1\n").unwrap();
    let zsh = "setopt no_unset\nPS1='mine> '\nmade=1\n\
               precmd() { echo \"code $?\" >> prompts }\n\
               preexec() { echo \"$1\" >> traced }\n";
    std::fs::write(home.join(".zshrc"), zsh).unwrap();
    std::fs::write(home.join(".zshenv"), "zdotdir=${ZDOTDIR-unset}\n").unwrap();
    for (shell, startup) in [
        ("bash", "rc"),
        ("bash", "login"),
        ("zsh", "rc"),
        ("zsh", "login"),
    ] {
        for file in ["prompts", "traced"] {
            drop(std::fs::remove_file(home.join(file)));
        }
        let mut desk = Desk::open(&daemon, with_files(&daemon, shell, startup)).await;
        desk.viewer.until("mine>").await;
        check(
            &mut desk,
            shell,
            &[("sh -c 'exit 7'\r", "sh -c 'exit 7'", 7)],
        )
        .await;
        let told = desk
            .typed("echo \"[$made-${ZDOTDIR-no}-${ENV-no}]\"\r")
            .await;
        assert_eq!(told.exit_code, Some(0), "{shell} {startup}");
        desk.viewer.until("[1-no-no]\r\n").await;
        let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap_or_default();
        assert!(
            read("prompts").contains("code 7\n"),
            "{shell}: {}",
            read("prompts")
        );
        assert!(
            read("traced").contains("exit 7"),
            "{shell}: {}",
            read("traced")
        );
        assert_invisible(&desk);
    }
}

#[tokio::test]
async fn a_shell_that_ends_at_the_first_failure_does_not_end_over_us() {
    let daemon = Daemon::start("");
    let home = daemon.home();
    std::fs::write(home.join(".bashrc"), "set -eu\nPS1='> '\n").unwrap();
    std::fs::write(home.join(".zshrc"), "set -eu\nPS1='> '\n").unwrap();
    for shell in ["bash", "zsh"] {
        let mut desk = Desk::open(&daemon, with_files(&daemon, shell, "rc")).await;
        check(
            &mut desk,
            shell,
            &[("echo a\r", "echo a", 0), ("echo b\r", "echo b", 0)],
        )
        .await;
        desk.keys("false\r").await;
        assert_eq!(desk.viewer.end().await, Some(1), "{shell}");
    }
}

#[tokio::test]
async fn a_command_that_ends_the_shell_has_the_shells_code() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        desk.keys("exit 6\r").await;
        assert_eq!(desk.viewer.end().await, Some(6), "{shell}");
        let run = desk.ended("exit").await;
        assert_eq!(
            (run.command.as_str(), run.exit_code),
            ("exit 6", Some(6)),
            "{shell}"
        );
    }
}

#[tokio::test]
async fn a_commands_output_is_its_own_part_of_the_terminals() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        let run = desk.typed("seq 1 3\r").await;
        let id = run.shell_id.to_string();
        let read = daemon.command().args(["output", &id]).output().unwrap();
        let read = String::from_utf8_lossy(&read.stdout).into_owned();
        assert_eq!(read, "1\r\n2\r\n3\r\n", "{shell}");
        let shells = desk.events().await[0].shell_id.to_string();
        let whole = daemon.command().args(["output", &shells]).output().unwrap();
        let whole = String::from_utf8_lossy(&whole.stdout).into_owned();
        assert!(whole.contains("1\r\n2\r\n3\r\n"), "{shell}: {whole:?}");
    }
}

#[tokio::test]
async fn nobody_can_read_what_our_markers_carry() {
    let daemon = Daemon::start("");
    for shell in ["bash", "zsh", "fish"] {
        let mut desk = Desk::bare(&daemon, shell).await;
        let environment = desk
            .typed("env -u PS1 > env; ls -aR run/sessions/*/terminal > files\r")
            .await;
        assert_eq!(environment.exit_code, Some(0), "{shell}");
        let read = |name: &str| std::fs::read_to_string(daemon.home().join(name)).unwrap();
        assert!(!read("env").contains("lass_"), "{shell}: {}", read("env"));
        for script in ["start.bash", ".zshenv", "start.fish", "next"] {
            assert!(
                !read("files").contains(script),
                "{shell}: {}",
                read("files")
            );
        }
        // A shell that is asked for it says it; the journal does not have it.
        let asked = "echo \"no''nce:$__glass_nonce$_glass_nonce\" > nonce\r";
        desk.typed(asked).await;
        let nonce = read("nonce");
        let nonce = nonce.trim().rsplit(':').next().unwrap_or_default();
        assert_eq!(nonce.len(), 32, "{shell}");
        let journal = daemon.home().join("data");
        let found = std::process::Command::new("grep")
            .args(["-rlaF", nonce])
            .arg(journal)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{shell}");
    }
}

#[tokio::test]
async fn how_much_the_shell_tells_is_an_event() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, "bash").await;
    let run = desk.typed("cd /usr; sh -c 'exit 3'\r").await;
    let told: Vec<Event> = desk
        .events()
        .await
        .into_iter()
        .filter_map(|one| one.event)
        .collect();
    let rich =
        |event: &Event| matches!(event, Event::Integration(change) if change.level == "rich");
    assert!(told.iter().any(rich), "{told:?}");
    let began = |event: &Event| match event {
        Event::CommandStart(start) => start.command == run.command && start.is_trusted,
        _ => false,
    };
    let ended = |event: &Event| match event {
        Event::Exit(exit) => exit.command == run.command && exit.code == Some(3) && exit.is_trusted,
        _ => false,
    };
    let moved = |event: &Event| matches!(event, Event::Cwd(change) if change.cwd == "/usr");
    for (what, count) in [
        ("began", told.iter().filter(|event| began(event)).count()),
        ("ended", told.iter().filter(|event| ended(event)).count()),
        ("moved", told.iter().filter(|event| moved(event)).count()),
    ] {
        assert_eq!(count, 1, "it {what} once: {told:?}");
    }
}
