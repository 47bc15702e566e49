//! A sandboxed command cannot leave anything behind that a later command of
//! the same session, with more rights, executes or believes.

use super::desk::{Desk, none, ro, rw, rw_with_network};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Setup;

mod repositories;
mod unseen;

const MODES: [SessionMode; 2] = [SessionMode::Pipe, SessionMode::Line];

/// What a later command with more rights does; it uses what was planted if it
/// can.
const ORDINARY: &str = "ls >/dev/null; cat tracked.txt >/dev/null; git status >/dev/null; \
    cd . ; echo $HOME >/dev/null; bash -c true; sh -c true; python3 -c pass; true";

/// Plants, and then works with more rights: the planted thing would make a
/// file outside.
async fn is_not_believed(plant: &str, later: &str) {
    for mode in MODES {
        let desk = Desk::open(mode).await;
        let planted = desk.outside("planted");
        let evil = format!("touch {}", planted.display());
        let plant = plant.replace("EVIL", &evil);
        let first = desk.run(rw(), &plant).await;
        assert!(first.refused.is_none(), "{mode:?}: {first:#?}");
        assert!(!planted.exists(), "{mode:?}: it got out by itself: {plant}");
        let second = desk.run(none(), later).await;
        assert!(second.refused.is_none(), "{mode:?}: {second:#?}");
        assert!(!planted.exists(), "{mode:?}: {plant}\n{second:#?}");
    }
}

#[tokio::test]
async fn functions_are_not_believed() {
    let plant = "for f in ls cat git cd echo python3 bash true; do \
        eval \"$f() { EVIL; command $f \\\"\\$@\\\"; }; export -f $f\"; done";
    is_not_believed(plant, ORDINARY).await;
}

#[tokio::test]
async fn aliases_are_not_believed() {
    let plant =
        "shopt -s expand_aliases; for f in ls cat git true; do alias $f='EVIL; command '$f; done";
    is_not_believed(plant, ORDINARY).await;
}

#[tokio::test]
async fn traps_are_not_believed() {
    let plant = "trap 'EVIL' DEBUG ERR EXIT RETURN USR1; set -o functrace";
    is_not_believed(plant, &format!("{ORDINARY}; false; kill -USR1 $$; true")).await;
}

#[tokio::test]
async fn options_are_not_believed() {
    let plant = "PS4='$(EVIL)'; export PS4; set -x; set -o history; PROMPT_COMMAND='EVIL'; export PROMPT_COMMAND SHELLOPTS";
    is_not_believed(plant, ORDINARY).await;
}

#[tokio::test]
async fn variables_that_execute_are_not_believed() {
    let plant = "mkdir -p bin py && for f in ls cat git python3 bash sh evil; do \
            printf '#!/bin/sh\\nEVIL\\n' > bin/$f; chmod 755 bin/$f; done; \
        echo 'import os; os.system(\"EVIL\")' > py/sitecustomize.py; echo EVIL > rc; \
        export PATH=$PWD/bin:$PATH BASH_ENV=$PWD/rc ENV=$PWD/rc PYTHONPATH=$PWD/py \
            GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=$PWD/bin/evil \
            GIT_EXEC_PATH=$PWD/bin GIT_SSH_COMMAND=$PWD/bin/evil PAGER=$PWD/bin/evil \
            EDITOR=$PWD/bin/evil GIT_EDITOR=$PWD/bin/evil LESSOPEN=\"|$PWD/bin/evil %s\"; \
        hash -p $PWD/bin/ls ls 2>/dev/null; true";
    let later =
        format!("{ORDINARY}; git --paginate log >/dev/null; less tracked.txt >/dev/null; true");
    is_not_believed(plant, &later).await;
}

#[tokio::test]
async fn a_preloaded_library_is_not_believed() {
    let plant = "echo '#include <stdlib.h>
        __attribute__((constructor)) static void f(void) { unsetenv(\"LD_PRELOAD\"); system(\"EVIL\"); }' > e.c \
        && cc -shared -fPIC -o e.so e.c && export LD_PRELOAD=$PWD/e.so LD_LIBRARY_PATH=$PWD";
    is_not_believed(plant, ORDINARY).await;
}

#[tokio::test]
async fn a_plain_variable_crosses() {
    // The other side of it: a session is still a session.
    let desk = Desk::open(SessionMode::Pipe).await;
    desk.works(rw(), "export MY_SETTING=hello; mkdir -p sub; cd sub")
        .await;
    let seen = desk.works(none(), "echo $MY_SETTING; pwd").await;
    let sub = desk.inside("sub");
    assert_eq!(seen, format!("hello\n{}\n", sub.display()));
}

#[tokio::test]
async fn git_configuration_is_not_believed() {
    let plant = "printf '#!/bin/sh\\nEVIL\\n' > e; chmod 755 e; \
        git config core.fsmonitor $PWD/e; git config core.hooksPath $PWD; git config core.pager $PWD/e; \
        git config alias.status \"!$PWD/e\"; git config --global core.fsmonitor $PWD/e; \
        cp e .git/hooks/post-checkout; cp e .git/hooks/post-index-change; \
        printf '[core]\\n\\tfsmonitor = %s\\n' $PWD/e > .git/config.worktree; \
        mkdir -p .git/x && echo $PWD/.git/x > .git/commondir; true";
    is_not_believed(
        plant,
        &format!("{ORDINARY}; git checkout -q . ; git diff; true"),
    )
    .await;
}

#[tokio::test]
async fn a_repository_that_was_made_around_the_session_is_not_believed() {
    let evil = "printf '#!/bin/sh\\nEVIL\\n' > ../e; chmod 755 ../e; ";
    let nested = "mkdir -p made/in && cd made && git init -q . && cd in && EVIL_FILE; \
        git config core.fsmonitor $PWD/../e; true";
    let bare = "git init -q --bare made && cd made && mkdir in && cd in && EVIL_FILE; \
        git config core.bare false; git config core.worktree $WORKSPACE; \
        git config core.fsmonitor $PWD/../e; true";
    for plant in [nested, bare] {
        let plant = plant.replace("EVIL_FILE", evil.trim().trim_end_matches(';'));
        is_not_believed(&plant, ORDINARY).await;
    }
}

#[tokio::test]
async fn a_repository_that_was_there_before_is_stayed_in() {
    let desk = Desk::with(Setup::default(), SessionMode::Pipe, &["nested_repository"]).await;
    desk.works(rw(), "cd nested_repo").await;
    let seen = desk.works(rw_with_network(), "pwd").await;
    assert_eq!(seen, format!("{}\n", desk.inside("nested_repo").display()));
    desk.works(ro(), "true").await;
    let seen = desk.works(none(), "pwd").await;
    assert_eq!(seen, format!("{}\n", desk.inside("nested_repo").display()));
}

#[tokio::test]
async fn a_directory_that_became_a_link_is_not_followed() {
    for mode in MODES {
        let desk = Desk::open(mode).await;
        desk.works(rw(), "mkdir -p deep/here && cd deep/here").await;
        let swap = format!(
            "cd ../.. && mv deep old && ln -s {} deep && mkdir -p old/here; cd old/here 2>/dev/null; \
             cd $WORKSPACE/old/here",
            desk.stage.outside.display()
        );
        std::fs::create_dir_all(desk.outside("here")).unwrap();
        desk.works(rw(), &swap).await;
        // The session believes to be in a directory that is a link by now.
        let swap_back = "mv $WORKSPACE/old $WORKSPACE/older && ln -s $OUTSIDE $WORKSPACE/old";
        desk.works(rw(), swap_back).await;
        let later = desk.run(none(), "touch landed").await;
        let landed = desk.outside("here/landed");
        assert!(!landed.exists(), "{mode:?}: {later:#?}");
    }
}

/// What one policy leaves in temporary places another one does not see.
async fn leaves_no_temporary_file(first: SandboxPolicy, second: SandboxPolicy) {
    let name = format!(
        "sg-plant-{}-{}",
        std::process::id(),
        super::outside::unique()
    );
    let desk = Desk::open(SessionMode::Pipe).await;
    for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
        let path = format!("{folder}/{name}");
        desk.works(first.clone(), &format!("echo evil > {path}"))
            .await;
        let there = desk.run(second.clone(), &format!("[ ! -e {path} ]")).await;
        assert_eq!(there.code, Some(0), "{path}: {there:#?}");
        assert!(
            !std::path::Path::new(&path).exists(),
            "{path} is on the host"
        );
    }
}

#[tokio::test]
async fn temporary_files_stay_with_their_policy() {
    leaves_no_temporary_file(rw(), none()).await;
    leaves_no_temporary_file(ro(), rw()).await;
    leaves_no_temporary_file(rw(), rw_with_network()).await;
}

#[tokio::test]
async fn temporary_files_last_from_command_to_command() {
    let desk = Desk::open(SessionMode::Pipe).await;
    desk.works(rw(), "echo mine > /tmp/kept; echo mine > /var/tmp/kept")
        .await;
    assert_eq!(desk.works(rw(), "cat /tmp/kept").await, "mine\n");
    desk.works(none(), "true").await;
    assert_eq!(desk.works(rw(), "cat /tmp/kept").await, "mine\n");
}

#[tokio::test]
async fn each_policy_has_the_rights_that_it_says() {
    for mode in MODES {
        let desk = Desk::open(mode).await;
        let write = "echo x > file-$RANDOM";
        let out = "touch \"$OUTSIDE/wrote\"";
        for (policy, inside, outside) in [
            (rw(), true, false),
            (ro(), false, false),
            (none(), true, true),
            (rw(), true, false),
        ] {
            let wrote = desk.run(policy.clone(), write).await;
            assert_eq!(
                wrote.code == Some(0),
                inside,
                "{mode:?} {policy:?}: {wrote:#?}"
            );
            let wrote = desk.run(policy.clone(), out).await;
            assert_eq!(
                wrote.code == Some(0),
                outside,
                "{mode:?} {policy:?}: {wrote:#?}"
            );
            let said = wrote.policy.expect("a result says its policy");
            assert_eq!(said.r#type, policy.r#type, "{mode:?}");
            // Nothing of the last round counts.
            let _ = std::fs::remove_file(desk.outside("wrote"));
        }
    }
}

#[tokio::test]
async fn what_was_planted_is_not_believed_by_the_next_daemon_either() {
    for mode in MODES {
        let mut desk = Desk::open(mode).await;
        let session = desk.field.session(&desk.stage, mode, Some(rw())).await;
        desk.session = session.expect("a session is made");
        let plant = "export PATH=$PWD/evil:$PATH BASH_ENV=$PWD/evil PLAIN=kept";
        assert_eq!(desk.session.run(plant).await.code, Some(0), "{mode:?}");
        // What is exported is learnt and written down when the shell rests.
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        desk.field.daemon.crash_and_restart();
        desk.session.client = desk.field.daemon.client().await;
        let seen = desk
            .works(
                none(),
                "echo \"PLAIN=$PLAIN BASH_ENV=$BASH_ENV\"; echo $PATH",
            )
            .await;
        assert!(
            seen.starts_with("PLAIN=kept BASH_ENV=\n"),
            "{mode:?}: {seen}"
        );
        assert!(!seen.contains("evil"), "{mode:?}: {seen}");
        // Where it was exported it still holds.
        let seen = desk.session.run("echo $PATH").await.stdout;
        assert!(seen.contains("evil"), "{mode:?}: {seen}");
    }
}
