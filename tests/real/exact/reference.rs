//! What `SHELL -c` gives, found by several threads ahead of time.

use super::commands::Sample;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// References that may be ready before they are asked for, for each thread.
const AHEAD_MAX: usize = 64;

/// Threads that find references.
const THREADS: usize = 2;

/// What a command gives in a shell of its own.
#[derive(Clone, Debug)]
pub struct Reference {
    pub code: u32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// The references of all samples, in their order.
pub struct References {
    sources: Vec<Receiver<Reference>>,
    next: usize,
}

impl References {
    /// Begins to run the samples below `home`, one after the other in each of
    /// the threads.
    pub fn begin(home: &Path, shell: &str, samples: &[Sample]) -> References {
        let mut sources = Vec::new();
        for thread in 0..THREADS {
            let (sender, receiver) = sync_channel(AHEAD_MAX);
            sources.push(receiver);
            let directory = home.join(format!("reference{thread}"));
            std::fs::create_dir(&directory).unwrap();
            let mine = samples.iter().skip(thread).step_by(THREADS);
            let mine: Vec<String> = mine.map(|sample| sample.command.clone()).collect();
            let shell = shell.to_owned();
            std::thread::spawn(move || find(&shell, &directory, &mine, &sender));
        }
        References { sources, next: 0 }
    }
}

impl Iterator for References {
    type Item = Reference;

    fn next(&mut self) -> Option<Reference> {
        let source = &self.sources[self.next % THREADS];
        self.next += 1;
        source.recv().ok()
    }
}

fn find(shell: &str, directory: &Path, commands: &[String], sender: &SyncSender<Reference>) {
    for command in commands {
        let options: &[&str] = if shell == "fish" {
            &["--no-config"]
        } else {
            &[]
        };
        let output = Command::new(shell)
            .args(options)
            .args(["-c", command])
            .current_dir(directory)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let status = output.status;
        let code = status.code().or(status.signal().map(|signal| 128 + signal));
        let reference = Reference {
            code: code.unwrap().cast_unsigned(),
            stdout: output.stdout,
            stderr: output.stderr,
        };
        if sender.send(reference).is_err() {
            // The comparison has failed.
            return;
        }
    }
}

/// Standard error without what a shell says about where a command stood: its
/// own name, the number of the line, and the numbers of processes.
pub fn normal(shell: &str, stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let message = without_place(shell, line);
        if shell == "fish" && is_fish_place(message) {
            continue;
        }
        lines.push(without_numbers_of_processes(message));
    }
    lines.join("\n")
}

fn without_place<'a>(shell: &str, line: &'a str) -> &'a str {
    let mut rest = line;
    if let Some(traced) = line.strip_prefix('+') {
        // A trace counts how deep it is, or says where.
        let traced = traced.trim_start_matches('+');
        rest = match shell {
            "zsh" => traced
                .split_once("> ")
                .map_or(traced, |(_, command)| command),
            _ => traced,
        };
    }
    for name in [shell, "(eval)", "-c", "eval"] {
        if let Some(after) = rest.strip_prefix(name)
            && let Some(after) = after.strip_prefix(':')
        {
            rest = after.trim_start_matches(' ');
            rest = rest.strip_prefix("line ").unwrap_or(rest);
            let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            if let Some(after) = digits.strip_prefix(':') {
                rest = after.trim_start_matches(' ');
            }
        }
    }
    rest
}

/// fish shows the text around an error, and where it was called from.
fn is_fish_place(line: &str) -> bool {
    let called = line.starts_with("in ") || line.starts_with("from ") || line.contains("called on");
    called || line.trim().is_empty() || line.trim_start().starts_with('^')
}

fn without_numbers_of_processes(line: &str) -> String {
    let ended = [
        "Killed",
        "Terminated",
        "Hangup",
        "Aborted",
        "Segmentation",
        "User defined",
    ];
    if !ended.iter().any(|word| line.contains(word)) {
        return line.to_owned();
    }
    line.replace(|c: char| c.is_ascii_digit(), "")
}
