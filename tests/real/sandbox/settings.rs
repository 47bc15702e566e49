//! What the configuration says about sandboxes, and what is too much to ask.

use super::desk::{Desk, none, rw};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Setup;

/// A daemon with these settings of its sandboxes.
async fn desk(settings: &str) -> Desk {
    let setup = Setup {
        config: format!("[sandbox]\n{settings}\n"),
        ..Setup::default()
    };
    Desk::with(setup, SessionMode::Pipe, &[]).await
}

/// What nobody says anything about.
fn unspecified() -> SandboxPolicy {
    SandboxPolicy::default()
}

/// Why a command did not run.
fn refused(ended: &super::desk::Ended) -> String {
    let why = ended.refused.clone();
    why.unwrap_or_else(|| panic!("it ran: {ended:#?}"))
}

#[tokio::test]
async fn a_directory_outside_of_the_workspace_is_refused() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let request = desk.session.with_args("touch ran", |args| {
        args.working_directory = desk.outside("").display().to_string();
        args.requested_sandbox_policy = Some(rw());
    });
    let result = desk.session.client.clone().run(request).await.unwrap();
    let why = refused(&super::desk::ended(result.into_inner()));
    assert!(why.contains("outside of the workspace"), "{why}");
    assert!(why.contains("hint: "), "{why}");
    assert!(!desk.outside("ran").exists());
}

#[tokio::test]
async fn more_paths_than_a_policy_may_have_are_refused() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let path = desk.inside("").display().to_string();
    let many = SandboxPolicy {
        additional_readonly_paths: vec![path; 257],
        ..rw()
    };
    let why = refused(&desk.run(many, "true").await);
    assert!(why.contains("more than 256 further paths"), "{why}");
}

#[tokio::test]
async fn a_workspace_that_is_not_listed_cannot_be_written() {
    let desk = desk("workspaces = [\"/there/is/nothing\"]").await;
    let why = refused(&desk.run(rw(), "touch x").await);
    assert!(why.contains("cannot be the workspace"), "{why}");
    // Who asks for nothing gets less, and is told so.
    let ended = desk.run(unspecified(), "touch x").await;
    let kind = ended.policy.as_ref().map(SandboxPolicy::r#type);
    assert_eq!(kind, Some(Type::WorkspaceReadonly), "{ended:#?}");
    assert!(!desk.inside("x").exists());
}

#[tokio::test]
async fn the_configured_default_network_git_and_tmp_hold() {
    let desk = desk("default = \"ro\"\nnetwork = true\ntmp_write = false\ngit = \"all\"").await;
    let policy = desk.run(unspecified(), "true").await.policy.unwrap();
    assert_eq!(policy.r#type(), Type::WorkspaceReadonly);
    assert_eq!(policy.network_access, Some(true));
    assert_eq!(policy.disable_tmp_write, Some(true));
    assert_eq!(policy.block_git_writes, Some(true));
    let tried = desk.run(unspecified(), "touch x || touch /tmp/x").await;
    assert_ne!(tried.code, Some(0), "{tried:#?}");
}

#[tokio::test]
async fn configured_paths_are_hidden_protected_and_opened() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let names = ["hidden", "protected", "open"];
    let [hidden, protected, open] = names.map(|name| desk.outside(name));
    for path in [&hidden, &open] {
        std::fs::create_dir(path).unwrap();
    }
    std::fs::write(&protected, "as it was\n").unwrap();
    let settings = format!(
        "default = \"rw\"\nhide = [{hidden:?}]\nprotect = [{protected:?}]\nreadwrite = [{open:?}]"
    );
    let other = self::desk(&settings).await;
    let command = format!(
        "ls {} && exit 1; echo x > {} && exit 2; echo x > {}/y",
        hidden.display(),
        protected.display(),
        open.display(),
    );
    other.works(unspecified(), &command).await;
    assert!(open.join("y").exists());
    other
        .works(none(), &format!("ls {}", hidden.display()))
        .await;
}

#[tokio::test]
async fn configured_variables_stay_out_and_come_in() {
    let setup = Setup {
        config: "[sandbox]\nscrub_env = [\"KEPT_*\"]\ninherit_env = [\"PATH\", \"WANTED\"]\n"
            .to_owned(),
        variables: [("WANTED", "1"), ("UNWANTED", "1")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        ..Setup::default()
    };
    let desk = Desk::with(setup, SessionMode::Pipe, &[]).await;
    let request = desk.session.with_args("env", |args| {
        args.requested_sandbox_policy = Some(rw());
    });
    let result = desk.session.client.clone().run(request).await.unwrap();
    let seen = super::desk::ended(result.into_inner()).stdout;
    assert!(seen.contains("\nWANTED=1\n"), "{seen}");
    assert!(!seen.contains("UNWANTED=1"), "{seen}");
}

#[tokio::test]
async fn a_hook_cannot_be_rewritten_where_its_folder_can_be_written() {
    let place = super::stage::place();
    let hook = place.path().join("check.sh");
    std::fs::write(&hook, "exit 0\n").unwrap();
    let setup = Setup {
        config: format!(
            "[hooks]\nafterShellExecution = [\"sh {}\"]\n",
            hook.display()
        ),
        ..Setup::default()
    };
    let desk = Desk::with(setup, SessionMode::Pipe, &[]).await;
    let policy = SandboxPolicy {
        additional_readwrite_paths: vec![place.path().display().to_string()],
        ..rw()
    };
    let beside = place.path().join("beside");
    let write = |path: &std::path::Path| format!("echo 'exit 2' > {}", path.display());
    desk.works(policy.clone(), &write(&beside)).await;
    let away = format!("mv {0} {0}.old; {1}", hook.display(), write(&hook));
    for attempt in [write(&hook), away] {
        let tried = desk.run(policy.clone(), &attempt).await;
        assert_ne!(tried.code, Some(0), "{attempt}: {tried:#?}");
    }
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "exit 0\n");
}
