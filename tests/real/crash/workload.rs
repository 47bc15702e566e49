//! Commands whose every byte is known beforehand, and sessions that run them
//! while daemons come and go.

use super::client::{Stubborn, Told};
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Summary;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Every shell in every mode.
pub const EVERYWHERE: [(&str, SessionMode); 8] = [
    ("bash", SessionMode::Pipe),
    ("zsh", SessionMode::Line),
    ("fish", SessionMode::Pipe),
    ("dash", SessionMode::Line),
    ("bash", SessionMode::Line),
    ("zsh", SessionMode::Pipe),
    ("fish", SessionMode::Line),
    ("dash", SessionMode::Pipe),
];

/// Random numbers that a failing test can repeat.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// A command and what it must give.
#[derive(Clone, Debug)]
pub struct Order {
    pub command: String,
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
    /// Whether some of the output comes after the command's end.
    pub is_late: bool,
}

impl Order {
    fn new(command: String, stdout: String, stderr: String, code: i32) -> Order {
        Order {
            command,
            stdout,
            stderr,
            code,
            is_late: false,
        }
    }

    /// Numbered lines on both streams, with small pauses.
    pub fn lines(shell: &str, count: u64, code: i32) -> Order {
        let command = match shell {
            "fish" => format!(
                "for i in (seq {count}); echo \"out $i\"; echo \"err $i\" >&2; sleep 0.004; end; \
                 sh -c 'exit {code}'"
            ),
            _ => format!(
                "i=0; while [ $i -lt {count} ]; do i=$((i+1)); echo \"out $i\"; \
                 echo \"err $i\" >&2; sleep 0.004; done; sh -c 'exit {code}'"
            ),
        };
        let numbered = |what: &str| numbered(what, count);
        Order::new(command, numbered("out "), numbered("err "), code)
    }

    /// Megabytes on one stream and less on the other.
    pub fn flood(count: u64) -> Order {
        let command = format!("seq 1 {count}; seq 1 {} >&2", count / 10);
        Order::new(command, numbered("", count), numbered("", count / 10), 0)
    }

    pub fn quick() -> Order {
        Order::new("true".to_owned(), String::new(), String::new(), 0)
    }

    /// Ends the shell itself.
    pub fn exit(code: i32) -> Order {
        let command = format!("echo leaving; exit {code}");
        Order::new(command, "leaving\n".to_owned(), String::new(), code)
    }

    /// Leaves something behind that writes later.
    pub fn late() -> Order {
        let command = "sh -c 'sleep 0.1; echo late; echo late >&2' & echo now".to_owned();
        Order {
            is_late: true,
            ..Order::new(command, "now\nlate\n".to_owned(), "late\n".to_owned(), 0)
        }
    }

    /// Any of these.
    pub fn any(shell: &str, dice: &mut Dice) -> Order {
        match dice.roll(12) {
            0..=2 => Order::lines(shell, 1 + dice.roll(40), 7),
            3 => Order::flood(100_000 + dice.roll(300_000)),
            4 => Order::exit(3),
            5 => Order::late(),
            _ => Order::quick(),
        }
    }
}

/// Lines that begin alike and end with their number.
pub fn numbered(what: &str, count: u64) -> String {
    let mut text = String::new();
    for number in 1..=count {
        writeln!(text, "{what}{number}").unwrap();
    }
    text
}

/// A session, everything that ran in it, and where each command leaves a mark
/// when it runs.
pub struct Worker {
    pub client: Stubborn,
    pub session: String,
    shell: &'static str,
    marks: PathBuf,
    done: Vec<(String, Order, u32)>,
}

impl Worker {
    pub async fn new(
        client: &Stubborn,
        shell: &'static str,
        mode: SessionMode,
        home: &Path,
    ) -> Worker {
        let session = client.create(shell, mode, home).await;
        Worker {
            client: client.clone(),
            marks: home.join(format!("marks-{session}")),
            session,
            shell,
            done: Vec::new(),
        }
    }

    /// Runs one order to its end and looks at its answer.
    pub async fn work(&mut self, order: Order) {
        let key = format!("{}-{}", self.session, self.done.len());
        let command = format!("echo {key} >> {}; {}", self.marks.display(), order.command);
        let result = self.client.run(&self.session, &command, &key).await;
        self.check_answer(&key, &order, &result);
        self.done.push((key, order, result.shell_id));
    }

    /// Runs random orders until `enough` says so.
    pub async fn work_until(&mut self, dice: &mut Dice, enough: impl Fn() -> bool) {
        while !enough() {
            self.work(Order::any(self.shell, dice)).await;
        }
    }

    fn check_answer(&self, key: &str, order: &Order, result: &Summary) {
        let what = format!("{} {key}: {}", self.shell, order.command);
        assert_eq!(result.code, Some(order.code), "{what}: {result:.300?}");
        if order.stdout.len() < 100_000 && !order.is_late {
            assert_eq!(result.stdout, order.stdout, "{what}");
            assert_eq!(result.stderr, order.stderr, "{what}");
        }
    }

    /// Every byte is in the history once and in order, every code is right, and
    /// every command ran once.
    pub async fn check(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while let Err(wrong) = self.compare().await {
            assert!(Instant::now() < deadline, "{} {wrong}", self.shell);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let marks = std::fs::read_to_string(&self.marks).unwrap_or_default();
        let expected: Vec<&str> = self.done.iter().map(|(key, ..)| key.as_str()).collect();
        let marks: Vec<&str> = marks.lines().collect();
        assert_eq!(marks, expected, "each command ran once, in order");
    }

    pub fn orders(&self) -> usize {
        self.done.len()
    }

    async fn compare(&self) -> Result<(), String> {
        let told = self.client.told(&self.session).await;
        for (key, order, shell_id) in &self.done {
            let found = told.get(shell_id).cloned().unwrap_or_default();
            let Told {
                pids,
                exits,
                stdout,
                stderr,
                dropped_bytes,
            } = found;
            let what = format!("{key} ({shell_id}): {}", order.command);
            if exits != [Some(order.code)] || pids.len() != 1 || dropped_bytes != 0 {
                return Err(format!("{what}: {pids:?} {exits:?} {dropped_bytes}"));
            }
            same(&what, &stdout, &order.stdout)?;
            same(&what, &stderr, &order.stderr)?;
        }
        Ok(())
    }
}

/// Compares output that may be long, and shows where it differs.
pub fn same(what: &str, found: &[u8], expected: &str) -> Result<(), String> {
    let expected = expected.as_bytes();
    if found == expected {
        return Ok(());
    }
    let at = found.iter().zip(expected).take_while(|(a, b)| a == b);
    let at = at.count();
    let shown = |bytes: &[u8]| {
        let end = bytes.len().min(at + 40);
        String::from_utf8_lossy(&bytes[at.saturating_sub(20).min(end)..end]).into_owned()
    };
    Err(format!(
        "{what}: {} bytes and not {}; from {at} on {:?} and not {:?}",
        found.len(),
        expected.len(),
        shown(found),
        shown(expected)
    ))
}
