//! What the processes of a tree do, as far as the kernel says: their command
//! lines, and what the one in front waits for.
//!
//! Everything may vanish between two looks, so absence is an answer.

mod multiplexer;
mod peer;

pub use multiplexer::Source;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::process::ProcessRef;
use crate::procfs;
use crate::tree::descendants;

/// Characters of a command line that are kept.
const COMMAND_CHARS_MAX: usize = 256;

/// How many processes that wait for another are followed.
const DEPTH_MAX: usize = 32;

/// Descriptors of a process that are looked at.
const DESCRIPTORS_MAX: usize = 64;

/// A process and its command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its number.
    pub pid: i32,
    /// Its words, separated by blanks.
    pub command: String,
    /// Who started it.
    pub source: Source,
}

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Somebody at the terminal.
    Terminal,
    /// The processor: it computes, or would like to.
    Cpu,
    /// The disk.
    Disk,
    /// The network.
    Network,
    /// A child of its own, which does not say more.
    Child,
}

/// The living processes below `root`, with their command lines; also those that
/// it shows of a terminal multiplexer whose server is elsewhere.
pub fn running(root: &ProcessRef) -> Vec<Running> {
    let mut living = descendants(root);
    living.retain(|process| !process.dead);
    let living = multiplexer::with_servers(living).into_iter();
    let with_command = living.filter_map(|(process, source)| {
        // Whole words, so that a secret among them is known as one.
        let command = procfs::command_line(process.pid, COMMAND_CHARS_MAX);
        let command = command.filter(|command| !command.is_empty())?;
        Some(Running {
            pid: process.pid,
            command,
            source,
        })
    });
    with_command.collect()
}

/// What the process group in front waits for; none where the kernel does not
/// say, or it merely sleeps.
pub fn waits(group: i32) -> Option<Wait> {
    let mut pid = group;
    let mut waits_for_child = false;
    for _ in 0..DEPTH_MAX {
        let found = wait_of(pid);
        if found != Some(Wait::Child) {
            return found.or(waits_for_child.then_some(Wait::Child));
        }
        waits_for_child = true;
        // The newest is what it began last.
        match procfs::children(pid).into_iter().max() {
            Some(child) => pid = child,
            None => break,
        }
    }
    Some(Wait::Child)
}

/// What a shell that runs one command waits for: where it sleeps, whatever it
/// started last, else itself.
pub fn shell_waits(shell: i32) -> Option<Wait> {
    let sleeps = procfs::stat(shell)?.state == b'S';
    let newest = procfs::children(shell).into_iter().max();
    match newest.filter(|_| sleeps) {
        Some(child) => waits(child),
        None => waits(shell),
    }
}

/// Whether a process still executes this program, and has not become another.
/// Behind walls the same file may look like another one, and is known by its name.
pub fn executes(pid: i32, program: &Path) -> bool {
    let id = procfs::file_id(program);
    if id.is_some() && procfs::exe_id(pid) == id {
        return true;
    }
    let file = fs::canonicalize(program).ok();
    let name = file.as_deref().and_then(Path::file_name);
    name.is_some() && procfs::exe_name(pid).as_deref().map(OsStr::new) == name
}

fn wait_of(pid: i32) -> Option<Wait> {
    let state = procfs::stat(pid)?.state;
    let place = fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
    reason(state, &place, || held(pid, &place))
}

/// What a state and the kernel's function mean; `object` is what it waits on.
fn reason(state: u8, place: &str, object: impl FnOnce() -> Option<Object>) -> Option<Wait> {
    match state {
        b'R' => return Some(Wait::Cpu),
        b'D' => return Some(Wait::Disk),
        b'S' => {}
        _ => return None,
    }
    if place == "do_wait" {
        return Some(Wait::Child);
    }
    if place.contains("nanosleep") {
        return None;
    }
    match object()? {
        Object::Terminal => Some(Wait::Terminal),
        Object::Socket => Some(Wait::Network),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Object {
    Terminal,
    Socket,
}

/// What the system call that a process is in has to do with.
fn held(pid: i32, place: &str) -> Option<Object> {
    let polls = ["poll", "select", "ep_"]
        .iter()
        .any(|word| place.contains(word));
    if polls {
        // Which it polls is in its own memory: a terminal as its input is what a
        // person would have to type at, else any connection.
        let input = object(pid, "0").filter(|object| *object == Object::Terminal);
        return input.or_else(|| any_socket(pid));
    }
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?;
    let first = call.split_ascii_whitespace().nth(1)?;
    let descriptor = u32::from_str_radix(first.strip_prefix("0x")?, 16).ok()?;
    object(pid, &descriptor.to_string())
}

fn object(pid: i32, descriptor: &str) -> Option<Object> {
    let target = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?;
    let target = target.to_str()?;
    let is_terminal = target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
    match target {
        _ if is_terminal => Some(Object::Terminal),
        _ if target.starts_with("socket:") => Some(Object::Socket),
        _ => None,
    }
}

fn any_socket(pid: i32) -> Option<Object> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let names = open.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut objects = names
        .take(DESCRIPTORS_MAX)
        .filter_map(|name| object(pid, &name));
    objects.find(|object| *object == Object::Socket)
}

#[cfg(test)]
mod tests {
    use super::{Object, Wait, reason, running, waits};
    use crate::process::ProcessRef;

    #[test]
    fn states_have_their_reasons() {
        let none = || None;
        assert_eq!(reason(b'R', "0", none), Some(Wait::Cpu));
        assert_eq!(reason(b'D', "folio_wait_bit", none), Some(Wait::Disk));
        assert_eq!(reason(b'S', "do_wait", none), Some(Wait::Child));
        assert_eq!(
            reason(b'S', "hrtimer_nanosleep", || Some(Object::Socket)),
            None
        );
        let terminal = || Some(Object::Terminal);
        assert_eq!(reason(b'S', "wait_woken", terminal), Some(Wait::Terminal));
        assert_eq!(
            reason(b'S', "wait_woken", || Some(Object::Socket)),
            Some(Wait::Network)
        );
        assert_eq!(reason(b'S', "pipe_read", none), None);
        assert_eq!(reason(b'Z', "0", terminal), None);
    }

    #[test]
    fn who_is_gone_waits_for_nothing() {
        assert_eq!(waits(i32::MAX), None);
        let gone = ProcessRef {
            pid: i32::MAX,
            start_ticks: 1,
        };
        assert_eq!(running(&gone), []);
    }
}
