//! What an agent is told of tools that were adapted, and of questions.

use super::Bench;
use crate::mcp_lines::Mcp;
use crate::terminals::viewer::{Viewer, open};
use glass_proto::shellglass::v1::ReadTextRequest;
use serde_json::json;
use shellglass_tests::PATIENCE;
use shellglass_tests::calls::success;
use std::time::Instant;

/// Start files would have another `PATH`.
const BARE: &str = "startup = \"none\"\n";

#[tokio::test]
async fn an_agent_reads_sections_of_what_it_did_not_ask_for_as_events() {
    let bench = Bench::new(BARE).await;
    let mut mcp = Mcp::start(&bench.daemon);
    let (text, fields) = mcp.call("execute_command", json!({"command": "codex 'fix it'"}));
    assert!(text.contains("[assistant]\n"), "{text}");
    assert!(!text.contains("agent_message"), "{text}");
    // Offsets stay those of what was written.
    assert_eq!(fields["next_offset"], json!(super::CODEX_EVENTS.len()));
    let back = mcp.call(
        "read_output",
        json!({"shell_id": fields["shell_id"], "offset": 0}),
    );
    assert!(back.0.contains("agent_message"), "{}", back.0);
    // Who asks for events by name gets events.
    let (text, _) = mcp.call("execute_command", json!({"command": "codex exec --json x"}));
    assert!(text.contains("agent_message"), "{text}");
}

#[tokio::test]
async fn a_tool_that_is_left_alone_is_shown_as_it_is() {
    let bench = Bench::new(&format!("{BARE}[adapters]\nenabled = false\n")).await;
    let script = "#!/bin/sh\necho '{\"plain\": 1}'; echo \"$# words\"\n";
    super::program(&bench.daemon.home().join("bin/codex"), script);
    let mut mcp = Mcp::start(&bench.daemon);
    let (text, _) = mcp.call("execute_command", json!({"command": "codex 'fix it'"}));
    assert!(text.starts_with("{\"plain\": 1}\n1 words\n"), "{text}");
}

#[tokio::test]
async fn a_question_is_noticed_while_it_waits() {
    let bench = Bench::new(BARE).await;
    let mut mcp = Mcp::start(&bench.daemon);
    let command = "printf 'Password for deploy: '; read -r answer; echo \"got $answer\"";
    let begun = json!({"command": command, "background": true, "yield_ms": 0});
    let (mut text, fields) = mcp.call("execute_command", begun);
    let id = &fields["shell_id"];
    let asks = "[it seems to ask for a password: \"Password for deploy:\"]";
    let deadline = Instant::now() + PATIENCE;
    while !text.contains(asks) {
        assert!(Instant::now() < deadline, "{text}");
        // What was shown is not shown again, so it is read from the beginning.
        text = mcp
            .call(
                "read_output",
                json!({"shell_id": id, "offset": 0, "wait_ms": 100}),
            )
            .0;
    }
    mcp.call("write_stdin", json!({"shell_id": id, "chars": "x\n"}));
    mcp.call(
        "wait",
        json!({"shell_id": id, "exit": true, "timeout_ms": 20000}),
    );
    let (text, _) = mcp.call("read_output", json!({"shell_id": id, "offset": 0}));
    assert!(
        text.contains("got x") && !text.contains("seems to ask"),
        "{text}"
    );
}

#[tokio::test]
async fn people_who_watch_see_sections_and_the_journal_has_the_events() {
    let bench = Bench::new(BARE).await;
    bench.run("codex 'fix it'").await;
    let mut viewer = Viewer::open(&bench.session.client, open(&bench.session)).await;
    viewer.ready().await;
    let replayed = viewer.text();
    assert!(replayed.contains("[assistant]\r\n"), "{replayed}");
    assert!(!replayed.contains("agent_message"), "{replayed}");
    // What comes is shown like what was.
    viewer.forget();
    bench.run("claude -p explain").await;
    viewer.until("\u{1b}]633;D;0").await;
    let live = viewer.text();
    assert!(live.contains("[assistant]\r\n"), "{live}");
    assert!(!live.contains("\"type\""), "{live}");
    // Who asks for events by name gets events.
    viewer.forget();
    let ran = bench.run("codex exec --json x").await;
    assert!(success(ran).stdout.contains("agent_message"));
    viewer.until("agent_message").await;
}

#[tokio::test]
async fn a_person_reads_the_sections_that_the_agent_read() {
    let bench = Bench::new(BARE).await;
    let mut mcp = Mcp::start(&bench.daemon);
    let mut client = bench.session.client.clone();
    for (command, is_readable) in [
        ("codex 'fix it'", true),
        ("claude -p explain", true),
        // Who asks for events by name gets events.
        ("codex exec --json x", false),
    ] {
        let (told, fields) = mcp.call("execute_command", json!({"command": command}));
        let id = fields["shell_id"].as_u64().unwrap();
        let request = ReadTextRequest {
            shell_id: u32::try_from(id).unwrap(),
            markdown_for: "context".to_owned(),
            ..ReadTextRequest::default()
        };
        let read = client.read_text(request).await.unwrap().into_inner();
        assert!(
            told.starts_with(&read.output),
            "{command}: {told}\n{}",
            read.output
        );
        assert_eq!(
            read.output.contains("[assistant]\n"),
            is_readable,
            "{command}"
        );
        let is_event = read.output.starts_with("{\"type\":");
        assert_eq!(is_event, !is_readable, "{command}");
        assert_eq!(json!(read.next_offset), fields["next_offset"], "{command}");
        assert!(read.markdown.contains(&read.output), "{command}");
    }
}
