//! What is set for shells: for all sessions, and for one.

use super::desk::is_integrated;
use super::viewer::terminal_request;
use glass_proto::agent::v1::ShellArgs;
use glass_proto::shellglass::v1::{
    CreateSessionRequest, ExecuteRequest, ReadTextRequest, SessionMode, ShellHabits,
};
use shellglass_tests::calls::{token, with_token};
use shellglass_tests::{Daemon, TestSession, eventually};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A terminal with these habits.
async fn terminal_with(daemon: &Daemon, shell: &str, habits: ShellHabits) -> TestSession {
    let request = CreateSessionRequest {
        habits: Some(habits),
        ..terminal_request(daemon, shell)
    };
    TestSession::create(daemon, request).await
}

/// What commands of a session without a terminal see of these variables.
async fn variables(daemon: &Daemon, habits: ShellHabits) -> String {
    let request = CreateSessionRequest {
        mode: SessionMode::Pipe.into(),
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        habits: Some(habits),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create(daemon, request).await;
    let looked = "echo \"$PAGER $VTE_VERSION [${PROMPT_EOL_MARK-no}] \\
        ${ITERM_SHELL_INTEGRATION_INSTALLED-no} ${POWERLEVEL9K_TERM_SHELL_INTEGRATION-no} \\
        ${PROMPT_COMMAND-no}\"";
    let seen = session.run(looked).await.stdout;
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn variables_are_as_configured_and_as_the_maker_of_a_session_says() {
    let usual = Daemon::start("");
    let nothing = ShellHabits::default();
    assert_eq!(variables(&usual, nothing).await, "cat 0 [] Yes no no");
    let otherwise = ShellHabits {
        zsh_clear_eol_mark: Some(false),
        zsh_oh_my_zsh: Some(false),
        zsh_powerlevel10k: Some(true),
        prompt_delay_ms: Some(20),
        ..nothing
    };
    assert_eq!(
        variables(&usual, otherwise).await,
        "cat 0 [no] no true sleep 0.02"
    );
    let config = "[integration]\nzsh_clear_eol_mark = false\nzsh_oh_my_zsh = false\n\
                  zsh_powerlevel10k = true\nprompt_delay_ms = 20\n";
    let set = Daemon::start(config);
    assert_eq!(
        variables(&set, nothing).await,
        "cat 0 [no] no true sleep 0.02"
    );
    let on_a_terminal = TestSession::create(&set, terminal_request(&set, "bash")).await;
    let ran = on_a_terminal
        .run("echo \"[$VTE_VERSION $POWERLEVEL9K_TERM_SHELL_INTEGRATION ${PAGER-no}]\"")
        .await;
    assert_eq!(ran.stdout, "[0 true no]\r\n");
    let mut client = usual.client().await;
    let long = CreateSessionRequest {
        habits: Some(ShellHabits {
            prompt_delay_ms: Some(60_001),
            ..nothing
        }),
        ..terminal_request(&usual, "bash")
    };
    let refused = client.create_session(long).await.expect_err("too long");
    assert_eq!(refused.code(), tonic::Code::InvalidArgument, "{refused:?}");
}

#[tokio::test]
async fn integration_is_switched_off_for_all_and_on_for_one() {
    let daemon = Daemon::start("[integration]\nenabled = false\n");
    let off = TestSession::create(&daemon, terminal_request(&daemon, "bash")).await;
    assert_eq!(off.shown().await.integration, "none: it is switched off");
    let ran = off.run("echo beside; exit 3").await;
    // Without a terminal, and so without its line ends.
    assert_eq!((ran.stdout.as_str(), ran.code), ("beside\n", Some(3)));
    let told = off.remarks("fallback").await;
    assert_eq!(told, ["it is switched off"]);
    let habits = ShellHabits {
        integration: Some(true),
        ..ShellHabits::default()
    };
    let on = terminal_with(&daemon, "bash", habits).await;
    on.until("its shell marks its commands", is_integrated)
        .await;
    let ran = on.run("echo within; (exit 3)").await;
    assert_eq!((ran.stdout.as_str(), ran.code), ("within\r\n", Some(3)));
}

/// The folders that zsh was told of.
fn folders(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            if path.ends_with("terminal/zsh") {
                found.push(path.clone());
            }
            folders(&path, found);
        }
    }
}

fn is_tidy(daemon: &Daemon) -> bool {
    let mut found = Vec::new();
    folders(daemon.home(), &mut found);
    found.is_empty()
}

#[tokio::test]
async fn the_way_to_zsh_can_be_closed_and_its_folder_does_not_stay() {
    let daemon = Daemon::start("");
    let habits = ShellHabits {
        zsh_zdotdir: Some(false),
        ..ShellHabits::default()
    };
    let closed = terminal_with(&daemon, "zsh", habits).await;
    let told = closed.shown().await.integration;
    assert_eq!(told, "none: the way through ZDOTDIR is switched off");
    assert_eq!(closed.run("echo beside").await.stdout, "beside\n");
    let open = TestSession::create(&daemon, terminal_request(&daemon, "zsh")).await;
    open.until("its shell marks its commands", is_integrated)
        .await;
    eventually("the folder is gone", || is_tidy(&daemon)).await;
    let ran = open.run("echo ${ZDOTDIR-none}").await;
    assert_eq!(ran.stdout, "none\r\n");
}

#[tokio::test]
async fn integration_that_does_not_come_up_is_waited_for_as_long_as_is_set() {
    let daemon = Daemon::start("");
    // No such shell ever has a prompt.
    std::fs::write(daemon.home().join(".zshrc"), "exec sleep 1000\n").unwrap();
    let request = |habits| CreateSessionRequest {
        startup: "rc".to_owned(),
        habits: Some(habits),
        ..terminal_request(&daemon, "zsh")
    };
    let patient = TestSession::create(&daemon, request(ShellHabits::default())).await;
    let short = ShellHabits {
        integration_timeout_ms: Some(300),
        ..ShellHabits::default()
    };
    let hasty = TestSession::create(&daemon, request(short)).await;
    let late = "none: shell integration did not come up in time";
    hasty
        .until("that is told", |shown| shown.integration == late)
        .await;
    let ran = hasty.run("echo beside").await;
    assert_eq!(ran.stdout, "beside\n");
    // The other is still waited for, with its folder.
    let waiting = patient.shown().await.integration;
    assert_eq!(waiting, "none: the shell is starting");
    let mut found = Vec::new();
    folders(daemon.home(), &mut found);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[tokio::test]
async fn powershell_would_be_given_a_number_and_a_pause() {
    let daemon = Daemon::start("[integration]\npowershell_counter = true\n");
    // No PowerShell is here: this notes what one would be given.
    let pwsh = daemon.home().join("pwsh");
    std::fs::write(&pwsh, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
    std::fs::set_permissions(&pwsh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let request = CreateSessionRequest {
        mode: SessionMode::Line.into(),
        shell: pwsh.to_string_lossy().into_owned(),
        working_directory: daemon.home().to_string_lossy().into_owned(),
        habits: Some(ShellHabits {
            prompt_delay_ms: Some(30),
            ..ShellHabits::default()
        }),
        ..CreateSessionRequest::default()
    };
    let session = TestSession::create(&daemon, request).await;
    let given = session.run("Get-Date").await.stdout;
    let lines: Vec<&str> = given.lines().collect();
    assert_eq!(lines[..3], ["-c", "Get-Date", "$GlassDone = $?"], "{given}");
    assert!(lines[3].starts_with("\"(Shellglass: "), "{given}");
    assert_eq!(lines[4], "start-sleep -milliseconds 30", "{given}");
    let again = session.run("Get-Date").await.stdout;
    assert_ne!(again, given, "it is another line each time");
    let history = session.history().await;
    assert_eq!(history.executions[0].command, "Get-Date");
}

#[tokio::test]
async fn what_a_model_reads_is_as_long_as_configured_with_every_state_of_a_bar() {
    let daemon = Daemon::start("[text]\nlines_max = 4\ncompress_progress = false\n");
    let session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    session.run("printf '0%%\\r50%%\\r100%%\\n'").await;
    session.run("seq 100 200").await;
    let mut texts = Vec::new();
    for execution in session.history().await.executions {
        let request = ReadTextRequest {
            shell_id: execution.shell_id,
            ..ReadTextRequest::default()
        };
        let read = session.client.clone().read_text(request).await.unwrap();
        texts.push(read.into_inner().output);
    }
    texts.sort();
    assert_eq!(texts[0], "0%\n50%\n100%\n");
    assert!(texts[1].lines().count() <= 4, "{texts:?}");
}

#[tokio::test]
async fn agents_are_on_terminals_where_that_is_set_and_nothing_judges_them() {
    let tools = "[integration]\ntools = true\n[session]\nshell = \"bash\"\nstartup = \"none\"\n";
    let daemon = Daemon::start(&format!("{tools}[policy]\nagent = \"off\"\n"));
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let mut outputs = Vec::new();
    for command in ["tty; kept=\"$PAGER $TERM\"", "echo \"$kept\"; (exit 3)"] {
        let request = ExecuteRequest {
            args: Some(ShellArgs {
                command: command.to_owned(),
                working_directory: daemon.home().to_string_lossy().into_owned(),
                ..ShellArgs::default()
            }),
            ..ExecuteRequest::default()
        };
        let ran = client.run(with_token(request, &agent)).await.unwrap();
        outputs.push(shellglass_tests::summary(ran.into_inner()));
    }
    assert!(outputs[0].stdout.starts_with("/dev/pts/"), "{outputs:?}");
    // The registry has picked the same terminal.
    assert_eq!(outputs[1].stdout, "cat xterm-256color\r\n");
    assert_eq!(outputs[1].code, Some(3));

    let refused = daemon.home().join("refused.toml");
    std::fs::write(&refused, tools).unwrap();
    let serve = daemon
        .command()
        .args(["serve", "--listen", "none", "--config"])
        .arg(&refused)
        .env("SHELLGLASS_HOME", daemon.home().join("other"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&serve.stderr).into_owned();
    assert_eq!(serve.status.code(), Some(2), "{said}");
    assert!(said.contains("policy.agent"), "{said}");
}
