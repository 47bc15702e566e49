//! A background command takes along what its session has, and lives its own life.

use super::Behind;
use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::shellglass::v1::{ExecuteRequest, ListSessionsRequest, SessionMode};
use shellglass_tests::calls::{next, success};
use shellglass_tests::{TestSession, eventually, processes};

#[tokio::test]
async fn it_finds_the_directory_and_exports_of_its_session_and_changes_neither() {
    let behind = Behind::start("").await;
    behind
        .session
        .run("mkdir -p there; cd there; export COLOUR=green; plain=no")
        .await;
    let command = "echo $PWD $COLOUR ${plain-unset}; cd /; export COLOUR=red";
    let id = behind.spawn(command).await;
    assert_eq!(behind.ended(id).await, Some(0));
    let there = behind.dir().join("there");
    let expected = format!("{} green unset\n", there.display());
    assert_eq!(behind.output(id).await, expected);
    let after = behind.session.run("echo $PWD $COLOUR").await;
    assert_eq!(after.stdout, format!("{} green\n", there.display()));
}

#[tokio::test]
async fn it_does_not_wait_for_what_runs_in_its_session() {
    let behind = Behind::start("").await;
    behind.session.run("export COLOUR=green").await;
    let (running, _stream) = behind.session.begin("sleep 1000").await;
    let id = behind.spawn("echo $COLOUR").await;
    assert_eq!(behind.ended(id).await, Some(0));
    assert_eq!(behind.output(id).await, "green\n");
    assert!(behind.cancel(running).await);
}

#[tokio::test]
async fn its_directory_and_variables_can_be_given() {
    let behind = Behind::start("").await;
    std::fs::create_dir(behind.dir().join("sub")).unwrap();
    let mut request = behind.request("echo ${PWD##*/} $SHAPE");
    request.args.as_mut().unwrap().working_directory = "sub".to_owned();
    request.env.insert("SHAPE".to_owned(), "round".to_owned());
    let Spawned::Success(success) = behind.answer(request).await else {
        panic!("not started");
    };
    let sub = behind.dir().join("sub");
    assert_eq!(success.working_directory, sub.to_string_lossy());
    behind.ended(success.shell_id).await;
    assert_eq!(behind.output(success.shell_id).await, "sub round\n");
}

#[tokio::test]
async fn it_is_listed_while_it_runs_and_outlives_its_session() {
    let behind = Behind::start("").await;
    let request = glass_proto::shellglass::v1::CreateSessionRequest {
        task_id: "task-1".to_owned(),
        working_directory: behind.dir().to_string_lossy().into_owned(),
        ..Default::default()
    };
    let other = TestSession::create(&behind.daemon, request).await;
    let mut request = behind.request("cat");
    request.session_id = other.id.clone();
    let Spawned::Success(success) = behind.answer(request).await else {
        panic!("not started");
    };
    let id = success.shell_id;
    let mut client = behind.client();
    client.dispose_session(other.reference()).await.unwrap();
    let [listed] = <[_; 1]>::try_from(behind.listed().await).expect("one is listed");
    assert_eq!(
        (listed.name.as_str(), listed.task_id.as_str()),
        ("cat", "task-1")
    );
    assert!(listed.running && listed.accepts_stdin);
    assert_eq!(
        (listed.last_shell_id, listed.mode()),
        (id, SessionMode::Line)
    );
    behind.wrote(id, "still there\n\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(0));
    assert_eq!(behind.output(id).await, "still there\n");
    let session = listed.session_id;
    assert_eq!(behind.listed().await, []);
    let all = ListSessionsRequest {
        include_disposed: true,
    };
    let all = client
        .list_sessions(all)
        .await
        .unwrap()
        .into_inner()
        .sessions;
    assert!(
        all.iter()
            .any(|known| known.session_id == session && known.background)
    );
}

#[tokio::test]
async fn cancelling_it_leaves_nothing() {
    let behind = Behind::start("").await;
    let sleep = "sleep 1000.815";
    let command =
        format!("setsid {sleep} & ({sleep} &); nohup {sleep} & trap '' INT TERM; {sleep}");
    let id = behind.spawn(&command).await;
    let left = || {
        let all = processes().into_iter();
        all.filter(|(_, line)| line.starts_with(sleep)).count()
    };
    eventually("four sleep", || left() == 4).await;
    assert!(behind.cancel(id).await);
    assert_eq!(left(), 0);
    behind.ended(id).await;
    assert!(!behind.cancel(id).await);
}

#[tokio::test]
async fn the_same_key_finds_it_again() {
    let behind = Behind::start("").await;
    let mut request = behind.request("echo once >>count; cat");
    request.args.as_mut().unwrap().tool_call_id = "key-1".to_owned();
    let ids = [
        behind.answer(request.clone()).await,
        behind.answer(request).await,
    ];
    let [Spawned::Success(first), Spawned::Success(second)] = ids else {
        panic!("not started: {ids:?}");
    };
    assert_eq!(first.shell_id, second.shell_id);
    behind.wrote(first.shell_id, "\u{4}").await;
    behind.ended(first.shell_id).await;
    let count = std::fs::read_to_string(behind.dir().join("count"));
    assert_eq!(count.unwrap(), "once\n");
}

#[tokio::test]
async fn run_and_execute_have_background_commands_too() {
    let behind = Behind::start("").await;
    let mut request = behind
        .session
        .with_args("cat", |args| args.is_background = true);
    request.enable_write_shell_stdin_tool = true;
    let result = behind.session.result(request.clone()).await;
    assert_eq!(result.is_background, Some(true));
    let id = success(result).shell_id.expect("it has a number");
    behind.wrote(id, "to run\n\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(0));
    assert_eq!(behind.output(id).await, "to run\n");

    let (id, mut stream) = behind.session.begin_request(request).await;
    behind.wrote(id, "to execute\n\u{4}").await;
    let mut last = None;
    while let Some(message) = next(&mut stream).await {
        last = message.event;
    }
    use glass_proto::agent::v1::shell_stream::Event;
    assert!(matches!(last, Some(Event::Exit(exit)) if exit.code == 0));

    // Without a session it gets one of its own, and no idle one.
    let request = ExecuteRequest {
        session_id: String::new(),
        ..behind
            .session
            .with_args("read -r line; echo \"$SHELLGLASS_SESSION_ID $?\"", |args| {
                args.is_background = true;
                args.working_directory = behind.dir().to_string_lossy().into_owned();
            })
    };
    let id = success(behind.session.result(request).await)
        .shell_id
        .expect("it has a number");
    behind.ended(id).await;
    let output = behind.output(id).await;
    assert!(
        output.ends_with(" 1\n") && !output.contains(&behind.session.id),
        "{output}"
    );
}
