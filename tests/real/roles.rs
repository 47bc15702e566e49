//! Who a caller is, and what follows from it.

use glass_proto::shellglass::v1::shell_exec_client::ShellExecClient;
use glass_proto::shellglass::v1::{
    CancelRequest, CreateSessionRequest, Empty, HistoryRequest, ListSessionsRequest,
    ReadOutputRequest, SessionMode, SubscribeRequest,
};
use shellglass_tests::calls::{refused, rest, success, token, with_token};
use shellglass_tests::program::{Home, ran};
use shellglass_tests::{Client, Daemon, TestSession, program};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

/// The sessions that the caller with this token sees.
async fn seen(client: &mut ShellExecClient<Channel>, token: &str) -> Vec<String> {
    let request = with_token(ListSessionsRequest::default(), token);
    let answer = client.list_sessions(request).await.unwrap().into_inner();
    let sessions = answer.sessions.into_iter();
    sessions.map(|session| session.session_id).collect()
}

#[tokio::test]
async fn the_agent_token_makes_an_agent_who_sees_only_agents_sessions() {
    let daemon = Daemon::start("");
    let persons = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let persons_shell = persons.run("echo secret").await.shell_id;
    let agent = token(daemon.home(), "agent");
    let mut client: Client = daemon.client().await;
    let made = with_token(CreateSessionRequest::default(), &agent);
    let own = client
        .create_session(made)
        .await
        .unwrap()
        .into_inner()
        .session_id;
    assert_eq!(seen(&mut client, &agent).await, [own.as_str()]);
    let both = seen(&mut client, &token(daemon.home(), "person")).await;
    assert_eq!(both, [persons.id.clone(), own.clone()]);

    // Nothing of the person's session can be had.
    let get = with_token(persons.reference(), &agent);
    refused(client.get_session(get).await, Code::PermissionDenied);
    let run = with_token(persons.request("touch ran"), &agent);
    refused(client.run(run).await, Code::PermissionDenied);
    let execute = with_token(persons.request("touch ran"), &agent);
    refused(client.execute(execute).await, Code::PermissionDenied);
    let session_id = persons.id.clone();
    let cancel = CancelRequest {
        session_id,
        ..CancelRequest::default()
    };
    refused(
        client.cancel(with_token(cancel, &agent)).await,
        Code::PermissionDenied,
    );
    let cancel = CancelRequest {
        shell_id: Some(persons_shell),
        ..CancelRequest::default()
    };
    refused(
        client.cancel(with_token(cancel, &agent)).await,
        Code::PermissionDenied,
    );
    let read = ReadOutputRequest {
        shell_id: persons_shell,
        ..ReadOutputRequest::default()
    };
    refused(
        client.read_output(with_token(read, &agent)).await,
        Code::PermissionDenied,
    );
    let history = HistoryRequest {
        session_id: persons.id.clone(),
        ..HistoryRequest::default()
    };
    let history = client
        .get_session_history(with_token(history, &agent))
        .await;
    refused(history, Code::PermissionDenied);
    let watch = SubscribeRequest {
        session_id: persons.id.clone(),
        from_index: 0,
    };
    let watch = client.subscribe(with_token(watch, &agent)).await;
    refused(watch, Code::PermissionDenied);
    let dispose = with_token(persons.reference(), &agent);
    refused(
        client.dispose_session(dispose).await,
        Code::PermissionDenied,
    );
    assert!(!daemon.home().join("ran").exists());
    assert_eq!(persons.run("echo on").await.stdout, "on\n");

    // Its own is its own, and a person's too.
    let own = TestSession {
        client: client.clone(),
        id: own,
    };
    let run = with_token(own.request("echo mine"), &agent);
    let result = client.run(run).await.unwrap().into_inner();
    assert_eq!(success(result).stdout, "mine\n");
    assert_eq!(own.run("echo yours").await.stdout, "yours\n");
}

#[tokio::test]
async fn an_agent_cannot_skip_its_approval() {
    let daemon = Daemon::start("");
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let made = with_token(CreateSessionRequest::default(), &agent);
    let id = client
        .create_session(made)
        .await
        .unwrap()
        .into_inner()
        .session_id;
    let session = TestSession {
        client: client.clone(),
        id,
    };
    let skipping = session.with_args("echo ran", |args| args.skip_approval = true);
    let asked = client.run(with_token(skipping.clone(), &agent)).await;
    refused(asked, Code::PermissionDenied);
    let asked = client.run(skipping).await.unwrap().into_inner();
    assert_eq!(success(asked).stdout, "ran\n");
}

#[tokio::test]
async fn keys_of_agents_and_persons_are_apart() {
    let daemon = Daemon::start("");
    let agent = token(daemon.home(), "agent");
    let mut client = daemon.client().await;
    let keyed = |session: &TestSession| {
        session.with_args("echo x", |args| args.tool_call_id = "k".to_owned())
    };
    let persons = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let persons_id = success(persons.result(keyed(&persons)).await).shell_id;
    let made = with_token(CreateSessionRequest::default(), &agent);
    let id = client
        .create_session(made)
        .await
        .unwrap()
        .into_inner()
        .session_id;
    let own = TestSession {
        client: client.clone(),
        id,
    };
    let run = with_token(keyed(&own), &agent);
    let result = client.run(run).await.unwrap().into_inner();
    assert_ne!(success(result).shell_id, persons_id);
}

#[tokio::test]
async fn a_wrong_token_is_refused_everywhere() {
    let daemon = Daemon::start("");
    let mut client = daemon.client().await;
    for wrong in ["", "x", "Bearer", &"0".repeat(64)] {
        let request = with_token(ListSessionsRequest::default(), wrong);
        refused(client.list_sessions(request).await, Code::Unauthenticated);
    }
}

/// What runs inside a session, as a program that asks the daemon.
fn asks(daemon: &Daemon, arguments: &str) -> String {
    let home = daemon.home().display();
    format!("SHELLGLASS_HOME={home} {} {arguments}", program().display())
}

#[tokio::test]
async fn what_runs_inside_a_session_is_an_agent() {
    let daemon = Daemon::start("");
    let persons = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let line = TestSession::with(&daemon, "bash", SessionMode::Line).await;
    let list = asks(&daemon, "session list");
    for session in [&persons, &line] {
        // In the foreground, and as an orphan in a session of its own.
        let seen = session.run(&list).await;
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), ""), "{seen:?}");
        let orphan = format!(
            "(setsid sh -c '({list} >seen 2>&1; echo done >>seen) &' &) ; \
             until grep -q done seen 2>/dev/null; do sleep 0.02; done; cat seen; rm seen"
        );
        let seen = session.run(&orphan).await;
        assert_eq!(seen.stdout, "done\n", "{seen:?}");
    }
    let show = asks(&daemon, &format!("session show {}", persons.id));
    let shown = persons.run(&show).await;
    assert_eq!(shown.code, Some(126), "{shown:?}");
    assert!(shown.stderr.contains("belongs to a person"), "{shown:?}");
    // A session that it makes is an agent's, and seen by both.
    let made = persons.run(&asks(&daemon, "session create")).await.stdout;
    assert_eq!(
        persons
            .run(&asks(&daemon, "session list"))
            .await
            .stdout
            .lines()
            .count(),
        1
    );
    let listed = ran(daemon.line().args(["session", "list"])).out();
    assert!(listed.contains(made.trim()), "{listed}");
}

#[tokio::test]
async fn a_token_makes_nobody_inside_a_session_a_person() {
    let daemon = Daemon::start("");
    let persons = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let test = std::env::current_exe().unwrap();
    let command = format!(
        "ROLES_SOCKET={} ROLES_TOKEN={} {} --exact roles::probe --ignored --nocapture",
        daemon.socket().display(),
        token(daemon.home(), "person"),
        test.display(),
    );
    // The same program with the same token is a person outside and an agent
    // inside.
    let inside = persons.run(&command).await;
    assert!(inside.stdout.contains("sees 0 sessions"), "{inside:?}");
    let outside = Command::new("sh").args(["-c", &command]).output().unwrap();
    let outside = String::from_utf8_lossy(&outside.stdout).into_owned();
    assert!(outside.contains("sees 1 sessions"), "{outside}");
}

/// Not a test of its own: what the test above runs inside a session.
#[tokio::test]
#[ignore = "run by another test, inside a session"]
async fn probe() {
    let Ok(socket) = std::env::var("ROLES_SOCKET") else {
        return;
    };
    let mut client = shellglass_tests::connect(Path::new(&socket)).await;
    let token = std::env::var("ROLES_TOKEN").unwrap();
    let sessions = seen(&mut client, &token).await;
    std::io::Write::write_all(
        &mut std::io::stdout(),
        format!("sees {} sessions\n", sessions.len()).as_bytes(),
    )
    .unwrap();
}

/// Whether this test may become another user.
fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

#[tokio::test]
async fn another_user_is_turned_away() {
    if !is_root() {
        return;
    }
    let daemon = Daemon::start("");
    let _session = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    // Even where the directory and the socket let them in.
    for (path, mode) in [("", 0o755), ("run", 0o711), ("run/daemon.sock", 0o666)] {
        let path = daemon.home().join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // The test itself may lie where nobody else can go.
    let test = daemon.home().join("probe");
    std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    let probe = |user: &str| {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", user, "--regid", user, "--clear-groups"])
            .arg(&test);
        command.args(["--exact", "roles::probe", "--ignored", "--nocapture"]);
        command.env("ROLES_SOCKET", daemon.socket());
        command
            .env("ROLES_TOKEN", token(daemon.home(), "person"))
            .current_dir("/");
        ran(&mut command)
    };
    let ours = probe("0");
    assert!(ours.out().contains("sees 1 sessions"), "{ours:?}");
    let theirs = probe("65534");
    assert_ne!(theirs.status, 0, "{theirs:?}");
    assert!(!theirs.out().contains("sees"), "{theirs:?}");
    assert!(daemon.log().contains("another user"), "{}", daemon.log());
    // For us it goes on.
    assert!(
        daemon
            .client()
            .await
            .get_capabilities(Empty {})
            .await
            .is_ok()
    );
}

#[test]
fn the_socket_and_the_tokens_are_for_one_user_alone() {
    let daemon = Daemon::start("");
    let mode = |name: &str| {
        let metadata = std::fs::metadata(daemon.home().join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("run"), 0o700);
    assert_eq!(mode("data"), 0o700);
    assert_eq!(mode("run/daemon.sock"), 0o600);
    assert_eq!(mode("run/keeper.sock") & 0o077, 0);
    assert_eq!(mode("data/person.token"), 0o600);
    assert_eq!(mode("data/agent.token"), 0o600);
    let (person, agent) = (
        token(daemon.home(), "person"),
        token(daemon.home(), "agent"),
    );
    assert!(person.len() >= 32 && agent.len() >= 32 && person != agent);
}

/// A daemon with a TCP address, and that address.
fn with_tcp() -> (Daemon, String) {
    let address = format!("127.0.0.1:{}", shellglass_tests::program::free_port());
    let daemon = Daemon::start_with("", &[], &["--listen", &address]);
    (daemon, address)
}

async fn over_tcp(address: &str) -> ShellExecClient<Channel> {
    let endpoint = Endpoint::try_from(format!("http://{address}")).unwrap();
    ShellExecClient::new(endpoint.connect().await.unwrap())
}

#[tokio::test]
async fn over_tcp_only_a_token_counts() {
    let (daemon, address) = with_tcp();
    let persons = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut client = over_tcp(&address).await;
    let bare = client.list_sessions(ListSessionsRequest::default()).await;
    refused(bare, Code::Unauthenticated);
    let bare = client.run(persons.request("touch ran")).await;
    refused(bare, Code::Unauthenticated);
    let bare = client.create_session(CreateSessionRequest::default()).await;
    refused(bare, Code::Unauthenticated);
    let bare = client.get_capabilities(Empty {}).await;
    refused(bare, Code::Unauthenticated);
    let wrong = with_token(persons.request("touch ran"), &"0".repeat(64));
    refused(client.run(wrong).await, Code::Unauthenticated);
    assert!(!daemon.home().join("ran").exists());
    let person = token(daemon.home(), "person");
    assert_eq!(seen(&mut client, &person).await, [persons.id.as_str()]);
    let run = with_token(persons.request("echo over tcp"), &person);
    let result = client.run(run).await.unwrap().into_inner();
    assert_eq!(success(result).stdout, "over tcp\n");
    let stream = with_token(persons.request("echo streamed"), &person);
    let mut stream = client.execute(stream).await.unwrap().into_inner();
    assert_eq!(rest(&mut stream).await.stdout(), b"streamed\n");
    let agent = token(daemon.home(), "agent");
    assert_eq!(seen(&mut client, &agent).await, Vec::<String>::new());
}

#[tokio::test]
async fn methods_of_later_versions_want_a_token_too() {
    let (_daemon, address) = with_tcp();
    let mut client = over_tcp(&address).await;
    let answer = client.list_approvals(Empty {}).await;
    refused(answer, Code::Unauthenticated);
}

#[test]
fn only_loopback_is_listened_on_without_tls() {
    let home = Home::default();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7583"] {
        let ran = home.cli(&["serve", "--listen", address]);
        ran.failed_with(2);
        assert!(ran.stderr.contains("other machines"), "{ran:?}");
        let again = format!("--listen-without-tls {address}");
        assert!(ran.stderr.contains(&again), "the hint says how: {ran:?}");
        let other = [
            "serve",
            "--listen",
            address,
            "--listen-without-tls",
            "127.0.0.1:1",
        ];
        home.cli(&other).failed_with(2);
    }
    home.configure("[daemon]\nlisten = \"0.0.0.0:7583\"\n");
    let ran = home.cli(&["serve"]);
    ran.failed_with(2);
    assert!(ran.stderr.contains("other machines"), "{ran:?}");
    home.configure("[daemon]\ntls_key = \"/key.pem\"\n");
    home.cli(&["serve"]).failed_with(2);
    home.configure("[daemon]\ntls_key = \"/no/key.pem\"\ntls_certificate = \"/no/it.pem\"\n");
    let ran = home.cli(&["serve"]);
    ran.failed_with(1);
    assert!(ran.stderr.contains("/no/it.pem"), "{ran:?}");
    assert_eq!(home.daemons(), Vec::<u32>::new());
}
