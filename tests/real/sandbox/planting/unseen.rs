//! A repository that nobody looked at is not believed with more rights: not
//! where it is hidden from a look, not where it is made after it, and not where a
//! background command or another policy made it.

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
async fn a_repository_behind_too_much_to_look_at_is_not_believed() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let evil = evil_at(&desk, "many/1/x/y");
    // Harmless ones, more than are told apart.
    let many = "git init -q --template= one && mkdir many && \
        seq 300 | xargs -I{} cp -r one many/{}";
    desk.works(rw(), &format!("{many} && {evil}")).await;
    // The workspace's own is believed as ever.
    let uses = "git status || exit 9; git init -q mine; git -C many/1/x/y status";
    let ended = is_held_back(&desk, none(), uses).await;
    assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
    assert!(!ended.denials.is_empty(), "{ended:#?}");
    // So is what somebody with as many rights has made, and what nobody behind
    // walls can write to, where git can be told of it.
    let uses = "git -C mine status >&2 || exit 9; git --version; git -C $OUTSIDE/main status >&2";
    let ended = desk.run(none(), uses).await;
    let version = ended.stdout.split([' ', '.']).skip(2);
    let version: Vec<u32> = version
        .map_while(|number| number.trim().parse().ok())
        .collect();
    let is_told = version >= vec![2, 46];
    assert_eq!(
        ended.code,
        Some(if is_told { 0 } else { 128 }),
        "{ended:#?}"
    );
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

/// What git goes by in a repository that is there, beside its configuration.
#[tokio::test]
async fn a_part_of_a_repository_is_not_believed_either() {
    let desk = Desk::open(SessionMode::Pipe).await;
    // A part that is to be had from elsewhere, and is there already with hooks.
    let evil = evil_at(&desk, "part");
    let part = format!(
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=b@c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=b@c; \
         {evil}; git init -q clean; git -C clean commit -q --allow-empty -m x; \
         cd part; rm -rf .gitattributes .git/hooks/pre-commit; cd ..; \
         git -c core.fsmonitor=false -C part fetch -q ../clean; \
         mkdir -p .git/modules; git add clean; git mv clean sub 2>/dev/null || mv clean sub; \
         printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ./nowhere\\n' > .gitmodules; \
         git rm -q --cached clean sub 2>/dev/null; git add sub .gitmodules; \
         rm -rf sub; mkdir sub; mv part/.git .git/modules/sub"
    );
    desk.run(rw(), &part).await;
    assert!(desk.inside(".git/modules/sub/hooks").exists());
    assert!(
        desk.works(rw(), "git ls-files -s sub")
            .await
            .starts_with("160000")
    );
    let uses = "git submodule update --init; git -C sub status";
    let ended = is_held_back(&desk, none(), uses).await;
    assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
    // The same part where no look at the repository comes by.
    let hide = "mv .git/modules/sub elsewhere.git && ln -s ../../elsewhere.git .git/modules/sub";
    desk.works(rw(), hide).await;
    let ended = is_held_back(&desk, none(), uses).await;
    assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
    desk.works(
        none(),
        "rm -rf .git/modules sub .gitmodules part elsewhere.git",
    )
    .await;
    desk.works(none(), "git reset -q --hard").await;
    // Steps of a rebase that goes on.
    let planted = desk.outside("planted");
    let steps = format!(
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=b@c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=b@c; \
         git commit -q --allow-empty -m two; git rebase -q -x 'exit 3' HEAD~1; \
         echo 'exec touch {}' > .git/rebase-merge/git-rebase-todo; git status",
        planted.display()
    );
    desk.works(rw(), &steps).await;
    let ended = is_held_back(&desk, none(), "git rebase --continue").await;
    assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
    desk.works(rw(), "git rebase --abort").await;
    // Where there is nothing of that, all is as ever.
    desk.works(none(), "git status").await;
    for place in ["remotes", "branches"] {
        let ended = desk
            .run(rw(), &format!("echo URL: /evil > .git/{place}/origin"))
            .await;
        assert_ne!(ended.code, Some(0), "{place}: {ended:#?}");
    }
}
