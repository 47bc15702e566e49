//! `filter redact`: secrets leave the stream, everything else stays as it was.

use crate::client::Context;
use crate::config::RedactionSettings;
use crate::error::{Failure, Kind};
use crate::stdout::{self, Reader};
use clap::Args;
use glass_redact::{Detector, Known, Redactor, RuleTexts};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Values of variables whose names look secret are replaced wherever they
/// stand, also encoded; so is what has the shape of a well-known secret.
#[derive(Debug, Args)]
pub(crate) struct Redact {
    /// Also use the rules of this file.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Do not use this rule.
    #[arg(long, value_name = "RULE")]
    pub off: Vec<String>,
    /// The value of this variable is secret too. A `*` stands for any characters.
    #[arg(long = "secret-env", value_name = "NAME")]
    pub variables: Vec<String>,
}

/// Bytes read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Time without input after which somebody may be waiting for what is held.
const PAUSE_MS: i64 = 50;

/// Filters until the input ends.
pub(super) fn filter(arguments: &Redact) -> Result<ExitCode, Failure> {
    let mut redactor = Redactor::new(Arc::new(detector(arguments)?));
    let mut input = io::stdin().lock();
    let mut piece = vec![0; PIECE_BYTES];
    let mut out = Vec::with_capacity(PIECE_BYTES);
    loop {
        if redactor.held_bytes() > 0 && !comes_soon(&input)? {
            redactor.pause(&mut out);
            if send(&mut out)? == Reader::Gone {
                return Ok(ExitCode::SUCCESS);
            }
        }
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => redactor.push(&piece[..bytes], &mut out),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(&error)),
        }
        if send(&mut out)? == Reader::Gone {
            return Ok(ExitCode::SUCCESS);
        }
    }
    redactor.finish(&mut out);
    send(&mut out)?;
    Ok(ExitCode::SUCCESS)
}

fn detector(arguments: &Redact) -> Result<Detector, Failure> {
    let mut settings: RedactionSettings = Context::load()?.loaded.settings.redaction;
    settings.off.extend(arguments.off.iter().cloned());
    settings
        .variables
        .extend(arguments.variables.iter().cloned());
    let mut more = Vec::new();
    if let Some(path) = &arguments.rules {
        let failed = |error: String| {
            let message = format!("{}: {error}", path.display());
            Failure::new(Kind::Usage, message)
        };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let texts = RuleTexts::parse(&text).map_err(|error| failed(error.to_string()))?;
        more = texts.rule;
    }
    let rules = settings
        .rules(more)
        .map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
    let variables: Vec<(Vec<u8>, Vec<u8>)> = std::env::vars_os()
        .map(|(name, value)| (name.into_vec(), value.into_vec()))
        .collect();
    let mut known = Known::new();
    settings.add_known(&variables, &mut known);
    Ok(Detector::new(rules, &known))
}

fn send(out: &mut Vec<u8>) -> Result<Reader, Failure> {
    let reader = match out.is_empty() {
        true => Reader::There,
        false => stdout::write(out)?,
    };
    out.clear();
    Ok(reader)
}

/// Whether there is input, or its end, before the pause is over.
fn comes_soon(input: &io::StdinLock<'_>) -> Result<bool, Failure> {
    let pause = Timespec {
        tv_sec: 0,
        tv_nsec: PAUSE_MS * 1_000_000,
    };
    let mut fds = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
    match poll(&mut fds, Some(&pause)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(unreadable(&error.into())),
    }
}

fn unreadable(error: &io::Error) -> Failure {
    let message = format!("standard input cannot be read: {error}");
    Failure::new(Kind::Broken, message)
}
