//! Doubtful commands wait for a person, dangerous ones do not run, harmless
//! ones run unasked.

use glass_proto::agent::v1::ShellResult;
use glass_proto::agent::v1::shell_result::Result as Kind;
use glass_proto::agent::v1::shell_stream::Event as Item;
use glass_proto::shellglass::v1::session_event::Event as Body;
use glass_proto::shellglass::v1::{
    Approval, ApprovalScope, CancelRequest, CreateSessionRequest, Empty, ExecuteRequest,
    ResolveApprovalRequest, SessionMode,
};
use shellglass_tests::calls::{next, refused, rejected, rest, success, token, with_token};
use shellglass_tests::program::ran;
use shellglass_tests::{Client, Daemon, PATIENCE, TestSession};
use std::time::Duration;
use tonic::Code;

mod checking;
mod cli;
mod rules;
mod tasks;

/// A daemon that asks about agents' commands, and an agent's session.
struct Watched {
    daemon: Daemon,
    session: TestSession,
    agent: String,
}

impl Watched {
    async fn start(config: &str) -> Watched {
        let daemon = Daemon::start(&format!("{config}\n[policy]\n"));
        Watched::over(daemon, SessionMode::Pipe).await
    }

    async fn over(daemon: Daemon, mode: SessionMode) -> Watched {
        let agent = token(daemon.home(), "agent");
        let request = CreateSessionRequest {
            shell: "bash".to_owned(),
            mode: mode.into(),
            startup: "none".to_owned(),
            working_directory: daemon.home().to_string_lossy().into_owned(),
            ..CreateSessionRequest::default()
        };
        let session = TestSession::create_as(&daemon.client().await, request, &agent).await;
        Watched {
            daemon,
            session,
            agent,
        }
    }

    /// The same with another session of the agent's.
    async fn with_session(self, request: CreateSessionRequest) -> Watched {
        let session = TestSession::create_as(&self.session.client, request, &self.agent).await;
        Watched { session, ..self }
    }

    async fn restart(&mut self) {
        self.daemon.crash_and_restart();
        self.session.client = self.daemon.client().await;
    }

    /// Asks for a command as the agent, on a task of its own.
    fn ask(&self, request: ExecuteRequest) -> tokio::task::JoinHandle<ShellResult> {
        let (mut client, agent) = (self.session.client.clone(), self.agent.clone());
        tokio::spawn(async move {
            let answer = client.run(with_token(request, &agent)).await;
            answer.expect("the command is accepted").into_inner()
        })
    }

    /// The result of a command that nobody need be asked about.
    async fn run(&self, command: &str) -> ShellResult {
        let asked = self.ask(self.session.request(command));
        let ended = tokio::time::timeout(PATIENCE, asked).await;
        ended.expect("it does not wait").unwrap()
    }

    fn marker(&self, name: &str) -> std::path::PathBuf {
        self.daemon.home().join(name)
    }

    async fn waiting(&self) -> Vec<Approval> {
        let mut client = self.session.client.clone();
        client
            .list_approvals(Empty {})
            .await
            .unwrap()
            .into_inner()
            .approvals
    }

    /// Waits until exactly so many wait.
    async fn until_waiting(&self, count: usize) -> Vec<Approval> {
        self.session.until_waiting(count).await
    }

    async fn answer(&self, id: &str, approve: bool, scope: ApprovalScope) {
        let answered = resolve(&self.session.client, id, approve, scope, "").await;
        answered.expect("the answer counts");
    }
}

async fn resolve(
    client: &Client,
    id: &str,
    approve: bool,
    scope: ApprovalScope,
    reason: &str,
) -> Result<(), tonic::Status> {
    let request = ResolveApprovalRequest {
        approval_id: id.to_owned(),
        approve,
        reason: reason.to_owned(),
        scope: scope.into(),
    };
    client.clone().resolve_approval(request).await.map(drop)
}

#[tokio::test]
async fn harmless_commands_run_unasked_and_dangerous_ones_not_at_all() {
    let watched = Watched::start("").await;
    assert_eq!(
        success(watched.run("echo hi | wc -c").await).stdout.trim(),
        "3"
    );
    let why = rejected(watched.run("mkfs.ext4 /dev/sda").await);
    assert!(why.contains("`mkfs.ext4 /dev/sda`"), "{why}");
    assert_eq!(watched.waiting().await, []);
}

#[tokio::test]
async fn a_doubtful_command_waits_and_runs_once_it_is_allowed() {
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let watched = Watched::over(Daemon::start("[policy]\n"), mode).await;
        let marker = watched.marker("ran");
        let command = format!("touch {} && echo done", marker.display());
        let asked = watched.ask(
            watched
                .session
                .with_args(&command, |args| args.timeout = 2_000),
        );
        let waiting = watched.until_waiting(1).await;
        assert_eq!(waiting[0].command, command);
        assert_eq!(waiting[0].session_id, watched.session.id);
        assert_eq!(waiting[0].asked_by, "agent");
        assert_eq!(waiting[0].prefixes, ["touch"]);
        assert!(waiting[0].deadline_unix_ms > waiting[0].asked_unix_ms);
        // Longer than the command's own time, which stands still meanwhile.
        tokio::time::sleep(Duration::from_millis(2_200)).await;
        assert!(!marker.exists());
        let id = waiting[0].approval_id.clone();
        watched.answer(&id, true, ApprovalScope::Once).await;
        assert_eq!(success(asked.await.unwrap()).stdout, "done\n");
        assert!(marker.exists());
        assert_eq!(watched.waiting().await, []);
        // Once is once.
        let again = watched.ask(watched.session.request(&command));
        let id = watched.until_waiting(1).await[0].approval_id.clone();
        watched.answer(&id, false, ApprovalScope::Once).await;
        assert!(rejected(again.await.unwrap()).contains("a person refused it"));
    }
}

#[tokio::test]
async fn a_refusal_reaches_the_model_with_its_reason() {
    let watched = Watched::start("").await;
    let asked = watched.ask(watched.session.request("touch ran"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    let client = &watched.session.client;
    let said = resolve(
        client,
        &id,
        false,
        ApprovalScope::Once,
        "use the tests folder",
    )
    .await;
    said.unwrap();
    let why = rejected(asked.await.unwrap());
    assert_eq!(why, "a person refused it: use the tests folder");
    assert!(!watched.marker("ran").exists());
    // A second answer changes nothing.
    let late = resolve(client, &id, true, ApprovalScope::Once, "").await;
    refused(late, Code::FailedPrecondition);
    assert!(!watched.marker("ran").exists());
    let history = watched.session.history().await;
    let kinds: Vec<&str> = history
        .events
        .iter()
        .filter_map(|event| match event.event.as_ref()? {
            Body::Approval(_) => Some("asked"),
            Body::CommandStart(_) => Some("start"),
            Body::Exit(_) => Some("end"),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["asked", "end"]);
}

#[tokio::test]
async fn nobody_answers_for_a_person() {
    let watched = Watched::start("").await;
    let asked = watched.ask(watched.session.request("touch ran"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    let request = |id: &str| ResolveApprovalRequest {
        approval_id: id.to_owned(),
        approve: true,
        ..ResolveApprovalRequest::default()
    };
    let mut client = watched.session.client.clone();
    let by_agent = client
        .resolve_approval(with_token(request(&id), &watched.agent))
        .await;
    refused(by_agent, Code::PermissionDenied);
    let skipping = watched
        .session
        .with_args("touch ran", |args| args.skip_approval = true);
    let skipped = client.run(with_token(skipping, &watched.agent)).await;
    refused(skipped, Code::PermissionDenied);
    for unknown in ["", "ask-999999", "ask-01", "no such", &"x".repeat(10_000)] {
        refused(
            client.resolve_approval(request(unknown)).await,
            Code::NotFound,
        );
    }
    let odd = ResolveApprovalRequest {
        scope: 17,
        ..request(&id)
    };
    refused(client.resolve_approval(odd).await, Code::InvalidArgument);
    assert!(!watched.marker("ran").exists());
    assert_eq!(watched.waiting().await.len(), 1);
    watched.answer(&id, true, ApprovalScope::Once).await;
    success(asked.await.unwrap());
}

#[tokio::test]
async fn of_two_answers_one_counts() {
    let watched = Watched::start("").await;
    let asked = watched.ask(watched.session.request("touch ran"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    let client = &watched.session.client;
    let (yes, no) = tokio::join!(
        resolve(client, &id, true, ApprovalScope::Session, ""),
        resolve(client, &id, false, ApprovalScope::Once, ""),
    );
    let allowed = yes.is_ok();
    assert_ne!(allowed, no.is_ok(), "{yes:?} {no:?}");
    let late = if allowed { no } else { yes };
    refused(late, Code::FailedPrecondition);
    let ran = matches!(asked.await.unwrap().result, Some(Kind::Success(_)));
    assert_eq!((ran, watched.marker("ran").exists()), (allowed, allowed));
    let again = resolve(client, &id, !allowed, ApprovalScope::Once, "").await;
    refused(again, Code::FailedPrecondition);
    assert_eq!(watched.marker("ran").exists(), allowed);
}

#[tokio::test]
async fn nobodys_answer_is_a_refusal() {
    let watched = Watched::start("[approvals]\nanswer_seconds = 1").await;
    let asked = watched.ask(watched.session.request("touch ran"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    let why = rejected(asked.await.unwrap());
    assert_eq!(why, "nobody allowed it within 1 seconds");
    let late = resolve(&watched.session.client, &id, true, ApprovalScope::Once, "").await;
    refused(late, Code::FailedPrecondition);
    assert!(!watched.marker("ran").exists());
}

#[tokio::test]
async fn commands_behind_one_that_waits_keep_their_order() {
    let watched = Watched::start("").await;
    let first = watched.ask(watched.session.request("printf 1 > order"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    let second = watched.ask(watched.session.request("cat order"));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!second.is_finished());
    watched.answer(&id, true, ApprovalScope::Once).await;
    success(first.await.unwrap());
    assert_eq!(success(second.await.unwrap()).stdout, "1");
}

#[tokio::test]
async fn what_is_cancelled_or_disposed_of_waits_no_more() {
    let watched = Watched::start("").await;
    let mut client = watched.session.client.clone();
    let first = watched.ask(watched.session.request("touch ran"));
    let waiting = watched.until_waiting(1).await.remove(0);
    let cancel = CancelRequest {
        shell_id: Some(waiting.shell_id),
        ..CancelRequest::default()
    };
    assert!(client.cancel(cancel).await.unwrap().into_inner().cancelled);
    assert!(matches!(first.await.unwrap().result, Some(Kind::Failure(failure)) if failure.aborted));
    let late = resolve(&client, &waiting.approval_id, true, ApprovalScope::Once, "").await;
    refused(late, Code::FailedPrecondition);

    let second = watched.ask(watched.session.request("touch ran"));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    client
        .dispose_session(watched.session.reference())
        .await
        .unwrap();
    second.await.unwrap();
    assert_eq!(watched.waiting().await, []);
    let late = resolve(&client, &id, true, ApprovalScope::Once, "").await;
    refused(late, Code::FailedPrecondition);
    assert!(!watched.marker("ran").exists());
}

#[tokio::test]
async fn a_restart_neither_answers_nor_loses_a_question() {
    let mut watched = Watched::start("").await;
    let keyed = |session: &TestSession, command: &str, key: &str| {
        session.with_args(command, |args| args.tool_call_id = key.to_owned())
    };
    let lost = watched.ask(watched.session.request("touch lost"));
    let first = keyed(&watched.session, "touch first", "k1");
    let second = keyed(&watched.session, "touch second", "k2");
    for request in [&first, &second] {
        // Its caller goes away with the daemon.
        let (mut client, agent) = (watched.session.client.clone(), watched.agent.clone());
        let request = request.clone();
        tokio::spawn(async move { client.run(with_token(request, &agent)).await });
    }
    let before = watched.until_waiting(3).await;
    watched.restart().await;
    assert!(
        lost.await.is_err(),
        "its caller hears that the daemon is gone"
    );
    // Whoever cannot be found again is not asked about.
    let after = watched.until_waiting(2).await;
    assert!(after.iter().all(|approval| before.iter().any(|known| {
        (&known.approval_id, &known.command) == (&approval.approval_id, &approval.command)
    })));
    let of = |command: &str| {
        let found = after.iter().find(|approval| approval.command == command);
        found.expect("it waits again").approval_id.clone()
    };
    watched
        .answer(&of("touch second"), false, ApprovalScope::Once)
        .await;
    watched
        .answer(&of("touch first"), true, ApprovalScope::Once)
        .await;
    success(watched.ask(first.clone()).await.unwrap());
    rejected(watched.ask(second.clone()).await.unwrap());
    assert!(watched.marker("first").exists());
    assert!(!watched.marker("second").exists() && !watched.marker("lost").exists());
    // What was answered stays answered.
    watched.restart().await;
    success(watched.ask(first).await.unwrap());
    rejected(watched.ask(second).await.unwrap());
    assert_eq!(watched.waiting().await, []);
    assert!(!watched.marker("second").exists());
}

#[tokio::test]
async fn a_stream_says_that_its_command_waits() {
    let watched = Watched::start("").await;
    let request = with_token(watched.session.request("touch ran"), &watched.agent);
    let stream = watched.session.client.clone().execute(request).await;
    let mut stream = stream.unwrap().into_inner();
    let Some(Item::ApprovalPending(pending)) = next(&mut stream).await.and_then(|it| it.event)
    else {
        panic!("it says first that it waits");
    };
    assert!(
        pending.reason.contains("`touch ran`: no rule allows it"),
        "{pending:?}"
    );
    watched
        .answer(&pending.approval_id, true, ApprovalScope::Once)
        .await;
    let told = rest(&mut stream).await;
    assert_eq!(told.exit().code, 0);
    assert_eq!(told.start().session_id, watched.session.id);
}

#[tokio::test]
async fn a_flood_of_questions_is_bounded() {
    let watched = Watched::start("[limits]\nqueue_max = 8").await;
    let mut asked = Vec::new();
    for number in 0..8 {
        asked.push(watched.ask(watched.session.request(&format!("touch {number}"))));
        watched.until_waiting(number + 1).await;
    }
    let request = with_token(watched.session.request("touch more"), &watched.agent);
    let refusal = watched.session.client.clone().run(request).await;
    refused(refusal, Code::ResourceExhausted);
    for approval in watched.waiting().await.iter().rev() {
        watched
            .answer(&approval.approval_id, true, ApprovalScope::Once)
            .await;
    }
    for one in asked {
        success(one.await.unwrap());
    }
    let listed = ran(watched.daemon.command().args(["approvals"]));
    assert_eq!((listed.status, listed.out()), (0, String::new()));
}
