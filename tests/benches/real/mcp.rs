//! What MCP adds to a command: the same one over gRPC and over a server's
//! standard input and output, in turn.

use crate::latency::{quantile, run_true};
use crate::table::Table;
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::{Daemon, TestSession};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// Rounds of each measurement; interleaved, so that a noisy moment hits both.
const ROUNDS: usize = 1_000;

/// Rounds before anything counts.
const WARM_UP_ROUNDS: usize = 100;

/// A server and the client's ends of it.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u32,
}

impl Server {
    fn start(daemon: &Daemon) -> Server {
        let mut command = daemon.command();
        command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut server = Server {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            asked: 0,
        };
        server.ask(
            "initialize",
            r#"{"protocolVersion":"2025-06-18","capabilities":{},
                "clientInfo":{"name":"bench","version":"1"}}"#,
        );
        let ready = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        server.input.write_all(ready).unwrap();
        server
    }

    fn ask(&mut self, method: &str, params: &str) -> String {
        self.asked += 1;
        let params = params.replace('\n', " ");
        let id = self.asked;
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
        );
        self.input.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer
    }

    fn run_true(&mut self) -> Duration {
        let call = r#"{"name":"execute_command","arguments":{"command":"true"}}"#;
        let begin = Instant::now();
        let answer = self.ask("tools/call", call);
        let elapsed = begin.elapsed();
        assert!(answer.contains("[exit code 0"), "{answer}");
        elapsed
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// `execute_command("true")` beside `Run("true")`.
pub async fn measure(table: &mut Table) {
    let daemon = Daemon::start("");
    let warm = TestSession::with(&daemon, "bash", SessionMode::Pipe).await;
    let mut server = Server::start(&daemon);
    let [mut ours, mut base] = [const { Vec::new() }; 2];
    for round in 0..WARM_UP_ROUNDS + ROUNDS {
        let times = (server.run_true(), run_true(&warm).await);
        if round >= WARM_UP_ROUNDS {
            ours.push(times.0);
            base.push(times.1);
        }
    }
    table.ratio(
        "execute_command(true) over MCP, p50",
        quantile(&mut ours, 0.5),
        quantile(&mut base, 0.5),
        "Run(true) over gRPC",
        "ms",
        "<= 2x",
    );
}
