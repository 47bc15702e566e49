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
