//! A repository that a sandboxed command made is not believed with more rights,
//! wherever in the workspace it is; one that does nothing is no matter.

use super::super::desk::{Desk, Ended, none, rw, rw_with_network};
use super::super::stage::Stage;
use super::MODES;
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Setup;

/// Makes the workspace one without a repository, with a session that finds it
/// like that.
async fn bare_desk(mode: SessionMode) -> Desk {
    let remove = |stage: &Stage| std::fs::remove_dir_all(stage.workspace.join(".git")).unwrap();
    Desk::prepared(Setup::default(), mode, &[], remove).await
}

/// Writes a program that leaves a file outside, and names it in every way that
/// git executes something.
pub(super) fn evil_at(desk: &Desk, repository: &str) -> String {
    let planted = desk.outside("planted");
    format!(
        "printf '#!/bin/sh\\ntouch {}\\n' > $WORKSPACE/e; chmod 755 $WORKSPACE/e; \
         cd $WORKSPACE; mkdir -p {repository}; cd {repository}; git init -q .; \
         for key in core.fsmonitor core.pager core.editor core.sshCommand filter.x.clean \
             filter.x.smudge diff.external; do git config $key $WORKSPACE/e; done; \
         git config alias.st \"!$WORKSPACE/e\"; mkdir -p .git/hooks; \
         for hook in post-checkout pre-commit post-index-change; do \
             cp $WORKSPACE/e .git/hooks/$hook; done; \
         echo '* filter=x' > .gitattributes; cd $WORKSPACE; true",
        planted.display()
    )
}

const USES: &str = "git status; git -C $WORKSPACE status; mkdir -p sub; cd sub; git status; cd ..; \
    git st; git add -A; git diff; git checkout -- . ; git -p log; true";

pub(super) async fn is_held_back(desk: &Desk, more: SandboxPolicy, uses: &str) -> Ended {
    let ended = desk.run(more, &format!("{uses}; false")).await;
    assert!(ended.refused.is_none(), "{ended:#?}");
    assert!(!desk.outside("planted").exists(), "{ended:#?}");
    ended
}

#[tokio::test]
async fn a_repository_made_at_the_root_is_not_believed() {
    for mode in MODES {
        let desk = bare_desk(mode).await;
        // A shell of the room with more rights may be there before.
        desk.works(none(), "true").await;
        desk.works(rw(), &evil_at(&desk, ".")).await;
        for more in [none(), rw_with_network()] {
            let ended = is_held_back(&desk, more, USES).await;
            let told = ended.denials.join("\n");
            assert!(told.contains("git -c safe.directory="), "{ended:#?}");
        }
        // It is the command's own word that takes it back.
        let accept = "git -c safe.directory=$WORKSPACE -c core.fsmonitor=false rev-parse --git-dir";
        assert_eq!(desk.works(none(), accept).await, ".git\n", "{mode:?}");
        // Nothing of it is left where there is no repository any more.
        let clean = "rm -rf .git; env | grep -c ^GIT_TEST_ASSUME; true";
        desk.works(none(), clean).await;
        assert_eq!(desk.works(none(), clean).await, "0\n", "{mode:?}");
    }
}

#[tokio::test]
async fn a_repository_that_takes_the_place_of_another_is_not_believed() {
    let desk = Desk::open(SessionMode::Pipe).await;
    desk.works(none(), "rm -rf .git").await;
    desk.works(rw(), &evil_at(&desk, ".")).await;
    is_held_back(&desk, none(), USES).await;
}

#[tokio::test]
async fn a_repository_made_below_is_not_believed_on_any_way() {
    for mode in MODES {
        let desk = Desk::open(mode).await;
        // Not where one goes, and not where the one around it leads git.
        let plant = format!(
            "{}; git init -q node_modules/x && cd node_modules/x && \
             git -c user.name=a -c user.email=b@c commit -q --allow-empty -m x && \
             git config core.fsmonitor $WORKSPACE/e; cd $WORKSPACE; git add -f node_modules/x",
            evil_at(&desk, "made")
        );
        desk.works(rw(), &plant).await;
        let uses = "git -C made status; cd made; git st; cd ..; git status; git diff";
        let ended = is_held_back(&desk, none(), uses).await;
        assert!(!ended.denials.is_empty(), "{mode:?}: {ended:#?}");
    }
}

#[tokio::test]
async fn what_is_still_running_does_not_change_a_repository_that_is_believed() {
    let desk = bare_desk(SessionMode::Pipe).await;
    let planted = desk.outside("planted");
    desk.works(
        rw(),
        &format!(
            "git init -q .; printf '#!/bin/sh\\ntouch {}\\n' > e; chmod 755 e; \
             (while [ ! -e go ]; do sleep 0.05; done; git config core.fsmonitor $PWD/e; \
              touch gone; sleep 600) >/dev/null 2>&1 & true",
            planted.display()
        ),
    )
    .await;
    // It changes what was harmless when the command began.
    let uses = "touch go; for i in $(seq 600); do [ -e gone ] && break; sleep 0.05; done; \
        [ -e gone ] && git status";
    let ended = is_held_back(&desk, none(), uses).await;
    assert!(ended.stderr.contains("dubious ownership"), "{ended:#?}");
}

#[tokio::test]
async fn an_ordinary_repository_is_worked_with_under_every_policy() {
    for mode in MODES {
        let desk = bare_desk(mode).await;
        let commit = "git config user.name A; git config user.email a@b.c; echo x >> f; \
            git add f && git commit -qm x";
        desk.works(rw(), &format!("git init -q . && {commit}"))
            .await;
        desk.works(rw(), commit).await;
        for more in [rw_with_network(), none()] {
            desk.works(more, commit).await;
        }
        // What somebody with more rights adds to it holds, as long as it is that.
        desk.works(none(), "git remote add origin https://localhost/x")
            .await;
        desk.works(rw(), commit).await;
        desk.works(none(), commit).await;
        desk.works(
            none(),
            "git init -q mine && cd mine && git remote add o https://localhost/x",
        )
        .await;
        desk.works(rw(), "cd $WORKSPACE").await;
        desk.works(none(), "git -C mine status").await;
        // Where walls were planned since it was made, they protect it.
        let change = "git -C mine config core.fsmonitor /nowhere";
        let changed = desk.run(rw(), change).await.code == Some(0);
        let later = desk.run(none(), "git -C mine status").await;
        let held = later.stderr.contains("dubious ownership");
        assert_eq!(held, changed, "{mode:?}: {later:#?}");
        // The others are untouched by that.
        desk.works(none(), commit).await;
    }
}

#[tokio::test]
async fn what_was_made_is_not_believed_by_the_next_daemon_either() {
    let mut desk = bare_desk(SessionMode::Pipe).await;
    desk.works(rw(), &evil_at(&desk, ".")).await;
    desk.field.daemon.crash_and_restart();
    desk.session.client = desk.field.daemon.client().await;
    is_held_back(&desk, none(), USES).await;
}

#[tokio::test]
async fn a_persons_own_repository_is_untouched() {
    let desk = Desk::open(SessionMode::Pipe).await;
    desk.works(rw(), "echo x > new").await;
    // Somebody outside gives it a program, which is theirs to say.
    let config = desk.inside(".git/config");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text.push_str("[alias]\n\tmine = !echo mine\n");
    std::fs::write(&config, text).unwrap();
    assert_eq!(desk.works(none(), "git mine").await, "mine\n");
}
