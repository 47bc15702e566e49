//! A command that has a terminal on the other host: `ssh` with our own terminal, which
//! tells the other side how large it is and makes every key the command's.
//!
//! What to do is carried there first, over a connection of its own: on a command line
//! everybody could read it. Whoever renames it has it: the shell that is to run it, or we,
//! who ask what became of it wherever `ssh` leaves that in doubt (255 may be its own word
//! or the command's). So it is known whether the command was begun, and nothing of it is
//! left there for as long as the host can be reached.

mod call;
#[cfg(test)]
mod tests;
mod words;

use super::{
    ANSWER_MS_MAX, RelayError, RelayOrder, SSH_FAILED, STOP_MS_MAX, last_words, no_shell, secret,
};
use crate::end::End;
use call::{Answer, Reached, call};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::process::{Command, Stdio};
use std::time::Duration;
use words::Words;

/// Where a command has its own directory on the other host; only its user can read what
/// is there.
pub const DIRECTORY: &str = "/tmp/.shellglass-";

/// What the other side says of a command that nobody has taken.
const UNBEGUN: &str = "unbegun";

/// What it says before the number of processes that it could not end.
const GONE: &str = "gone ";

/// Carries a command whose terminal is ours. The first words of the order's `ssh` are
/// for what is carried, the others for the terminal.
pub(super) fn carry(
    order: &RelayOrder,
    script: &[u8],
    carrying: usize,
    words: BorrowedFd<'_>,
) -> Result<End, RelayError> {
    let Some((way, terminal)) = order.ssh.split_at_checked(carrying) else {
        return Err(RelayError::NoProgram);
    };
    let secret = secret()?;
    let mut elsewhere = Elsewhere {
        way,
        order,
        directory: format!("{DIRECTORY}{secret}"),
        secret,
        words: Words::new(words),
    };
    match elsewhere.deliver(script)? {
        Some(end) => Ok(end),
        None => elsewhere.run(terminal),
    }
}

/// The other host, and what a command has there.
struct Elsewhere<'a> {
    way: &'a [OsString],
    order: &'a RelayOrder,
    /// What the directory there is named after, and the command's processes know.
    secret: String,
    directory: String,
    words: Words<'a>,
}

impl Elsewhere<'_> {
    fn call(&mut self, script: &[u8], quiet_ms: u64) -> Result<Answer, RelayError> {
        let quiet = Duration::from_millis(quiet_ms);
        call(self.way, &self.secret, script, quiet, &mut self.words)
    }

    /// Writes the script there; says how it ended where that could not be done.
    fn deliver(&mut self, script: &[u8]) -> Result<Option<End>, RelayError> {
        let delivery = delivery(&self.directory, &self.secret, script);
        let why = match self.call(&delivery, ANSWER_MS_MAX)? {
            Answer::Said(_) => return Ok(None),
            Answer::NotStarted(error) => not_started(&error),
            Answer::Cancelled(Reached::Nobody) => return Ok(Some(End::Stopped(Some(0)))),
            Answer::Cancelled(Reached::Shell) => return self.stop().map(Some),
            Answer::Failed(Reached::Nobody) => self.said("the other host does not answer"),
            Answer::NoShell(instead) => self.said(&no_shell(&instead)),
            Answer::Failed(Reached::Shell) => {
                let why = self.said("the command could not be written to /tmp");
                match self.call(question(&self.directory).as_bytes(), ANSWER_MS_MAX)? {
                    Answer::Said(_) => why,
                    _ => self.with_what_is_left(why),
                }
            }
        };
        Ok(Some(End::NotBegun(why)))
    }

    /// Gives our terminal to an `ssh` that runs what was delivered.
    fn run(&mut self, terminal: &[OsString]) -> Result<End, RelayError> {
        let (program, arguments) = terminal.split_first().ok_or(RelayError::NoProgram)?;
        let started = Command::new(program)
            .args(arguments)
            .arg(format!("exec sh {}/run", self.directory))
            // Ours has words for us.
            .stderr(Stdio::from(io::stdout().as_fd().try_clone_to_owned()?))
            .spawn();
        let mut ssh = match started {
            Ok(ssh) => ssh,
            Err(error) => return self.judge(not_started(&error)),
        };
        let Some(status) = self.words.wait_for(&mut ssh)? else {
            return self.stop();
        };
        match status.code() {
            // The words of this connection, before another one has some.
            Some(SSH_FAILED) => self.judge(self.said("ssh did not say why")),
            Some(code) => Ok(End::Exited(code)),
            None => self.judge("ssh was ended".to_owned()),
        }
    }

    /// Asks what became of the command, where `ssh` leaves that in doubt and says this.
    fn judge(&mut self, why: String) -> Result<End, RelayError> {
        let question = question(&self.directory);
        Ok(match self.call(question.as_bytes(), ANSWER_MS_MAX)? {
            Answer::Said(word) if word == UNBEGUN => End::NotBegun(why),
            Answer::Said(word) if word == SSH_FAILED.to_string() => End::Exited(SSH_FAILED),
            Answer::Said(_) => End::Lost(why),
            Answer::Cancelled(_) => return self.stop(),
            Answer::Failed(_) | Answer::NoShell(_) | Answer::NotStarted(_) => {
                End::Lost(self.with_what_is_left(why))
            }
        })
    }

    /// Ends what runs there and was hung up on, and leaves nothing.
    fn stop(&mut self) -> Result<End, RelayError> {
        let stop = stop(&self.directory, &self.secret);
        let left = match self.call(stop.as_bytes(), STOP_MS_MAX)? {
            Answer::Said(word) => word
                .strip_prefix(GONE)
                .and_then(|left| left.parse::<u32>().ok()),
            _ => None,
        };
        Ok(End::Stopped(left))
    }

    /// What `ssh` said last.
    fn said(&self, otherwise: &str) -> String {
        last_words(&self.order.log).unwrap_or_else(|| otherwise.to_owned())
    }

    fn with_what_is_left(&self, why: String) -> String {
        format!("{why}; {} may be left there", self.directory)
    }
}

fn not_started(error: &io::Error) -> String {
    format!("ssh does not start: {error}")
}

/// What writes the script to a directory that only its user can read. A shell that gets
/// half of this does nothing.
fn delivery(directory: &str, secret: &str, script: &[u8]) -> Vec<u8> {
    let head = format!(
        "{{\numask 077 && mkdir {directory} || exit 1\n\
         cat >{directory}/run <<'{secret}' || {{ rm -rf {directory}; exit 1; }}\n\
         sg_dir={directory}\nsg_id={secret}\n"
    );
    let tail = format!("\n{secret}\n}}\n");
    [head.as_bytes(), script, tail.as_bytes()].concat()
}

/// What asks whether the command was begun, or ended with 255, and leaves nothing.
fn question(directory: &str) -> String {
    format!(
        "{{\nif mv {directory}/run {directory}/{UNBEGUN}; then echo {UNBEGUN}\n\
         else cat {directory}/code || echo begun; fi 2>/dev/null\n\
         rm -rf {directory}\n}}\n"
    )
}

/// What ends the command and leaves nothing. It has been hung up on; whatever stays
/// nevertheless is asked, and then ended. One round without a process may be the moment
/// before its first.
fn stop(directory: &str, secret: &str) -> String {
    format!(
        "{{\nmv {directory}/run {directory}/{UNBEGUN} 2>/dev/null\nrm -rf {directory}\n\
         [ -r /proc/self/environ ] || exit 1\n\
         sg_round=0 sg_empty=0\n\
         while [ $sg_round -lt 80 ] && [ $sg_empty -lt 3 ]; do\n\
         sg_left=0 sg_signal=15\n\
         [ $sg_round -lt 5 ] || sg_signal=9\n\
         for sg_one in $(grep -ls SHELLGLASS_REMOTE_ID={secret} /proc/[0-9]*/environ); do\n\
         sg_one=${{sg_one#/proc/}}\n\
         kill -$sg_signal ${{sg_one%/environ}} && sg_left=$((sg_left + 1))\n\
         done 2>/dev/null\n\
         if [ $sg_left -eq 0 ]; then sg_empty=$((sg_empty + 1)); else sg_empty=0; fi\n\
         sg_round=$((sg_round + 1))\n\
         sleep 0.1 || sleep 1\n\
         done\n\
         rm -rf {directory}\n\
         echo {GONE}$sg_left\n}}\n"
    )
}
