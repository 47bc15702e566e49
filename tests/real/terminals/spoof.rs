//! What a command prints can change what people see, never what is believed.

use super::desk::Desk;
use crate::filters::base64;
use serde_json::Value;
use shellglass_tests::Daemon;

const CASES: &str = include_str!("../../corpus/spoof/cases.jsonl");

/// Longest stream that is printed in two parts, at every place.
const SPLIT_BYTES_MAX: usize = 200;

fn stream(case: &Value) -> Option<Vec<u8>> {
    case["stream_b64"].as_str().map(base64)
}

#[tokio::test]
async fn no_stream_ends_its_command_or_changes_what_is_known() {
    let daemon = Daemon::start("");
    let home = daemon.home().to_string_lossy().into_owned();
    let script = "n=$(wc -c < \"$1\"); i=0\n\
                  while [ $i -le $n ]; do head -c $i \"$1\"; tail -c +$((i + 1)) \"$1\"; \
                  i=$((i + ${2-1})); done\n";
    std::fs::write(daemon.home().join("split"), script).unwrap();
    let desk = Desk::bare(&daemon, "bash").await;
    let mut count = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let Some(bytes) = stream(&case) else {
            // Long ones, made by a recipe, are the parser's own tests.
            continue;
        };
        let id = case["id"].as_str().unwrap();
        std::fs::write(daemon.home().join(id), &bytes).unwrap();
        let step = 1 + bytes.len() / SPLIT_BYTES_MAX * 7;
        let command = format!("sh split {id} {step}; (exit 7)");
        let ran = desk.session.run(&command).await;
        assert_eq!(ran.code, Some(7), "{id}");
        let shown = desk.session.shown().await;
        assert_eq!(shown.working_directory, home, "{id}");
        let known = desk.commands().await;
        count += 1;
        assert_eq!(known.len(), count, "{id} made a command of its own");
        let last = known.last().unwrap();
        assert_eq!(
            (last.command.as_str(), last.exit_code),
            (command.as_str(), Some(7)),
            "{id}"
        );
    }
    assert!(count >= 50, "the corpus is there");
    assert_eq!(desk.session.run("echo fine").await.stdout, "fine\r\n");
}
