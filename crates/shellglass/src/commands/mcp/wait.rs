//! `wait`: one call that returns at the first of several conditions. It polls
//! the stored output; nothing in the command knows of it.

use super::answer::{Answer, Went};
use super::arguments::{self, Wait};
use super::execute::YIELD_MS_MAX;
use super::listening::is_listening;
use super::output::PIECE_BYTES_MAX;
use super::pages::Look;
use super::progress;
use super::results::Waited;
use super::state::{Known, State};
use super::words;
use crate::error::Failure;
use regex::Regex;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a call waits, unless asked otherwise, in milliseconds.
const TIMEOUT_MS_DEFAULT: u32 = 30_000;

/// How often a port or a file is looked at, in milliseconds.
const LOOK_EVERY_MS: u64 = 50;

/// Bytes of an unfinished line that a pattern sees.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Characters of a line that is given back.
const MATCHED_CHARS_MAX: usize = 500;

/// What came first.
struct Event {
    reason: &'static str,
    matched: Option<String>,
}

impl Event {
    fn new(reason: &'static str) -> Event {
        Event {
            reason,
            matched: None,
        }
    }
}

/// What is waited for.
struct Conditions {
    pattern: Option<Regex>,
    port: Option<u16>,
    file: Option<PathBuf>,
    quiet: Option<Duration>,
    deadline: Instant,
    pid: u32,
    /// Whether the end of a command that left jobs behind is awaited, too.
    exit: bool,
}

impl Conditions {
    fn new(arguments: &Wait, known: &Known) -> Result<Conditions, Failure> {
        let timeout = arguments
            .timeout_ms
            .unwrap_or(TIMEOUT_MS_DEFAULT)
            .min(YIELD_MS_MAX);
        let pattern = arguments.pattern.as_deref();
        Ok(Conditions {
            pattern: pattern
                .map(|text| arguments::regex("pattern", text))
                .transpose()?,
            port: arguments.port,
            // A relative path is one below the directory that the command began in.
            file: arguments
                .file
                .as_ref()
                .map(|file| Path::new(&known.cwd).join(file)),
            quiet: arguments
                .quiet_ms
                .map(|ms| Duration::from_millis(ms.into())),
            deadline: Instant::now() + Duration::from_millis(timeout.into()),
            pid: known.pid,
            exit: arguments.exit == Some(true),
        })
    }

    /// What holds now, apart from the output.
    fn outside(&self) -> Option<Event> {
        if let Some(port) = self.port.filter(|port| is_listening(self.pid, *port)) {
            return Some(Event {
                matched: Some(port.to_string()),
                ..Event::new("port")
            });
        }
        let file = self.file.as_ref().filter(|file| exists(self.pid, file))?;
        Some(Event {
            matched: Some(file.to_string_lossy().into_owned()),
            ..Event::new("file")
        })
    }

    /// Whether a command that has ended has nothing more to wait for. Its jobs
    /// (`server &`) may go on and write, listen and make files.
    fn is_over(&self) -> bool {
        let is_exit_alone = self.pattern.is_none()
            && self.port.is_none()
            && self.file.is_none()
            && self.quiet.is_none();
        self.exit || is_exit_alone || !has_jobs(self.pid)
    }

    /// How long one look at the output may take, in milliseconds.
    fn look_ms(&self, last_output: Instant) -> u32 {
        let now = Instant::now();
        let mut until = self.deadline;
        if let Some(quiet) = self.quiet {
            until = until.min(last_output + quiet);
        }
        let mut left = until.saturating_duration_since(now);
        if self.port.is_some() || self.file.is_some() {
            left = left.min(Duration::from_millis(LOOK_EVERY_MS));
        }
        u32::try_from(left.as_millis()).unwrap_or(u32::MAX)
    }
}

/// Whether a path exists where the command runs: behind walls, `/tmp` is its own.
fn exists(pid: u32, path: &Path) -> bool {
    let root: PathBuf = ["/proc", &pid.to_string(), "root"].iter().collect();
    if pid != 0 && std::fs::metadata(&root).is_ok() {
        let inside = path.strip_prefix("/").unwrap_or(path);
        return std::fs::symlink_metadata(root.join(inside)).is_ok();
    }
    std::fs::symlink_metadata(path).is_ok()
}

/// Whether a shell has children.
fn has_jobs(pid: u32) -> bool {
    let pid = pid.to_string();
    let children: PathBuf = ["/proc", &pid, "task", &pid, "children"].iter().collect();
    std::fs::read_to_string(children).is_ok_and(|children| !children.trim().is_empty())
}

/// Looks for a pattern in output as it comes.
#[derive(Default)]
struct Lines {
    unfinished: Vec<u8>,
}

impl Lines {
    /// The line that matches first. An unfinished one counts: a prompt has no
    /// newline.
    fn find(&mut self, bytes: &[u8], pattern: &Regex) -> Option<String> {
        self.unfinished.extend_from_slice(bytes);
        let text = glass_vt::text::clean(&self.unfinished);
        let found = text.lines().find(|line| pattern.is_match(line));
        let found = found.map(|line| line.chars().take(MATCHED_CHARS_MAX).collect());
        let newline = self.unfinished.iter().rposition(|byte| *byte == b'\n');
        self.unfinished.drain(..newline.map_or(0, |at| at + 1));
        let excess = self.unfinished.len().saturating_sub(LINE_BYTES_MAX);
        self.unfinished.drain(..excess);
        found
    }
}

/// Waits.
pub(super) async fn wait(
    state: &State,
    arguments: Wait,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Failure> {
    let id = arguments.shell_id;
    let known = state.known(id);
    let conditions = Conditions::new(&arguments, &known)?;
    let _turn = state.turn(context).await?;
    let began = Instant::now();
    let reports = async {
        loop {
            tokio::time::sleep(progress::EVERY).await;
            let elapsed = began.elapsed();
            let message = format!("waiting for {}", words::duration(elapsed));
            progress::report(context, elapsed, message).await;
        }
    };
    let event = tokio::select! {
        biased;
        // The client does not listen any more; the command is not the wait's.
        () = context.ct.cancelled() => Event::new("timeout"),
        event = first(state, id, known.shown, &conditions) => event?,
        () = reports => Event::new("timeout"),
    };
    let shown = state.page(id, known.shown, &Look::new(None)).await?;
    state.note(id, |known| known.shown = shown.next_offset);
    let now = state.piece(id, shown.next_offset, 1, 0).await?;
    let waited = Waited {
        shell_id: id,
        reason: event.reason,
        matched: event.matched,
        running: now.running,
        exit_code: now.exit_code,
        shown,
    };
    let text = words::with_status(&waited.shown, &status(&waited));
    Ok(Answer::new(text, &waited, Went::Well))
}

fn status(waited: &Waited) -> String {
    let matched = waited.matched.as_deref().unwrap_or_default();
    let what = match waited.reason {
        "exit" => match waited.exit_code {
            Some(code) => format!("it ended with exit code {code}"),
            None => "it ended, and its exit code is not known".to_owned(),
        },
        "pattern" => format!("the pattern matched: {matched}"),
        "port" => format!("something listens on port {matched}"),
        "file" => format!("{matched} exists"),
        "quiet" => "it has been quiet as long as asked".to_owned(),
        _ => "none of it yet; call wait again to go on".to_owned(),
    };
    let state = match (waited.reason, waited.running) {
        ("exit", _) => "",
        (_, true) => " · still running",
        (_, false) => " · the command itself has ended",
    };
    format!("{what}{state} · shell_id {}", waited.shell_id)
}

/// The first condition that holds.
async fn first(
    state: &State,
    id: u32,
    from: u64,
    conditions: &Conditions,
) -> Result<Event, Failure> {
    let mut lines = Lines::default();
    let mut last_output = Instant::now();
    let mut at = from;
    loop {
        if let Some(event) = conditions.outside() {
            return Ok(event);
        }
        let wait_ms = conditions.look_ms(last_output);
        let piece = state.piece(id, at, PIECE_BYTES_MAX, wait_ms).await?;
        if piece.next > at {
            at = piece.next;
            last_output = Instant::now();
            let pattern = conditions.pattern.as_ref();
            let found = pattern.and_then(|pattern| lines.find(&piece.bytes, pattern));
            if found.is_some() {
                return Ok(Event {
                    matched: found,
                    ..Event::new("pattern")
                });
            }
            if Instant::now() < conditions.deadline {
                continue;
            }
        }
        if !piece.running {
            // Everything was read, so nothing of it can match any more.
            if conditions.is_over() {
                return Ok(Event::new("exit"));
            }
            // No long poll waits for what jobs write.
            tokio::time::sleep(Duration::from_millis(LOOK_EVERY_MS)).await;
        }
        let quiet = conditions.quiet;
        if quiet.is_some_and(|quiet| last_output.elapsed() >= quiet) {
            return Ok(Event::new("quiet"));
        }
        if Instant::now() >= conditions.deadline {
            return Ok(Event::new("timeout"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES_MAX, Lines, exists};
    use regex::Regex;
    use std::path::Path;

    #[test]
    fn a_pattern_is_found_however_output_is_cut() {
        let pattern = Regex::new("^ready$").expect("a pattern");
        let text = b"not ready\n\x1b[1mready\x1b[0m\n";
        for at in 0..text.len() {
            let mut lines = Lines::default();
            let found = lines.find(&text[..at], &pattern);
            let found = found.or_else(|| lines.find(&text[at..], &pattern));
            assert_eq!(found.as_deref(), Some("ready"), "{at}");
        }
    }

    #[test]
    fn a_prompt_needs_no_newline_and_a_line_is_bounded() {
        let pattern = Regex::new("password: $").expect("a pattern");
        let mut lines = Lines::default();
        assert!(lines.find(&vec![b'x'; 1 << 20], &pattern).is_none());
        assert!(lines.unfinished.len() <= LINE_BYTES_MAX);
        assert!(lines.find(b"\npassword: ", &pattern).is_some());
    }

    #[test]
    fn a_path_is_looked_for_where_the_process_is() {
        let (own, here) = (std::process::id(), Path::new("/proc/self/stat"));
        assert!(exists(0, here) && exists(own, here));
        assert!(!exists(own, Path::new("/no/such/file")));
    }
}
