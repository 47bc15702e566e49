//! `shellglass mcp`, spoken to in bare lines.

use serde_json::{Value, json};
use shellglass_tests::{Daemon, PATIENCE};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// A connection of a daemon's. It ends when this is dropped.
pub struct Mcp {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last: u64,
}

impl Mcp {
    /// Connects as a client that is in the daemon's home.
    pub fn start(daemon: &Daemon) -> Mcp {
        let mut child = daemon
            .command()
            .arg("mcp")
            .current_dir(daemon.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut mcp = Mcp {
            input: child.stdin.take(),
            child,
            lines,
            last: 0,
        };
        let client = json!({"name": "tests", "version": "1"});
        mcp.ask(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        );
        mcp.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        mcp
    }

    /// Calls a tool; its text and its fields.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{result}")).to_owned();
        (text, result["structuredContent"].clone())
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].take();
            }
        }
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is open until it is dropped");
        writeln!(input, "{message}").unwrap();
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // Whose input ends, ends; nobody waits for one that does not.
        self.input = None;
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
