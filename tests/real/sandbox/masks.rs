//! What the host undoes while a session lives is back before the next command.

use super::desk::{Desk, rw};
use super::stage::git;
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Setup;
use std::path::Path;

/// Saves a file as editors do: another one takes its place.
fn save(path: &Path, text: &str) {
    let beside = path.with_extension("saving");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, path).unwrap();
}

fn ignoring(desk: &Desk, pattern: &str) -> SandboxPolicy {
    let workspace = desk.stage.workspace.to_string_lossy();
    let mapping = format!(r#"{{"{workspace}": ["{pattern}"]}}"#);
    SandboxPolicy {
        ignore_mapping_json: Some(mapping),
        ..rw()
    }
}

#[tokio::test]
async fn git_configuration_is_protected_again_after_the_host_has_changed_it() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let plant = "echo '[core]' >> .git/config";
    for round in 0..3 {
        let tried = desk.run(rw(), plant).await;
        assert_ne!(tried.code, Some(0), "{round}: {tried:#?}");
        git(
            &desk.stage.workspace,
            &["config", "user.name", &format!("n{round}")],
        );
        let tried = desk.run(rw(), plant).await;
        assert_ne!(tried.code, Some(0), "after {round}: {tried:#?}");
        // What the host wrote is what is seen inside.
        let seen = desk.works(rw(), "git config user.name").await;
        assert_eq!(seen, format!("n{round}\n"));
    }
    git(
        &desk.stage.workspace,
        &["commit", "-q", "--allow-empty", "-m", "by the host"],
    );
    assert_eq!(
        desk.works(rw(), "git log --format=%s -1").await,
        "by the host\n"
    );
}

#[tokio::test]
async fn hooks_are_protected_again_after_the_host_has_replaced_their_folder() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let plant = "echo evil > .git/hooks/pre-commit";
    assert_ne!(desk.run(rw(), plant).await.code, Some(0));
    let hooks = desk.inside(".git/hooks");
    std::fs::rename(&hooks, desk.inside(".git/old-hooks")).unwrap();
    std::fs::create_dir(&hooks).unwrap();
    let tried = desk.run(rw(), plant).await;
    assert_ne!(tried.code, Some(0), "{tried:#?}");
    assert!(!hooks.join("pre-commit").exists());
}

#[tokio::test]
async fn an_ignored_file_is_hidden_again_after_an_editor_has_saved_it() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let policy = ignoring(&desk, "secret_dir/.env.secret");
    let secret = desk.inside("secret_dir/.env.secret");
    let read = "cat secret_dir/.env.secret";
    for round in 0..3 {
        let tried = desk.run(policy.clone(), read).await;
        assert_ne!(tried.code, Some(0), "{round}: {tried:#?}");
        save(&secret, "SBX_IGNORED_CONTENT=2\n");
        let tried = desk.run(policy.clone(), read).await;
        assert_eq!(tried.stdout, "", "after {round}: {tried:#?}");
        assert_ne!(tried.code, Some(0), "after {round}: {tried:#?}");
    }
}

#[tokio::test]
async fn an_ignored_file_that_comes_later_is_hidden_from_its_first_command_on() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let policy = ignoring(&desk, "**/.env");
    desk.works(policy.clone(), "true").await;
    std::fs::create_dir(desk.inside("fresh")).unwrap();
    for file in [".env", "secret_dir/.env", "fresh/.env"] {
        save(&desk.inside(file), "SBX_IGNORED_CONTENT=3\n");
        let tried = desk.run(policy.clone(), &format!("cat {file}")).await;
        assert_eq!(tried.stdout, "", "{file}: {tried:#?}");
        let tried = desk.run(policy.clone(), &format!("echo x > {file}")).await;
        assert_ne!(tried.code, Some(0), "{file}: {tried:#?}");
    }
}

#[tokio::test]
async fn the_workspaces_own_list_counts_and_cannot_be_changed_inside() {
    let desk = Desk::with(Setup::default(), SessionMode::Pipe, &["ignore_list"]).await;
    std::fs::write(desk.inside("my.key"), "SBX_IGNORED_CONTENT=4\n").unwrap();
    let tried = desk.run(rw(), "cat my.key").await;
    assert_eq!(
        (tried.stdout.as_str(), tried.code == Some(0)),
        ("", false),
        "{tried:#?}"
    );
    let tried = desk.run(rw(), ": > .shellglassignore").await;
    assert_ne!(tried.code, Some(0), "{tried:#?}");
    let tried = desk
        .run(
            rw(),
            "mv .shellglassignore x; rm -f .shellglassignore; cat my.key",
        )
        .await;
    assert_eq!(tried.stdout, "", "{tried:#?}");
    // The host may, and it counts at once.
    save(&desk.inside(".shellglassignore"), "*.key\n*.pem\n");
    std::fs::write(desk.inside("my.pem"), "SBX_IGNORED_CONTENT=5\n").unwrap();
    let tried = desk.run(rw(), "cat my.pem; cat my.key").await;
    assert_eq!(tried.stdout, "", "{tried:#?}");
}

#[tokio::test]
async fn a_project_file_is_protected_again_after_an_editor_has_saved_it() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let file = desk.inside(".vscode/tasks.json");
    for round in 0..2 {
        let tried = desk.run(rw(), "echo evil > .vscode/tasks.json").await;
        assert_ne!(tried.code, Some(0), "{round}: {tried:#?}");
        save(&file, "{\"saved\": true}\n");
    }
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "{\"saved\": true}\n"
    );
}

#[tokio::test]
async fn a_socket_that_the_host_opens_later_cannot_be_reached() {
    let desk = Desk::open(SessionMode::Pipe).await;
    desk.works(rw(), "true").await;
    let later = desk.outside("later.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&later).unwrap();
    // New sockets are looked for once a second.
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let reach = format!(
        "python3 -c 'import socket,sys;socket.socket(1).connect(sys.argv[1])' {}",
        later.display()
    );
    let tried = desk.run(rw(), &reach).await;
    assert_ne!(tried.code, Some(0), "{tried:#?}");
}

#[tokio::test]
async fn nothing_is_left_in_the_workspace_when_a_session_is_gone() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let listed = || {
        let mut names: Vec<String> = std::fs::read_dir(&desk.stage.workspace)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let mut before = listed();
    // Its shell may be on its way already, and so may what its walls stand on.
    before.retain(|name| !name.starts_with(".shellglass"));
    desk.works(rw(), "true").await;
    desk.session.dispose().await;
    assert_eq!(listed(), before);
}
