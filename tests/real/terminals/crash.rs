//! A terminal outlives the daemon, and its screen does too.

use super::desk::Desk;
use super::viewer::{Viewer, open, terminal, terminal_request};
use glass_proto::shellglass::v1::{AttachOpen, CreateSessionRequest, Session};
use shellglass_tests::{Daemon, TestSession};

/// What a new client is drawn.
async fn drawn(daemon: &Daemon, session: &TestSession) -> Vec<u8> {
    let client = daemon.client().await;
    let watching = AttachOpen {
        read_only: true,
        ..open(session)
    };
    let mut viewer = Viewer::open(&client, watching).await;
    viewer.ready().await;
    viewer.bytes
}

#[tokio::test]
async fn the_screen_after_a_crash_is_the_one_before_it() {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    viewer
        .type_in("printf '\\e[31mred\\e[0m\\e]2;title\\a\\e[?25l\\e[5;10Hhere'; seq 1 50 >&2; sleep 600\r")
        .await;
    viewer.until("\r\n50\r\n").await;
    // The size changes in between, so that there is a saved screen.
    viewer.resize(70, 20).await;
    session
        .until("it has its new size", |shown| shown.rows == 20)
        .await;
    let before = drawn(&daemon, &session).await;
    daemon.crash_and_restart();
    let after = drawn(&daemon, &session).await;
    assert_eq!(
        String::from_utf8_lossy(&after),
        String::from_utf8_lossy(&before)
    );
}

#[tokio::test]
async fn what_comes_while_no_daemon_lives_is_shown_by_the_next() {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    viewer
        .type_in("x=5; until [ -e go ]; do sleep 0.02; done; echo lat''er; touch came\r")
        .await;
    viewer.until("touch came\r\n").await;
    drop(viewer);
    daemon.kill();
    std::fs::write(daemon.home().join("go"), "").unwrap();
    let came = daemon.home().join("came");
    shellglass_tests::eventually("it goes on", || came.exists()).await;
    daemon.spawn();
    daemon.wait_until_ready();
    let client = daemon.client().await;
    let mut viewer = Viewer::open(&client, open(&session)).await;
    viewer.until("later").await;
    viewer.ready().await;
    viewer.type_in("echo x is $x; exit 9\r").await;
    viewer.until("x is 5\r\n").await;
    assert_eq!(viewer.end().await, Some(9));
}

#[tokio::test]
async fn a_long_recording_is_not_read_again_from_its_beginning() {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    viewer
        .type_in("seq 1 2000000; echo do''ne; sleep 600\r")
        .await;
    viewer.until("done\r\n").await;
    drop(viewer);
    let before = drawn(&daemon, &session).await;
    let saved = daemon
        .home()
        .join(format!("run/sessions/{}/screen", session.id));
    let header = std::fs::read(&saved).unwrap();
    let header = String::from_utf8_lossy(&header[..40]).into_owned();
    let offset: u64 = header.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(offset > 8 << 20, "{header:?}");
    daemon.crash_and_restart();
    assert_eq!(drawn(&daemon, &session).await, before);
}

#[tokio::test]
async fn a_shell_that_ends_while_no_daemon_lives_is_told_of_by_the_next() {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    viewer
        .type_in("echo $$ >pid; until [ -e go ]; do sleep 0.02; done; exit 6\r")
        .await;
    let pid = daemon.home().join("pid");
    shellglass_tests::eventually("it waits", || {
        std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'))
    })
    .await;
    let shell: u32 = std::fs::read_to_string(&pid)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    daemon.kill();
    std::fs::write(daemon.home().join("go"), "").unwrap();
    shellglass_tests::eventually("it ends", || {
        !std::path::Path::new(&format!("/proc/{shell}")).exists()
    })
    .await;
    daemon.spawn();
    daemon.wait_until_ready();
    let list = || {
        let ran = daemon.command().args(["history", &session.id]).output();
        String::from_utf8_lossy(&ran.unwrap().stdout).into_owned()
    };
    shellglass_tests::eventually("its end is known", || list().contains("exit 6")).await;
}

#[tokio::test]
async fn a_saved_screen_that_is_nonsense_is_not_believed() {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    let mut viewer = Viewer::open(&session.client, open(&session)).await;
    viewer.ready().await;
    viewer.type_in("echo wo''rds; sleep 600\r").await;
    viewer.until("words\r\n").await;
    drop(viewer);
    let saved = daemon
        .home()
        .join(format!("run/sessions/{}/screen", session.id));
    daemon.kill();
    let _ = std::fs::remove_file(&saved);
    std::os::unix::fs::symlink("/dev/zero", &saved).unwrap();
    daemon.spawn();
    daemon.wait_until_ready();
    let text = drawn(&daemon, &session).await;
    assert!(String::from_utf8_lossy(&text).contains("words"));
}

#[tokio::test]
async fn what_a_terminal_was_made_and_changed_to_be_survives_a_restart() {
    let mut daemon = Daemon::start("");
    let request = CreateSessionRequest {
        name: "a name".to_owned(),
        task_id: "a task".to_owned(),
        cols: 100,
        rows: 40,
        ..terminal_request(&daemon, "zsh")
    };
    let mut desk = Desk::open(&daemon, request).await;
    desk.viewer.resize(91, 33).await;
    desk.session
        .until("it has its size", |shown| {
            (shown.cols, shown.rows) == (91, 33)
        })
        .await;
    let moved = "git init -q -b trunk there; cd there\r";
    assert_eq!(desk.typed(moved).await.exit_code, Some(0));
    desk.keys("sleep 1000\r").await;
    desk.runs("sleep 1000").await;
    desk.is_in_front("sleep 1000").await;
    let is_whole = |shown: &Session| shown.git_branch == "trunk" && shown.processes.len() == 1;
    let before = desk.session.until("everything is seen", is_whole).await;
    daemon.crash_and_restart();
    desk.session.client = daemon.client().await;
    let after = desk
        .session
        .until("everything is seen again", is_whole)
        .await;
    let settings = |shown: Session| {
        let size = (shown.cols, shown.rows);
        let place = (shown.working_directory, shown.host, shown.shell, shown.mode);
        let known = (shown.integration, shown.busy, shown.active_command);
        (shown.name, shown.task_id, size, place, known)
    };
    assert_eq!(settings(after), settings(before));
    // The programs in it have the size, too, when nobody has attached since.
    assert!(desk.session.cancel(None).await);
    let size = desk.session.run("stty size").await;
    assert_eq!((size.code, size.stdout.as_str()), (Some(0), "33 91\r\n"));
}
