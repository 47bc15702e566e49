//! What stands around the daemon: agents' clients, other machines, a browser.

use super::check::{Check, Verdict};
use super::patient::{Patient, apart};
use crate::commands::serve::USUAL_ADDRESS;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time for the MCP server to answer all that it is asked.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Lines that it may say meanwhile.
const LINES_MAX: usize = 64;

/// Programs that open an address in a browser.
const OPENERS: [&str; 4] = ["xdg-open", "open", "sensible-browser", "wslview"];

/// Speaks to `shellglass mcp` as an agent's client does.
pub(super) async fn mcp(patient: &Patient, checks: &mut Vec<Check>) {
    let home = patient.home.clone();
    let asked = tokio::task::spawn_blocking(move || tools(&home)).await;
    let fix = "`shellglass mcp` in a terminal says on standard error what is wrong";
    checks.push(match asked {
        Ok(Ok(count)) => Check::good("agents", "mcp", format!("offers {count} tools")),
        Ok(Err(why)) => Check::broken("agents", "mcp", why, fix),
        Err(error) => Check::broken("agents", "mcp", error.to_string(), fix),
    });
}

/// How many tools the server of a home offers.
fn tools(home: &Path) -> Result<usize, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    apart(&mut command, home);
    command.arg("mcp").current_dir(home).stderr(Stdio::null());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let answer = ask(&mut child);
    // Its standard input was closed with the question.
    let until = Instant::now() + ANSWER_WITHIN;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= until {
            drop(child.kill());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let list = answer?;
    let tools = list["result"]["tools"].as_array().map_or(0, Vec::len);
    match tools {
        0 => Err("it offers no tools".to_owned()),
        count => Ok(count),
    }
}

fn ask(child: &mut Child) -> Result<Value, String> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("it has no standard input and output".to_owned());
    };
    let (sender, lines) = mpsc::sync_channel(LINES_MAX);
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let client = json!({"name": "shellglass-doctor", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client,
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let until = Instant::now() + ANSWER_WITHIN;
    for (messages, id) in [(vec![hello], 1), (vec![ready, list], 2)] {
        for message in messages {
            writeln!(input, "{message}").map_err(|error| error.to_string())?;
        }
        let answer = answer_to(id, &lines, until)?;
        if id == 2 {
            return Ok(answer);
        }
    }
    Err("it was not asked".to_owned())
}

fn answer_to(id: u64, lines: &mpsc::Receiver<String>, until: Instant) -> Result<Value, String> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match lines.recv_timeout(left) {
            Ok(line) => match serde_json::from_str::<Value>(&line) {
                Ok(value) if value["id"] == id => return Ok(value),
                Ok(_) => {}
                Err(_) => return Err("it printed what is no message".to_owned()),
            },
            Err(RecvTimeoutError::Timeout) => return Err("it does not answer".to_owned()),
            Err(RecvTimeoutError::Disconnected) => return Err("it ended".to_owned()),
        }
    }
}

/// The programs of this machine that we can make use of.
pub(super) fn programs(checks: &mut Vec<Check>) {
    let fix = "install an OpenSSH client, if you want to reach other machines";
    checks.push(match version("ssh", "-V") {
        Some(version) => Check::good("other machines", "ssh", version),
        None => Check::bad("other machines", "ssh", Verdict::Missing, "not found", fix),
    });
    checks.push(browser(OPENERS.into_iter().find(|name| find(name))));
}

fn browser(opener: Option<&str>) -> Check {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set);
    let port = USUAL_ADDRESS.port();
    let fix = format!(
        "none is needed: `ssh -L {port}:{USUAL_ADDRESS} THIS-MACHINE` brings the page to another \
         machine, and `shellglass attach` shows sessions in a terminal"
    );
    let missing = |detail| Check::bad("page", "browser", Verdict::Missing, detail, &fix);
    match opener {
        Some(name) if has_screen || name == "open" || name == "wslview" => {
            Check::good("page", "browser", format!("`{name}` opens one"))
        }
        Some(_) => missing("there is no screen here"),
        None => missing("nothing here opens one"),
    }
}

fn find(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(name).is_file())
}

/// What a program says of its version, in one line.
fn version(name: &str, flag: &str) -> Option<String> {
    let output = Command::new(name)
        .arg(flag)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next()?.trim();
    Some(line.chars().take(80).collect())
}
