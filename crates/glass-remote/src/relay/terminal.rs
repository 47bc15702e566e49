//! A command that has a terminal on the other host: `ssh` with our own terminal, which
//! tells the other side how large it is and makes every key the command's.
//!
//! What to do is carried there first, over a connection of its own: on a command line
//! everybody could read it. So it is known whether the command was begun, and where
//! `ssh` ends with 255, which may be its own word or the command's, the other side is
//! asked.

use super::{ANSWER_MS_MAX, RelayError, RelayOrder, last_words, secret};
use crate::end::End;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where the command has its own directory on the other host.
const DIRECTORY: &str = "/tmp/.shellglass-";

/// What `ssh` ends with where it could not do what it was told.
const SSH_FAILED: i32 = 255;

/// Longest answer of the other side, in bytes.
const ANSWER_BYTES_MAX: u64 = 16 * 1024;

/// Between two looks at an `ssh` that has a time to end in.
const LOOK: Duration = Duration::from_millis(10);

/// Carries a command whose terminal is ours. The first words of the order's `ssh` are
/// for what is carried, the others for the terminal.
pub(super) fn carry(order: &RelayOrder, script: &[u8], carrying: usize) -> Result<End, RelayError> {
    let Some((way, terminal)) = order.ssh.split_at_checked(carrying) else {
        return Err(RelayError::NoProgram);
    };
    let (program, arguments) = terminal.split_first().ok_or(RelayError::NoProgram)?;
    let secret = secret()?;
    let directory = format!("{DIRECTORY}{secret}");
    if call(way, &delivery(&directory, &secret, script))?.is_none() {
        let words = last_words(&order.log);
        let why = words.unwrap_or_else(|| "the command could not be written to /tmp".to_owned());
        return Ok(End::NotBegun(why));
    }
    let started = Command::new(program)
        // It would tell people that it leaves, as the command's last word.
        .args(["-o", "LogLevel=ERROR", "-E"])
        .arg(&order.log)
        .args(arguments)
        .arg(format!("exec sh {directory}/run"))
        .status();
    let status = match started {
        Ok(status) => status.code(),
        Err(error) => return Ok(End::NotBegun(format!("ssh does not start: {error}"))),
    };
    Ok(match status {
        Some(SSH_FAILED) => {
            // The words of this connection, before another one has some.
            let words = last_words(&order.log);
            match call(way, question(&directory).as_bytes())?.as_deref() {
                Some("255") => End::Exited(SSH_FAILED),
                _ => End::Lost(words.unwrap_or_else(|| "ssh did not say why".to_owned())),
            }
        }
        Some(code) => End::Exited(code),
        None => End::Lost("ssh was ended".to_owned()),
    })
}

/// What writes the script to a directory that only its user can read.
fn delivery(directory: &str, secret: &str, script: &[u8]) -> Vec<u8> {
    let head = format!(
        "umask 077 && mkdir {directory} && cat >{directory}/run <<'{secret}'\n\
         sg_dir={directory}\n"
    );
    [head.as_bytes(), script, format!("\n{secret}\n").as_bytes()].concat()
}

/// What asks whether the command ended with 255, and leaves nothing.
fn question(directory: &str) -> String {
    // On a line of its own, whatever start files have printed.
    format!("echo && cat {directory}/code && rm -rf {directory}\n")
}

/// Has a shell on the other host read this; gives what it said, where it succeeded.
fn call(way: &[OsString], script: &[u8]) -> Result<Option<String>, RelayError> {
    let (program, arguments) = way.split_first().ok_or(RelayError::NoProgram)?;
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut ssh) = started else {
        return Ok(None);
    };
    if let Some(mut stdin) = ssh.stdin.take() {
        // An error here is heard of again: it fails.
        drop(stdin.write_all(script));
    }
    let is_done = ended_within(&mut ssh, Duration::from_millis(ANSWER_MS_MAX))?;
    let mut answer = String::new();
    if let Some(stdout) = ssh.stdout.take().filter(|_| is_done) {
        drop(stdout.take(ANSWER_BYTES_MAX).read_to_string(&mut answer));
    }
    // Start files may have printed something before.
    let last = answer.lines().last().unwrap_or_default().trim();
    Ok(is_done.then(|| last.to_owned()))
}

/// Waits for an `ssh`, though not for ever; whether it succeeded.
fn ended_within(ssh: &mut Child, most: Duration) -> io::Result<bool> {
    let until = Instant::now() + most;
    loop {
        if let Some(status) = ssh.try_wait()? {
            return Ok(status.success());
        }
        if Instant::now() >= until {
            drop(ssh.kill());
            ssh.wait()?;
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
}
