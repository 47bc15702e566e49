//! Programs that are terminals themselves, in every shell: each is one command with its
//! own end, and what happens inside of it is nobody's command.

use super::super::hosts::server::Server;
use super::desk::Desk;
use super::integration::{Case, assert_invisible, check, with_files};
use super::viewer::terminal_request;
use shellglass_tests::{Daemon, nu};

/// Every shell that marks its commands.
fn shells() -> [String; 4] {
    ["bash".to_owned(), "zsh".to_owned(), "fish".to_owned(), nu()]
}

/// Runs a program, does something in it, and expects it to be one command.
async fn check_inside(daemon: &Daemon, shell: &str, line: &str, steps: &[(&str, &str)], code: i32) {
    let mut desk = Desk::open(daemon, terminal_request(daemon, shell)).await;
    desk.prompted().await;
    desk.keys(&format!("{line}\r")).await;
    desk.runs(line).await;
    desk.viewer.forget();
    for (shown, keys) in steps {
        desk.viewer.forget_through(shown).await;
        desk.keys(keys).await;
    }
    let run = desk.ended(line).await;
    assert_eq!(
        (run.command.as_str(), run.exit_code),
        (line, Some(code)),
        "{shell}"
    );
    assert_eq!(desk.commands().await.len(), 1, "{shell}");
    check(&mut desk, shell, &[("echo hi\r", "echo hi", 0)]).await;
    assert_invisible(&desk);
}

#[tokio::test]
async fn another_host_is_one_command() {
    let server = Server::start();
    let daemon = Daemon::start("");
    let address = server.address();
    let line = format!(
        "ssh -F {} -tt {address} bash",
        server.file("ssh_config").display()
    );
    // The noise of its start files is its last word before it reads keys.
    let inner = [("\u{1e}", "echo in''side; false\r"), ("inside", "exit 3\r")];
    for shell in shells() {
        check_inside(&daemon, &shell, &line, &inner, 3).await;
    }
}

#[tokio::test]
async fn htop_and_tmux_are_commands_like_any_other() {
    let daemon = Daemon::start("");
    for (at, shell) in shells().iter().enumerate() {
        check_inside(&daemon, shell, "htop", &[("F10", "q")], 0).await;
        let tmux = format!("env -u TMUX tmux -f /dev/null -S {at}.sock new-session sh");
        let inner = [("[0] 0:sh", "echo in''side; exit\r"), ("[exited]", "")];
        check_inside(&daemon, shell, &tmux, &inner, 0).await;
    }
}

#[tokio::test]
async fn programs_that_draw_are_commands_of_nu() {
    let daemon = Daemon::start("");
    std::fs::write(daemon.home().join("text"), "a line\n").unwrap();
    for (line, steps, code) in [
        ("vim -u NONE -i NONE text", [("a line", ":cq\r")], 1),
        ("less text", [("(END)", "q")], 0),
    ] {
        check_inside(&daemon, &nu(), line, &steps, code).await;
    }
}

#[tokio::test]
async fn a_nu_in_a_shell_is_one_command_with_its_own_end() {
    let daemon = Daemon::start("");
    let line = format!("{} --no-config-file", nu());
    for shell in shells() {
        let inner = [
            ("> ", "print $\"in(1 + 1)side\"; null\r"),
            ("in2side", "exit 3\r"),
        ];
        check_inside(&daemon, &shell, &line, &inner, 3).await;
    }
}

/// A prompt of several lines and colours, made by a program that is told the code, as
/// those that people install.
const PROMPT: &str = "#!/bin/sh\necho \"code $1\" >> prompts\n\
    printf '\\033[1;36mhere\\033[0m on \\033[35mtrunk\\033[0m\\n\\033[32mown\\342\\235\\257\\033[0m '\n";

#[tokio::test]
async fn a_prompt_that_a_program_makes_is_told_the_code() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = Daemon::start("");
    let home = daemon.home();
    let program = home.join("prompt");
    std::fs::write(&program, PROMPT).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display();
    let bash = format!("made() {{ PS1=\"$({program} $?)\"; }}\nPROMPT_COMMAND=made\n");
    let zsh = format!(
        "setopt prompt_subst\nprecmd() {{ code=$? }}\n\
         PROMPT='$({program} $code)'\nRPROMPT='right'\n"
    );
    let fish = format!(
        "function fish_prompt\n{program} $status\nend\n\
         function fish_right_prompt\necho right\nend\n\
         function mine --on-event fish_preexec\necho $argv >> traced\nend\n"
    );
    let nushell = format!(
        "$env.config.show_banner = false\n$env.PROMPT_INDICATOR = ''\n\
         $env.PROMPT_COMMAND = {{|| ^{program} $env.LAST_EXIT_CODE }}\n"
    );
    for (place, text) in [
        (".bashrc", bash),
        (".zshrc", zsh),
        (".config/fish/config.fish", fish),
        (".config/nushell/config.nu", nushell),
    ] {
        let place = home.join(place);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }
    for shell in shells() {
        drop(std::fs::remove_file(home.join("prompts")));
        let mut desk = Desk::open(&daemon, with_files(&daemon, &shell, "rc")).await;
        desk.viewer.until("own❯").await;
        let failing: Case = ("sh -c 'exit 7'\r", "sh -c 'exit 7'", 7);
        check(&mut desk, &shell, &[failing, ("echo hi\r", "echo hi", 0)]).await;
        let handed = desk.session.run("echo handed").await;
        assert_eq!(
            (handed.code, handed.stdout.as_str()),
            (Some(0), "handed\r\n")
        );
        let prompts = std::fs::read_to_string(home.join("prompts")).unwrap();
        assert!(prompts.contains("code 7\n"), "{shell}: {prompts}");
        if shell == "fish" {
            let traced = std::fs::read_to_string(home.join("traced")).unwrap();
            assert_eq!(traced, "sh -c 'exit 7'\necho hi\necho handed\n");
        }
        assert_invisible(&desk);
    }
}
