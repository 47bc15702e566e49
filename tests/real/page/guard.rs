//! Who is refused, and that the server goes on serving.

use super::glass::Glass;
use serde_json::json;
use std::time::Instant;
use tokio_tungstenite::tungstenite::Message;

/// Paths that want a token.
const CLOSED: [(&str, &str); 4] = [
    ("POST", "/api/v1/ListSessions"),
    ("GET", "/metrics"),
    ("GET", "/ws/events"),
    ("GET", "/ws/terminal"),
];

const UPGRADE: [&str; 4] = [
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Connection: Upgrade",
];

fn status(glass: &Glass, verb: &str, path: &str, headers: &[&str]) -> u16 {
    let mut all: Vec<&str> = headers.to_vec();
    if path.starts_with("/ws/") {
        all.extend(UPGRADE);
    }
    glass.ask(verb, path, &all, b"").status
}

#[test]
fn a_foreign_host_or_origin_is_refused_everywhere() {
    let glass = Glass::start("");
    let bearer = glass.bearer("person");
    let port = glass.address.port();
    let open = [("GET", "/"), ("GET", "/healthz"), ("POST", "/api/session")];
    for (verb, path) in CLOSED.into_iter().chain(open) {
        for foreign in [
            "Host: evil.example".to_owned(),
            format!("Host: evil.example:{port}"),
            format!("Host: 127.0.0.1.evil.example:{port}"),
            "Host: 127.0.0.1:1".to_owned(),
            "Origin: http://evil.example".to_owned(),
            "Origin: null".to_owned(),
            "Origin: http://127.0.0.1:1".to_owned(),
            format!("Origin: https://127.0.0.1:{port}"),
        ] {
            let found = status(&glass, verb, path, &[&foreign, &bearer]);
            assert_eq!(found, 403, "{verb} {path} with {foreign}");
        }
    }
    let own = format!("Origin: http://localhost:{port}");
    let host = format!("Host: localhost:{port}");
    let found = status(
        &glass,
        "POST",
        "/api/v1/ListSessions",
        &[&own, &host, &bearer],
    );
    assert_eq!(found, 200);
}

#[test]
fn without_a_token_only_the_page_is_there() {
    let glass = Glass::start("");
    for (verb, path) in CLOSED {
        assert_eq!(status(&glass, verb, path, &[]), 401, "{path}");
        let wrong = "Authorization: Bearer 00000000000000000000000000000000";
        assert_eq!(status(&glass, verb, path, &[wrong]), 401, "{path}");
    }
    let basic = status(&glass, "GET", "/metrics", &["Authorization: Basic eDp5"]);
    assert_eq!(basic, 401);
    for path in ["/", "/healthz"] {
        assert_eq!(status(&glass, "GET", path, &[]), 200, "{path}");
    }
    let page = glass.ask("GET", "/", &[], b"");
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
}

#[test]
fn many_wrong_tokens_wait_and_the_right_one_does_not() {
    let glass = Glass::start("");
    let wrong = br#"{"token":"00000000000000000000000000000000"}"#;
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(glass.ask("POST", "/api/session", &[], wrong).status);
    }
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[11], 429, "{statuses:?}");
    let begun = Instant::now();
    assert_eq!(glass.ask("POST", "/api/session", &[], wrong).status, 429);
    assert!(
        begun.elapsed().as_millis() >= 400,
        "it was answered at once"
    );
    glass.done("person", "ListSessions", &json!({}));
    assert_eq!(glass.ask("POST", "/api/session", &[], b"{}").status, 400);
    assert_eq!(glass.ask("POST", "/api/session", &[], b"\xff").status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_alone_opens_nothing_and_a_pass_outlives_the_daemon() {
    let mut glass = Glass::start("");
    let token = shellglass_tests::calls::token(glass.daemon.home(), "person");
    let body = json!({ "token": token }).to_string();
    let answer = glass.ask("POST", "/api/session", &[], body.as_bytes());
    assert_eq!(answer.status, 200);
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict;"), "{cookie}");
    assert!(!cookie.contains(&token), "{cookie}");
    let pair = cookie.split(';').next().unwrap().to_owned();
    let cookie = format!("Cookie: other=1; {pair}");
    let key = answer.json()["key"].as_str().unwrap().to_owned();
    let key_line = format!("X-Shellglass-Key: {key}");
    glass.restart();
    for (headers, expected) in [
        (vec![cookie.as_str()], 401),
        (vec![key_line.as_str()], 401),
        (vec![cookie.as_str(), "X-Shellglass-Key: 00"], 401),
        (vec![cookie.as_str(), key_line.as_str()], 200),
    ] {
        let found = glass
            .ask("POST", "/api/v1/ListSessions", &headers, b"")
            .status;
        assert_eq!(found, expected, "{headers:?}");
    }
    let protocol = format!("shellglass, key-{key}");
    let halves = [
        ("cookie", pair.as_str()),
        ("sec-websocket-protocol", protocol.as_str()),
    ];
    assert_eq!(
        glass.socket("/ws/events", &halves[..1]).await.err(),
        Some(401)
    );
    let mut events = glass.socket("/ws/events", &halves).await.expect("both");
    events.until("ready").await;
}

#[test]
fn no_path_leads_outside_the_page() {
    let glass = Glass::start("");
    for path in [
        "/../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/./index.html/../../etc/passwd",
        "/index.html%00.js",
        "/\\..\\..\\etc\\passwd",
        "/nonsense",
        "/api/v1/../../etc/passwd",
        "/api/v1/",
    ] {
        let answer = glass.ask("GET", path, &[], b"");
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
        let body = String::from_utf8_lossy(&answer.body);
        assert!(!body.contains("root:"), "{path}: {body}");
    }
    assert_eq!(glass.ask("POST", "/", &[], b"").status, 405);
    assert_eq!(glass.ask("GET", "/healthz", &[], b"").status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_or_no_http_is_refused_and_serving_goes_on() {
    let glass = Glass::start("");
    let bearer = glass.bearer("person");
    let large = vec![b' '; 9 << 20];
    let answer = glass.ask("POST", "/api/v1/Run", &[&bearer], &large);
    assert_eq!(answer.status, 413);
    let header = format!("X-Large: {}", "x".repeat(100_000));
    assert_eq!(glass.ask("GET", "/healthz", &[&header], b"").status, 431);
    for nonsense in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
    ] {
        let answer = glass.raw(nonsense);
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{nonsense:?}");
    }
    let session = glass.session("person");
    for path in ["/ws/events", "/ws/terminal"] {
        let mut socket = glass.open(path).await;
        socket.try_send(Message::binary(vec![0; 1 << 20])).await;
        let mut bounded = 0;
        while socket.next().await.is_some() {
            bounded += 1;
            assert!(bounded < 10, "{path} goes on");
        }
    }
    let (mut socket, _, _) = glass.mirror(&session).await;
    for text in [
        "{",
        "[]",
        r#"{"type":"paste"}"#,
        r#"{"type":"resize","cols":-1}"#,
    ] {
        socket.send(Message::text(text)).await;
        assert!(socket.message("error").await["message"].is_string());
    }
    socket
        .tell(&json!({ "type": "resize", "cols": 10, "rows": 5 }))
        .await;
    glass.run(&session, "echo on");
    socket
        .shown_until("on\r\n\x1b]633;D;0\x07\x1b]633;A\x07$ \x1b]633;B\x07")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_opens_and_closes_leave_nothing() {
    let glass = Glass::start("");
    let session = glass.session("person");
    for round in 0..10_000 {
        let mut socket = glass.open("/ws/terminal").await;
        if round % 2 == 0 {
            let init = json!({ "type": "init", "sessionId": session });
            socket.tell(&init).await;
        }
    }
    let bearer = glass.bearer("person");
    shellglass_tests::eventually("every view is closed", || {
        let text = glass.ask("GET", "/metrics", &[&bearer], b"").body;
        String::from_utf8_lossy(&text).contains("shellglass_websockets 0\n")
    })
    .await;
    assert!(glass.run(&session, "true")["success"].is_object());
}
