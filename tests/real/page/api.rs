//! The service as JSON over HTTP, beside gRPC on the same port.

use super::glass::Glass;
use glass_proto::shellglass::v1::shell_exec_client::ShellExecClient;
use glass_proto::shellglass::v1::{ListSessionsRequest, SessionRef};
use serde_json::json;
use shellglass_tests::calls::{token, with_token};
use tonic::Code;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_and_grpc_on_one_port_say_the_same() {
    let glass = Glass::start("");
    let id = glass.session("person");
    let run = glass.run(&id, "printf out; printf err >&2; exit 4");
    let failure = &run["failure"];
    assert_eq!(
        (&failure["stdout"], &failure["stderr"]),
        (&json!("out"), &json!("err"))
    );
    assert_eq!(failure["exitCode"], json!(4));
    shellglass_tests::eventually("nothing runs", || {
        glass.done("person", "GetSession", &json!({ "sessionId": id }))["busy"] == json!(false)
    })
    .await;
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{}", glass.address))
        .unwrap()
        .connect()
        .await
        .unwrap();
    let mut grpc = ShellExecClient::new(channel);
    let person = token(glass.daemon.home(), "person");
    let listed = grpc.list_sessions(with_token(ListSessionsRequest::default(), &person));
    let listed = listed.await.unwrap().into_inner().sessions;
    assert_eq!(listed.len(), 1);
    let shown = glass.done("person", "GetSession", &json!({ "sessionId": id }));
    assert_eq!(shown, glass_proto::json::value(&listed[0]));
    let without = grpc.get_session(SessionRef { session_id: id }).await;
    assert_eq!(without.unwrap_err().code(), Code::Unauthenticated);
}

#[test]
fn errors_have_a_status_a_message_and_a_hint() {
    let glass = Glass::start("");
    for (method, request, status, kind) in [
        (
            "GetSession",
            json!({ "sessionId": "s-x" }),
            404,
            "NOT_FOUND",
        ),
        ("Nonsense", json!({}), 404, "NOT_FOUND"),
        ("Subscribe", json!({}), 404, "NOT_FOUND"),
        (
            "GetSession",
            json!({ "session": 1 }),
            400,
            "INVALID_ARGUMENT",
        ),
        ("Run", json!([]), 400, "INVALID_ARGUMENT"),
        (
            "Run",
            json!({ "args": { "command": "" } }),
            400,
            "INVALID_ARGUMENT",
        ),
    ] {
        let answer = glass.call("person", method, &request);
        assert_eq!(answer.status, status, "{method}: {answer:?}");
        let body = answer.json();
        assert_eq!(body["status"], json!(kind), "{method}");
        assert_ne!(body["message"], json!(""), "{method}");
    }
    let bearer = glass.bearer("person");
    let answer = glass.ask("GET", "/api/v1/ListSessions", &[&bearer], b"");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    let broken = glass.ask("POST", "/api/v1/Run", &[&bearer], b"{\"args\": ");
    assert_eq!(broken.status, 400);
    assert_eq!(
        glass
            .ask("POST", "/api/v1/ListSessions", &[&bearer], b"")
            .status,
        200
    );
}

#[test]
fn metrics_count_what_there_is() {
    let glass = Glass::start("");
    glass.session("person");
    let bearer = glass.bearer("person");
    let answer = glass.ask("GET", "/metrics", &[&bearer], b"");
    let text = String::from_utf8(answer.body).unwrap();
    for line in ["shellglass_sessions 1\n", "shellglass_sessions_busy 0\n"] {
        assert!(text.contains(line), "{text}");
    }
}

/// The number that a page of metrics has for a name with its labels.
fn number(page: &str, name: &str) -> f64 {
    let of = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
    let found = page.lines().find_map(of);
    found.unwrap_or_else(|| panic!("no {name} in {page}"))
}

#[test]
fn metrics_count_what_happened_and_name_nobody() {
    let glass = Glass::start("[policy]\nagent = \"ask\"\n[approvals]\nanswer_seconds = 1\n");
    let bearer = glass.bearer("person");
    let mine = glass.session("person");
    for command in ["printf abcde", "printf xyz >&2; (exit 3) # hunter2", "true"] {
        let body = serde_json::json!({"sessionId": mine, "args": {"command": command}});
        let body = body.to_string();
        let answer = glass.ask("POST", "/api/v1/Run", &[&bearer], body.as_bytes());
        assert_eq!(answer.status, 200, "{command}");
    }
    // Nobody answers this one.
    let session = glass.session("agent");
    let body = serde_json::json!({"sessionId": session, "args": {"command": "doubtful-command"}});
    let body = body.to_string();
    let agent = glass.bearer("agent");
    let answer = glass.ask("POST", "/api/v1/Run", &[&agent], body.as_bytes());
    assert!(answer.json()["rejected"].is_object(), "{answer:?}");
    let answer = glass.ask("GET", "/metrics", &[&bearer], b"");
    let page = String::from_utf8(answer.body).unwrap();
    for (name, expected) in [
        ("shellglass_sessions_created_total", 2.0),
        ("shellglass_executions_started_total{sandbox=\"none\"}", 3.0),
        (
            "shellglass_executions_ended_total{outcome=\"success\"}",
            2.0,
        ),
        (
            "shellglass_executions_ended_total{outcome=\"failure\"}",
            1.0,
        ),
        ("shellglass_output_bytes_total{stream=\"stdout\"}", 5.0),
        ("shellglass_output_bytes_total{stream=\"stderr\"}", 3.0),
        ("shellglass_output_dropped_bytes_total", 0.0),
        (
            "shellglass_executions_ended_total{outcome=\"rejected\"}",
            1.0,
        ),
        ("shellglass_approvals_asked_total", 1.0),
        (
            "shellglass_approvals_answered_total{answer=\"lapsed\"}",
            1.0,
        ),
        ("shellglass_approvals_pending", 0.0),
        ("shellglass_execution_duration_seconds_count", 3.0),
        (
            "shellglass_execution_duration_seconds_bucket{le=\"+Inf\"}",
            3.0,
        ),
        ("shellglass_execution_wait_seconds_count", 3.0),
        ("shellglass_journal_failures_total", 0.0),
    ] {
        assert_eq!(number(&page, name), expected, "{name}: {page}");
    }
    assert!(
        number(&page, "shellglass_journal_write_seconds_count") > 0.0,
        "{page}"
    );
    assert!(
        number(&page, "shellglass_resident_memory_bytes") > 0.0,
        "{page}"
    );
    let home = glass.daemon.home().display().to_string();
    for private in ["hunter2", "printf", "doubtful", &home] {
        assert!(!page.contains(private), "{private} in {page}");
    }
}

#[test]
fn a_log_is_json_where_that_is_wanted_and_has_no_secret_at_any_level() {
    let glass =
        Glass::start("[daemon]\nlog_format = \"json\"\nlog = \"trace,rmcp=trace,h2=trace\"\n");
    let bearer = glass.bearer("person");
    let secret = "hunter2-correct-horse";
    let body = serde_json::json!({"args": {"command": format!("echo {secret}")}}).to_string();
    let answer = glass.ask("POST", "/api/v1/Run", &[&bearer], body.as_bytes());
    assert_eq!(answer.status, 200);
    let hello = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": secret, "version": "1"},
    }});
    let accept = "Accept: application/json, text/event-stream";
    let kind = "Content-Type: application/json";
    let headers = [bearer.as_str(), accept, kind];
    let answer = glass.ask("POST", "/mcp", &headers, hello.to_string().as_bytes());
    assert_eq!(answer.status, 200);
    // A wrong token is worth a word, and not the token.
    let wrong = "Authorization: Bearer 0123456789abcdef0123456789abcdef-wrong";
    assert_eq!(glass.ask("GET", "/metrics", &[wrong], b"").status, 401);
    let log = glass.daemon.log();
    for told in ["the daemon listens", "a session is made", "a command ended"] {
        assert!(log.contains(told), "no '{told}' in {log}");
    }
    for line in log.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect(line);
        assert!(
            entry["level"].is_string() && entry["target"].is_string(),
            "{line}"
        );
    }
    let token = bearer.rsplit(' ').next().unwrap();
    for private in [secret, token, "0123456789abcdef-wrong"] {
        assert!(!log.contains(private), "{private} in {log}");
    }
}
