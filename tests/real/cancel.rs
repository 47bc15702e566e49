//! A cancelled command executes no further word, and takes nothing with it
//! that is not its own.

mod shapes;

use crate::matrix::{Case, each_case};
use glass_proto::agent::v1::ShellArgs;
use glass_proto::shellglass::v1::session_event::Event;
use glass_proto::shellglass::v1::{CreateSessionRequest, ExecuteRequest, SessionMode};
use shapes::Shape;
use shellglass_tests::{Daemon, Streamed, TestSession, eventually, exists};
use std::path::Path;

/// Runs a command until it has made the file `begun`, and cancels it.
async fn cancel_begun(session: &TestSession, command: &str, begun: &Path) -> Streamed {
    let running = session.stream(command);
    let stopping = async {
        exists(begun).await;
        assert!(session.cancel(None).await, "cancel says no: {command}");
    };
    let (result, ()) = tokio::join!(running, stopping);
    std::fs::remove_file(begun).unwrap();
    result
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().unwrap_or_default();
    !state.is_empty() && !state.starts_with('Z')
}

/// Every process that has this word in its command line.
fn with_word(word: &str) -> Vec<(u32, String)> {
    let all = shellglass_tests::processes();
    all.into_iter()
        .filter(|(pid, line)| *pid != std::process::id() && line.contains(word))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_shape_of_command_executes_another_word_when_cancelled() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let session = &case.session;
        let next = case.dir.join("NEXT");
        let begun = case.dir.join("begun");
        std::fs::write(case.dir.join("sourced"), "sleep 9871\ntouch NEXT\n").unwrap();
        let makefile = "all:\n\tsleep 9871\n\ttouch NEXT\n";
        std::fs::write(case.dir.join("Makefile"), makefile).unwrap();
        session.run(&case.export("KEPT", "yes")).await;
        for Shape { name, command } in shapes::of(case.shell) {
            let command = format!("touch begun; {command}");
            let result = cancel_begun(session, &command, &begun).await;
            let what = format!("{} {:?} {name}: {result:?}", case.shell, case.mode);
            assert!(result.aborted && result.ends == 1, "{what}");
            assert_eq!(result.code, None, "{what}");
            assert!(!next.exists(), "{what}");
            // The session is where it was, with what it exported.
            let after = session.run("sh -c 'echo $KEPT; pwd'").await;
            let expected = format!("yes\n{}\n", case.dir.display());
            assert_eq!((after.stdout, after.code), (expected, Some(0)), "{what}");
        }
        assert!(!next.exists(), "{} {:?}", case.shell, case.mode);
    })
    .await;
    assert_eq!(
        with_word("9871"),
        [],
        "something of a cancelled command lives"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_ends_a_command_as_a_cancel_does() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let next = case.dir.join("NEXT");
        for command in [
            "echo begun; sleep 9872; touch NEXT",
            "sleep 9872 || touch NEXT",
        ] {
            let mut request = case.session.request(command);
            request.args.as_mut().unwrap().timeout = 150;
            let result = case.session.try_run(request).await.unwrap();
            let what = format!("{} {:?} {command}: {result:?}", case.shell, case.mode);
            assert!(result.timed_out, "{what}");
            assert!(!next.exists(), "{what}");
            assert_eq!(case.session.run("echo on").await.stdout, "on\n", "{what}");
        }
        assert!(!next.exists(), "{} {:?}", case.shell, case.mode);
    })
    .await;
    assert_eq!(with_word("9872"), [], "something of a late command lives");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_jobs_of_earlier_executions_survive_a_cancel() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let session = &case.session;
        let job = "sh -c 'echo $$; until test -e go; do sleep 0.02; done; echo late' &";
        let earlier = session.stream(job).await;
        assert_eq!(earlier.code, Some(0));
        let pid = pid_written_by(session, earlier.shell_id).await;
        let begun = case.dir.join("begun");
        cancel_begun(session, "touch begun; sleep 9873; touch NEXT", &begun).await;
        let what = format!("{} {:?}", case.shell, case.mode);
        assert!(
            is_alive(pid),
            "{what}: a job of an earlier execution was killed"
        );

        let later = session.stream("echo mine; touch go").await;
        session
            .expect_output(earlier.shell_id, &format!("{pid}\nlate\n"))
            .await;
        session.expect_output(later.shell_id, "mine\n").await;
        eventually("the job ends", || !is_alive(pid)).await;
        assert_eq!(
            stdout_of(session, earlier.shell_id).await,
            format!("{pid}\nlate\n"),
            "{what}"
        );
        assert_eq!(stdout_of(session, later.shell_id).await, "mine\n", "{what}");
    })
    .await;
}

/// The first line that an execution writes, which is a process's number.
async fn pid_written_by(session: &TestSession, shell_id: u32) -> u32 {
    let deadline = std::time::Instant::now() + shellglass_tests::PATIENCE;
    loop {
        let output = session.output_of(shell_id).await;
        if let Some((line, _)) = output.split_once('\n') {
            return line.parse().unwrap();
        }
        assert!(
            std::time::Instant::now() < deadline,
            "no number of a process"
        );
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// The standard output that the session's events give to an execution.
async fn stdout_of(session: &TestSession, shell_id: u32) -> String {
    let mut text = String::new();
    for event in session.events().await {
        if let Some(Event::Stdout(part)) = event.event
            && event.shell_id == shell_id
        {
            text.push_str(&part.data);
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_behind_a_cancelled_one_still_run_in_order() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let session = &case.session;
        let first = session.submit("touch begun; sleep 9874; echo NEXT").await;
        let second = session.submit("echo second >>order; echo two").await;
        let third = session.submit("echo third >>order; echo three").await;
        exists(&case.dir.join("begun")).await;
        assert!(session.cancel(None).await);
        let (first, second, third) = (first.end().await, second.end().await, third.end().await);
        let what = format!("{} {:?}", case.shell, case.mode);
        assert!(
            first.aborted && !first.out().contains("NEXT"),
            "{what}: {first:?}"
        );
        assert_eq!(
            (second.code, second.out().as_str()),
            (Some(0), "two\n"),
            "{what}"
        );
        assert_eq!(
            (third.code, third.out().as_str()),
            (Some(0), "three\n"),
            "{what}"
        );
        let order = std::fs::read_to_string(case.dir.join("order")).unwrap();
        assert_eq!(order, "second\nthird\n", "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queued_command_is_cancelled_without_touching_the_running_one() {
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        // Alone in its daemon: then executions are numbered one after another.
        let daemon = Daemon::start("");
        let case = Case::make(&daemon, "bash", mode).await;
        let session = &case.session;
        let first = session
            .submit(&format!("touch begun; {UNTIL_GO}; echo one"))
            .await;
        exists(&case.dir.join("begun")).await;
        let second = session.submit("touch NEXT").await;
        let running = case.last_started().await;
        assert!(session.cancel(Some(running + 1)).await, "{mode:?}");
        let second = second.end().await;
        assert!(
            second.aborted && second.code.is_none(),
            "{mode:?}: {second:?}"
        );
        std::fs::write(case.dir.join("go"), "").unwrap();
        let first = first.end().await;
        assert_eq!(
            (first.code, first.out().as_str()),
            (Some(0), "one\n"),
            "{mode:?}"
        );
        assert!(!case.dir.join("NEXT").exists(), "{mode:?}");
    }
}

/// Waits, in every shell, until the file `go` is there.
const UNTIL_GO: &str = "sh -c 'until test -e go; do sleep 0.02; done'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_nothing_to_cancel_when_nothing_runs() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        assert!(!case.session.cancel(None).await);
        let ended = case.session.stream("true").await;
        assert!(!case.session.cancel(None).await);
        assert!(!case.session.cancel(Some(ended.shell_id)).await);
        assert_eq!(case.session.run("echo on").await.stdout, "on\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_tidies_up_on_interrupt_has_time_to() {
    let daemon = Daemon::start("[limits]\ncancel_grace_ms = 5000\n");
    let script = "import signal, sys, time\n\
                  def tidy(*_):\n    open('tidied', 'w').close()\n    sys.exit(0)\n\
                  signal.signal(signal.SIGINT, tidy)\n\
                  open('begun', 'w').close()\n\
                  time.sleep(9875)\n";
    each_case(&daemon, async |case: Case| {
        std::fs::write(case.dir.join("tidy.py"), script).unwrap();
        let begun = case.dir.join("begun");
        let result = cancel_begun(&case.session, "python3 tidy.py; touch NEXT", &begun).await;
        let what = format!("{} {:?} {result:?}", case.shell, case.mode);
        assert!(case.dir.join("tidied").exists(), "{what}");
        assert!(!case.dir.join("NEXT").exists(), "{what}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_cancels_of_one_command_are_both_answered() {
    let daemon = Daemon::start("");
    each_case(&daemon, async |case: Case| {
        let session = &case.session;
        let running = session.stream("touch begun; sleep 9876; touch NEXT");
        let stopping = async {
            exists(&case.dir.join("begun")).await;
            let (one, two) = tokio::join!(session.cancel(None), session.cancel(None));
            assert!(one || two);
        };
        let (result, ()) = tokio::join!(running, stopping);
        assert!(result.aborted && result.ends == 1, "{result:?}");
        assert_eq!(session.run("echo on").await.stdout, "on\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_a_note_why_a_command_was_ended() {
    let daemon = Daemon::start("[limits]\ncancel_grace_ms = 60000\n");
    let script = "import os, signal, sys, time\n\
                  def tidy(*_):\n    open('tidying', 'w').close()\n\
                  \x20   while not os.path.exists('go'): time.sleep(0.02)\n    sys.exit(0)\n\
                  signal.signal(signal.SIGINT, tidy)\n\
                  open('begun', 'w').close()\n\
                  time.sleep(9877)\n";
    let case = Case::make(&daemon, "bash", SessionMode::Pipe).await;
    let session = &case.session;
    std::fs::write(case.dir.join("tidy.py"), script).unwrap();
    let first = session.submit("python3 tidy.py").await;
    exists(&case.dir.join("begun")).await;
    let second = session.submit("touch NEXT").await;
    let running = case.last_started().await;
    let ending = async {
        exists(&case.dir.join("tidying")).await;
        // Another ends while this one is being ended.
        assert!(session.cancel(Some(running + 1)).await);
        assert!(second.end().await.aborted);
        std::fs::write(case.dir.join("go"), "").unwrap();
    };
    let (cancelled, ()) = tokio::join!(session.cancel(Some(running)), ending);
    assert!(cancelled && first.end().await.aborted);
    let runtime = daemon.socket().parent().unwrap().to_path_buf();
    let notes = std::fs::read_dir(runtime.join("sessions").join(&session.id)).unwrap();
    let mut names = notes.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.find(|name| name.starts_with("aborted")), None);
}

#[tokio::test]
async fn a_command_alone_that_is_late_is_noted_as_such() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    let request = ExecuteRequest {
        args: Some(ShellArgs {
            command: "sleep 9878".to_owned(),
            working_directory: daemon.home().to_str().unwrap().to_owned(),
            timeout: 150,
            ..ShellArgs::default()
        }),
        ephemeral: Some(CreateSessionRequest::default()),
        ..ExecuteRequest::default()
    };
    let ended = client.run(request).await.unwrap().into_inner();
    assert!(shellglass_tests::summary(ended).timed_out);
    let log = daemon.log();
    assert!(!log.contains("not on disk"), "{log}");
}
