//! What ran, read again: as a model reads it, by searching, and as a recording.

use super::glass::Glass;
use serde_json::{Value, json};
use shellglass_tests::PATIENCE;
use shellglass_tests::program::{finish, ran};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::mpsc;

const NO_WALLS: &str = "[sandbox]\ndefault = \"none\"\nagent = \"none\"\n";

/// More output than a model is shown, with an error in its middle.
const LONG: &str = "seq 1 20000; echo 'error: the one that matters' >&2; seq 1 20000; exit 3";

fn last_shell(glass: &Glass, session: &str) -> Value {
    let shown = glass.done("person", "GetSession", &json!({ "sessionId": session }));
    shown["lastShellId"].clone()
}

/// The answer of a tool, from `shellglass mcp`.
fn tool(glass: &Glass, arguments: &Value) -> Value {
    let mut command = glass.daemon.command();
    command.arg("mcp");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        },
    });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "execute_command", "arguments": arguments },
    });
    for message in [initialize, initialized, call] {
        writeln!(input, "{message}").unwrap();
    }
    let (sender, lines) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(2) {
                sender.send(message).unwrap();
                return;
            }
        }
    });
    let answer = lines.recv_timeout(PATIENCE).expect("an answer in time");
    drop(input);
    reader.join().unwrap();
    finish(child);
    answer["result"]["structuredContent"].clone()
}

#[test]
fn a_person_reads_what_a_tool_has_answered() {
    let config = format!(
        "{NO_WALLS}[policy]\nbuiltin_allow = true\n[[policy.rule]]\nprefix = [\"seq\"]\ndecision = \"allow\"\nreason = \"a test\"\n"
    );
    let glass = Glass::start(&config);
    for command in ["seq 1 20000", "seq 1 3"] {
        let told = tool(&glass, &json!({ "command": command }));
        assert_eq!(told["status"], json!("exited"), "{told}");
        let request = json!({ "shellId": told["shell_id"] });
        let read = glass.done("person", "ReadText", &request);
        assert_eq!(read["output"], told["output"], "{command}");
        assert_eq!(read["truncated"], told["truncated"], "{command}");
        assert_eq!(read["end"], json!("exit code 0"));
    }
}

#[test]
fn what_a_model_reads_is_short_and_has_the_errors_and_the_end() {
    let glass = Glass::start(NO_WALLS);
    let id = glass.session("person");
    glass.run(&id, LONG);
    let shell = last_shell(&glass, &id);
    let read = glass.done("person", "ReadText", &json!({ "shellId": shell }));
    let output = read["output"].as_str().unwrap();
    assert!(output.chars().count() <= 16_000, "{}", output.len());
    assert!(output.contains("error: the one that matters"), "{output}");
    assert_eq!(read["truncated"], json!(true));
    assert_eq!(read["end"], json!("exit code 3"));
    assert_eq!(
        (&read["running"], &read["markdown"]),
        (&json!(false), &json!(""))
    );
    let shorter = json!({ "shellId": shell, "maxChars": 2000, "markdownFor": "fix" });
    let read = glass.done("person", "ReadText", &shorter);
    assert!(read["output"].as_str().unwrap().chars().count() <= 2000);
    let markdown = read["markdown"].as_str().unwrap();
    assert!(
        markdown.starts_with("This command did not do"),
        "{markdown}"
    );
    assert!(
        markdown.contains(&format!("```sh\n{LONG}\n```")),
        "{markdown}"
    );
    assert!(markdown.ends_with("End: `exit code 3`\n"), "{markdown}");
    let wrong = json!({ "shellId": shell, "markdownFor": "praise" });
    let refused = glass.call("person", "ReadText", &wrong);
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["hint"], json!("use context, fix or explain"));
    let unknown = glass.call("person", "ReadText", &json!({ "shellId": 999_999 }));
    assert_eq!(unknown.status, 404);
    let others = glass.call("agent", "ReadText", &json!({ "shellId": shell }));
    assert_eq!(others.status, 403);
}

fn search(glass: &Glass, role: &str, request: Value) -> Vec<Value> {
    let found = glass.done(role, "Search", &request);
    found["results"].as_array().unwrap().clone()
}

fn commands(results: &[Value]) -> Vec<&str> {
    let mut commands = Vec::new();
    for result in results {
        commands.push(result["execution"]["command"].as_str().unwrap());
    }
    commands
}

#[test]
fn commands_and_output_of_all_sessions_are_searched() {
    let glass = Glass::start(NO_WALLS);
    let (one, two) = (glass.session("person"), glass.session("agent"));
    glass.run(&one, "echo the quick brown fox");
    glass.run(
        &two,
        "printf 'a quick\\r\\033[1mQUICK\\033[0m fix\\nand more\\n'",
    );
    glass.run(&one, "echo nothing of it");
    let all = search(&glass, "person", json!({ "text": "quick" }));
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[0]["sessionId"], json!(two));
    assert_eq!(
        all[0]["inOutput"][0],
        json!({ "before": "", "text": "QUICK", "after": " fix" }),
        "as a terminal shows it: {all:?}"
    );
    assert_eq!(
        all[1]["inCommand"],
        json!({ "before": "echo the ", "text": "quick", "after": " brown fox" })
    );
    assert_eq!(all[1]["inOutput"][0]["before"], json!("the "));
    let regex = search(
        &glass,
        "person",
        json!({ "text": "^and m.re$", "isRegex": true }),
    );
    assert_eq!(commands(&regex).len(), 1);
    let session = json!({ "text": "quick", "sessionId": one });
    assert_eq!(
        commands(&search(&glass, "person", session)),
        ["echo the quick brown fox"]
    );
    let agents = search(&glass, "agent", json!({ "text": "quick" }));
    assert_eq!(
        agents.len(),
        1,
        "an agent finds what agents ran: {agents:?}"
    );
    for (wrong, status) in [
        (json!({ "text": "" }), 400),
        (json!({ "text": "(", "isRegex": true }), 400),
        (json!({ "text": "x", "sessionId": "s-none" }), 404),
    ] {
        assert_eq!(
            glass.call("person", "Search", &wrong).status,
            status,
            "{wrong}"
        );
    }
}

#[test]
fn the_end_of_a_long_output_is_searched_and_what_is_left_out_is_said() {
    let glass = Glass::start(NO_WALLS);
    let id = glass.session("person");
    glass.run(
        &id,
        "echo first-word; head -c 20000000 /dev/zero | tr '\\0' x | fold -w 1000; echo; echo last-word",
    );
    for text in ["first-wor[d]", "last-wor[d]"] {
        let found = search(&glass, "person", json!({ "text": text, "isRegex": true }));
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0]["inOutput"][0]["before"], json!(""), "{text}");
    }
    let found = search(
        &glass,
        "person",
        json!({ "text": "^last-word$", "isRegex": true }),
    );
    assert_eq!(found[0]["outputCut"], json!(true));
}

#[test]
fn a_search_goes_on_where_it_stopped_and_misses_nothing() {
    let glass = Glass::start(NO_WALLS);
    let id = glass.session("person");
    for n in 0..7 {
        glass.run(&id, &format!("echo wanted {n}"));
    }
    let mut found = Vec::new();
    let mut before = json!(0);
    for _ in 0..10 {
        let request = json!({ "text": "wanted", "maxResults": 2, "beforeShellId": before });
        let answer = glass.done("person", "Search", &request);
        let results = answer["results"].as_array().unwrap();
        assert!(results.len() <= 2);
        found.extend(results.iter().map(|it| it["execution"]["command"].clone()));
        let Some(next) = answer.get("nextBeforeShellId") else {
            break;
        };
        before = next.clone();
    }
    let wanted: Vec<Value> = (0..7)
        .rev()
        .map(|n| json!(format!("echo wanted {n}")))
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_secret_cannot_be_found_by_searching_nor_read_in_another_way() {
    let glass = Glass::start(NO_WALLS);
    let home = glass.daemon.home().to_string_lossy().into_owned();
    let request = json!({
        "shell": "bash", "startup": "none", "workingDirectory": home,
        "env": { "MY_TOKEN": "plum-Pflaume-4711" },
    });
    let made = glass.done("person", "CreateSession", &request);
    let id = made["sessionId"].as_str().unwrap();
    glass.run(id, "echo before $MY_TOKEN after");
    assert!(search(&glass, "person", json!({ "text": "Pflaume" })).is_empty());
    let shown = search(&glass, "person", json!({ "text": "before [REDACTED" }));
    assert_eq!(shown.len(), 1);
    let shell = last_shell(&glass, id);
    let text = json!({ "shellId": shell, "markdownFor": "context" });
    let text = glass.done("person", "ReadText", &text).to_string();
    let cast = recording(&glass, "person", id);
    for view in [text, cast] {
        assert!(view.contains("[REDACTED:MY_TOKEN]"), "{view}");
        assert!(!view.contains("Pflaume"), "{view}");
    }
}

fn recording(glass: &Glass, role: &str, id: &str) -> String {
    let path = format!("/api/v1/ExportRecording?sessionId={id}");
    let answer = glass.ask("GET", &path, &[&glass.bearer(role)], b"");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.header("content-type"),
        Some("application/x-asciicast")
    );
    unchunked(&answer.body)
}

/// A body that came in chunks.
fn unchunked(mut body: &[u8]) -> String {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|it| it == b"\r\n").unwrap();
        let length = std::str::from_utf8(&body[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        body = &body[end + 2..];
        if length == 0 {
            return String::from_utf8(whole).unwrap();
        }
        whole.extend_from_slice(&body[..length]);
        body = &body[length + 2..];
    }
}

#[test]
fn a_session_is_exported_as_an_asciicast() {
    let glass = Glass::start(NO_WALLS);
    let id = glass.session("person");
    glass.run(&id, "printf 'eins\\nzwei: \\303\\244\\n'");
    glass.run(&id, "seq 1 30000 | md5sum; false");
    let cast = recording(&glass, "person", &id);
    let lines: Vec<Value> = cast
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines[0]["version"], json!(2));
    assert_eq!(
        (&lines[0]["width"], &lines[0]["height"]),
        (&json!(80), &json!(30))
    );
    let kind = |kind: &str| -> Vec<&Value> {
        lines[1..]
            .iter()
            .filter(|line| line[1] == json!(kind))
            .collect()
    };
    let marks: Vec<&Value> = kind("m").into_iter().map(|line| &line[2]).collect();
    assert_eq!(marks.len(), 2, "{cast}");
    assert_eq!(marks[1], &json!("seq 1 30000 | md5sum; false"));
    let shown: String = kind("o")
        .iter()
        .map(|line| line[2].as_str().unwrap())
        .collect();
    assert!(shown.contains("eins\r\nzwei: ä\r\n"), "{shown:?}");
    assert!(shown.contains("\u{1b}]633;D;1\u{7}"), "{shown:?}");
    let times: Vec<f64> = lines[1..]
        .iter()
        .map(|line| line[0].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let mut command = glass.daemon.command();
    let printed = ran(command.args(["history", &id, "--asciicast"])).out();
    assert_eq!(printed, cast, "the command line says the same");
    let path = format!("/api/v1/ExportRecording?sessionId={id}");
    let agent = glass.ask("GET", &path, &[&glass.bearer("agent")], b"");
    assert_eq!(agent.status, 403);
    assert_eq!(glass.ask("GET", &path, &[], b"").status, 401);
}

#[test]
fn history_is_searched_from_the_command_line() {
    let glass = Glass::start(NO_WALLS);
    let id = glass.session("person");
    glass.run(&id, "printf 'needle \\033[2J in hay\\n'");
    let mut command = glass.daemon.command();
    let out = ran(command.args(["history", "--grep", "needle"])).out();
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with(&id), "{out}");
    assert!(lines[1].contains("needle"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out:?}");
    let mut command = glass.daemon.command();
    let json = ran(command.args(["history", "--grep", "ne+dle", "--regex", "--json"])).out();
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["results"].as_array().unwrap().len(), 1);
    let mut command = glass.daemon.command();
    ran(command.args(["history", "--grep", "haystack", &id])).failed_with(1);
}
