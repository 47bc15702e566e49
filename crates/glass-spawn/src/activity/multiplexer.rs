//! Terminals inside a terminal: what runs behind a tmux or a Zellij client runs
//! below a server, which may have been started anywhere.
//!
//! A client is believed to show what a server holds only where the kernel says
//! that the two are connected.

use super::peer::Diagnostics;
use crate::process::ProcessRef;
use crate::procfs;
use crate::tree::{Process, descendants};
use std::collections::{HashMap, HashSet};
use std::fs;

/// Clients of one session whose servers are looked for.
const CLIENTS_MAX: usize = 8;

/// Descriptors of a client or a server that are looked at.
const DESCRIPTORS_MAX: usize = 1024;

/// Who started a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Something of the session itself.
    #[default]
    Direct,
    /// A tmux server.
    Tmux,
    /// A Zellij server.
    Zellij,
}

impl Source {
    /// Its word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Direct => "direct",
            Source::Tmux => "tmux",
            Source::Zellij => "zellij",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Client,
    Server(Source),
}

/// The processes with who started them, and those below the servers elsewhere
/// that these are clients of.
pub(super) fn with_servers(own: Vec<Process>) -> Vec<(Process, Source)> {
    let parts: HashMap<i32, Part> = own
        .iter()
        .filter_map(|process| Some((process.pid, part(process.pid)?)))
        .collect();
    let inside: HashSet<i32> = own.iter().map(|process| process.pid).collect();
    let mut all = sourced(own, &parts);
    let clients = parts.iter().filter(|(_, part)| **part == Part::Client);
    let clients: Vec<i32> = clients.map(|(pid, _)| *pid).take(CLIENTS_MAX).collect();
    for (server, source) in servers_of(&clients, &inside) {
        let below = descendants(&server).into_iter();
        all.extend(
            below
                .filter(|process| !inside.contains(&process.pid))
                .map(|process| (process, source)),
        );
    }
    all
}

/// Parents come before their children, so each finds what its parent was.
fn sourced(own: Vec<Process>, parts: &HashMap<i32, Part>) -> Vec<(Process, Source)> {
    let mut sources: HashMap<i32, Source> = HashMap::new();
    let each = own.into_iter().map(|process| {
        let source = match parts.get(&process.ppid) {
            Some(Part::Server(source)) => *source,
            _ => sources.get(&process.ppid).copied().unwrap_or_default(),
        };
        sources.insert(process.pid, source);
        (process, source)
    });
    each.collect()
}

/// What a process is to a multiplexer.
fn part(pid: i32) -> Option<Part> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    match name.trim_end() {
        "tmux: client" => Some(Part::Client),
        "tmux: server" => Some(Part::Server(Source::Tmux)),
        // Both call themselves the same; the server is told where to listen.
        "zellij" => {
            let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let mut words = line.split(|byte| *byte == 0);
            match words.any(|word| word == b"--server") {
                true => Some(Part::Server(Source::Zellij)),
                false => Some(Part::Client),
            }
        }
        _ => None,
    }
}

/// The servers outside that these clients are connected to.
fn servers_of(clients: &[i32], inside: &HashSet<i32>) -> Vec<(ProcessRef, Source)> {
    if clients.is_empty() {
        return Vec::new();
    }
    let Some(diagnostics) = Diagnostics::open() else {
        return Vec::new();
    };
    let ours = clients.iter().flat_map(|client| sockets(*client));
    let theirs: HashSet<u32> = ours.filter_map(|socket| diagnostics.peer(socket)).collect();
    if theirs.is_empty() {
        return Vec::new();
    }
    let others = procfs::all().into_iter();
    let servers = others.filter(|(pid, _)| !inside.contains(pid));
    let servers = servers.filter_map(|(pid, stat)| match part(pid)? {
        Part::Server(source) => {
            let is_theirs = sockets(pid).iter().any(|socket| theirs.contains(socket));
            let server = ProcessRef {
                pid,
                start_ticks: stat.start_ticks,
            };
            is_theirs.then_some((server, source))
        }
        Part::Client => None,
    });
    servers.collect()
}

/// The sockets that a process has open.
fn sockets(pid: i32) -> Vec<u32> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let open = open.into_iter().flatten().take(DESCRIPTORS_MAX);
    let targets = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let inodes = targets.filter_map(|target| {
        let number = target.to_str()?.strip_prefix("socket:[")?;
        number.strip_suffix(']')?.parse().ok()
    });
    inodes.collect()
}

#[cfg(test)]
mod tests {
    use super::{Part, Source, sourced};
    use crate::tree::Process;
    use std::collections::HashMap;

    #[test]
    fn what_is_below_a_server_is_of_that_server() {
        let process = |pid, ppid| Process {
            pid,
            start_ticks: 1,
            ppid,
            state: b'S',
            dead: false,
        };
        let own = vec![
            process(2, 1),
            process(3, 2),
            process(4, 1),
            process(5, 4),
            process(6, 5),
        ];
        let parts = HashMap::from([(3, Part::Client), (4, Part::Server(Source::Tmux))]);
        let sources = sourced(own, &parts).into_iter();
        let sources: Vec<_> = sources
            .map(|(process, source)| (process.pid, source))
            .collect();
        let expected = [
            (2, Source::Direct),
            (3, Source::Direct),
            (4, Source::Direct),
            (5, Source::Tmux),
            (6, Source::Tmux),
        ];
        assert_eq!(sources, expected);
    }
}
