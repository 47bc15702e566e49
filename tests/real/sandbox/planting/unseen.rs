//! A repository that nobody looked at is not believed with more rights: not
//! where it is hidden from a look, not where it is made after it, and not where
//! another session or another policy made it.

use super::super::desk::{Desk, Ended, none, rw, rw_with_network};
use super::repositories::{evil_at, is_held_back};
use glass_proto::agent::v1 as agent;
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::shellglass::v1::{SessionMode, SpawnBackgroundRequest};
use shellglass_tests::program::wait_until;

/// Plants in each of these directories, and uses each with more rights.
async fn are_held_back(desk: &Desk, places: &[&str]) -> Ended {
    for place in places {
        desk.works(rw(), &evil_at(desk, place)).await;
    }
    let uses = places.iter().map(|place| {
        format!("git -C {place} status; (cd {place}/.git && git log; git -C objects status)")
    });
    let uses = uses.collect::<Vec<_>>().join("; ");
    is_held_back(desk, rw_with_network(), &uses).await;
    is_held_back(desk, none(), &uses).await
}

#[tokio::test]
async fn a_repository_that_is_hidden_from_a_look_is_not_believed() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let deep = "d/".repeat(40);
    let places = ["node_modules/x", ".venv", ".git/objects/ab", deep.as_str()];
    for place in places {
        // Each alone: one that is found makes git careful about all.
        let ended = are_held_back(&desk, &[place]).await;
        assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
        desk.works(none(), &format!("rm -rf {place}")).await;
    }
}

#[tokio::test]
async fn a_repository_that_a_name_of_its_own_hides_is_not_believed() {
    let desk = Desk::open(SessionMode::Pipe).await;
    // Git finds it by a short name, and nobody by its whole one.
    let evil = evil_at(&desk, "x");
    let plant = format!(
        "{evil}; part=$(printf '%0200d' 0); for i in $(seq 24); do mkdir $part; cd $part; done; \
         mv $WORKSPACE/x . && cd $WORKSPACE"
    );
    desk.works(rw(), &plant).await;
    let uses = "part=$(printf '%0200d' 0); for i in $(seq 24); do cd $part; done; cd x; git status";
    is_held_back(&desk, none(), uses).await;
    // A tree that deep is not left to whoever cleans up.
    desk.works(none(), "cd $WORKSPACE; rm -rf 0*").await;
}

#[tokio::test]
async fn a_repository_behind_too_much_to_look_at_is_not_believed() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let many = "mkdir many && cd many && seq 20100 | xargs mkdir && cd ..";
    desk.works(rw(), many).await;
    let ended = are_held_back(&desk, &["many/20100/x/y"]).await;
    assert!(!ended.denials.is_empty(), "{ended:#?}");
    // The workspace's own is believed, and so is what somebody with as many
    // rights makes, and what nobody of this session can write to.
    desk.works(none(), "git status").await;
    desk.works(none(), "git init -q many/1/mine").await;
    desk.works(none(), "git -C many/1/mine status").await;
    let elsewhere = desk.run(none(), "git -C $OUTSIDE/main status").await;
    let knows_patterns = desk.works(none(), "git --version").await;
    let version = knows_patterns.split(' ').nth(2).unwrap_or_default();
    let mut numbers = version
        .split('.')
        .map(|number| number.trim().parse::<u32>());
    let mut number = || numbers.next().and_then(Result::ok).unwrap_or(0);
    let knows_patterns = (number(), number()) >= (2, 46);
    assert_eq!(elsewhere.code == Some(0), knows_patterns, "{elsewhere:#?}");
}

#[tokio::test]
async fn a_repository_that_is_made_while_a_command_runs_is_not_believed() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let evil = evil_at(&desk, "late");
    let waits = format!(
        "(while [ ! -e go ]; do sleep 0.05; done; {evil}; touch gone; sleep 600) \
         >/dev/null 2>&1 & true"
    );
    desk.works(rw(), &waits).await;
    let uses = "git status || exit 9; touch go; for i in $(seq 1200); do [ -e gone ] && break; \
        sleep 0.05; done; [ -e gone ] && git -C late status";
    let ended = is_held_back(&desk, none(), uses).await;
    assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
    assert!(!ended.denials.is_empty(), "{ended:#?}");
}

#[tokio::test]
async fn a_repository_in_a_further_writable_place_is_not_believed() {
    for mode in super::MODES {
        let desk = Desk::open(mode).await;
        let further = SandboxPolicy {
            additional_readwrite_paths: vec![desk.stage.variables["RW_EXTRA"].clone()],
            ..rw()
        };
        // What is there before is the person's own.
        desk.works(
            none(),
            "git -C $RW_EXTRA init -q mine && git -C $RW_EXTRA/mine config a.b c",
        )
        .await;
        desk.works(rw(), "true").await;
        desk.works(further.clone(), &evil_at(&desk, "$RW_EXTRA/x"))
            .await;
        let ended = is_held_back(&desk, none(), "git -C $RW_EXTRA/x status").await;
        assert!(
            ended.stderr.contains("dubious ownership"),
            "{mode:?}: {ended:#?}"
        );
        desk.works(none(), "git -C $RW_EXTRA/mine status; git status")
            .await;
    }
}

#[tokio::test]
async fn a_repository_that_a_background_command_made_is_not_believed() {
    let desk = Desk::open(SessionMode::Pipe).await;
    desk.works(none(), "git config alias.mine '!echo mine'")
        .await;
    let request = SpawnBackgroundRequest {
        session_id: desk.session.id.clone(),
        args: Some(agent::BackgroundShellSpawnArgs {
            command: format!("{}; touch done", evil_at(&desk, "made")),
            sandbox_policy: Some(rw()),
            ..agent::BackgroundShellSpawnArgs::default()
        }),
        ..SpawnBackgroundRequest::default()
    };
    let answer = desk.session.client.clone().spawn_background(request).await;
    let answer = answer.unwrap().into_inner().result;
    assert!(matches!(answer, Some(Spawned::Success(_))), "{answer:?}");
    wait_until("it is planted", || desk.inside("done").exists());
    let ended = is_held_back(&desk, none(), "git -C made status").await;
    assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
    assert_eq!(desk.works(none(), "git mine").await, "mine\n");
}
