//! What the walls refused is said, and nothing else is.

use super::desk::{Desk, Ended, ro, rw};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::shellglass::v1::SessionMode;

async fn denials(desk: &Desk, command: &str) -> Ended {
    let ended = desk.run(rw(), command).await;
    assert!(ended.refused.is_none(), "{command}: {ended:#?}");
    ended
}

#[tokio::test]
async fn a_refused_write_names_the_path_and_what_to_ask_for() {
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let desk = Desk::open(mode).await;
        for command in [
            "echo x > $OUTSIDE/new",
            "touch $OUTSIDE/new",
            "mkdir $OUTSIDE/new",
            "rm $OUTSIDE/decoy",
        ] {
            let ended = denials(&desk, command).await;
            assert_ne!(ended.code, Some(0), "{command}");
            let said = ended.denials.join("\n");
            let outside = desk.stage.outside.to_string_lossy().into_owned();
            assert!(said.contains(&outside), "{mode:?} {command}: {ended:#?}");
            assert!(
                said.contains("additional_readwrite_paths"),
                "{mode:?} {command}: {ended:#?}"
            );
        }
    }
}

#[tokio::test]
async fn a_refused_write_in_a_read_only_workspace_says_which_policy_it_needs() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let ended = desk.run(ro(), "echo x >> tracked.txt").await;
    assert_ne!(ended.code, Some(0));
    let said = ended.denials.join("\n");
    assert!(said.contains("tracked.txt"), "{ended:#?}");
}

#[tokio::test]
async fn a_refused_connection_says_how_to_get_a_network() {
    let desk = Desk::open(SessionMode::Pipe).await;
    // An address that leads nowhere, should it be let out.
    let ended = denials(&desk, "exec 9<>/dev/tcp/192.0.2.1/9").await;
    assert_ne!(ended.code, Some(0));
    assert!(
        ended.denials.join("\n").contains("network_access"),
        "{ended:#?}"
    );
}

#[tokio::test]
async fn protected_git_files_and_hidden_files_are_named() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let ended = denials(&desk, "echo x >> .git/config").await;
    assert!(
        ended.denials.join("\n").contains(".git/config"),
        "{ended:#?}"
    );
    let ended = denials(&desk, "echo x > .git/hooks/pre-commit").await;
    assert!(
        ended.denials.join("\n").contains(".git/hooks"),
        "{ended:#?}"
    );
}

#[tokio::test]
async fn what_a_command_brings_on_itself_is_not_blamed_on_the_walls() {
    let desk = Desk::open(SessionMode::Pipe).await;
    for command in [
        "cat no-such-file",
        "cat /no/such/file",
        "echo 'bash: /etc/x: Read-only file system'; echo 'x: /etc/passwd: Permission denied' >&2; true",
        "python3 -c 'import socket;socket.create_connection((\"127.0.0.1\",1))'",
        "false",
        "no-such-command-at-all",
        "./tracked.txt",
        "mkdir .",
        "printf 'int main(void){return 1;}' > p.c; cc p.c -o p && ./p",
        "touch f; chmod 000 f; mkdir d; chmod 000 d; ls d/x",
        "kill 999999",
    ] {
        let ended = denials(&desk, command).await;
        assert_eq!(ended.denials, Vec::<String>::new(), "{command}: {ended:#?}");
    }
}

#[tokio::test]
async fn an_ordinary_lack_of_permission_is_not_blamed_on_the_walls() {
    if super::stage::is_root() {
        // Root lacks none.
        return;
    }
    let desk = Desk::open(SessionMode::Pipe).await;
    for command in [
        "cat /etc/shadow",
        "touch /etc/x",
        "touch f; chmod 000 f; cat f",
        "ls /etc/ssl/private/x",
    ] {
        let ended = denials(&desk, command).await;
        assert_ne!(ended.code, Some(0), "{command}");
        assert_eq!(ended.denials, Vec::<String>::new(), "{command}: {ended:#?}");
    }
}

#[tokio::test]
async fn a_repository_that_cannot_be_made_is_named() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let policy = SandboxPolicy {
        block_git_writes: Some(true),
        ..rw()
    };
    for command in [
        "mkdir new && echo x > new/HEAD",
        "mkdir -p sub/.git",
        "git init -q made",
    ] {
        let ended = desk.run(policy.clone(), command).await;
        assert_ne!(ended.code, Some(0), "{command}: {ended:#?}");
        let said = ended.denials.join("\n");
        assert!(said.contains("block_git_writes"), "{command}: {ended:#?}");
    }
    // What may not be made under any policy is another matter.
    let ended = desk.run(policy, "mkdir tracked.txt").await;
    assert_eq!(ended.denials, Vec::<String>::new(), "{ended:#?}");
}
