//! Which ports the processes of a tree listen on, in whichever network they
//! have.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;

use super::descendants;
use crate::process::ProcessRef;

/// Bytes read of a table of sockets; what comes after is not looked at.
const TABLE_BYTES_MAX: u64 = 16 << 20;

/// Bytes of a table, and descriptors of a process, that are looked at for a
/// receipt: somebody waits for it. Sockets that listen come first in a table.
const RECEIPT_TABLE_BYTES_MAX: u64 = 256 << 10;
const RECEIPT_DESCRIPTORS_MAX: usize = 1024;

/// The kernel's number for a socket that listens.
const LISTENING: &str = "0A";

/// Whether a process below `root` listens on this TCP port, whatever the
/// address.
///
/// The tables are those of each process's own network, and a socket counts only
/// if the process holds it: what listens beside the tree is not the tree's.
pub fn listens(root: &ProcessRef, port: u16) -> bool {
    let mut networks: Vec<(Option<u64>, HashSet<u64>)> = Vec::new();
    for process in descendants(root) {
        if process.dead {
            continue;
        }
        let network = network_of(process.pid);
        let known = networks
            .iter()
            .position(|(of, _)| network.is_some() && *of == network);
        let at = known.unwrap_or_else(|| {
            networks.push((network, listeners(process.pid, port)));
            networks.len() - 1
        });
        let sockets = &networks[at].1;
        if !sockets.is_empty() && holds(process.pid, sockets) {
            return true;
        }
    }
    false
}

/// The TCP ports that a process itself listens on, in order, as far as a receipt
/// looks.
pub(super) fn listening(pid: i32) -> Vec<u16> {
    let held: HashSet<u64> = sockets_of(pid, RECEIPT_DESCRIPTORS_MAX).collect();
    if held.is_empty() {
        return Vec::new();
    }
    let mut found = std::collections::BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let text = table_of(pid, table, RECEIPT_TABLE_BYTES_MAX);
        let listeners = all_listeners(&text).filter(|(inode, _)| held.contains(inode));
        found.extend(listeners.map(|(_, port)| port));
    }
    found.into_iter().collect()
}

/// Which network a process is in, where the kernel shows us.
fn network_of(pid: i32) -> Option<u64> {
    let link = fs::read_link(format!("/proc/{pid}/ns/net")).ok()?;
    let number = link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?;
    number.parse().ok()
}

/// The sockets that listen on a port in a process's network, by inode.
fn listeners(pid: i32, port: u16) -> HashSet<u64> {
    let mut sockets = HashSet::new();
    for table in ["tcp", "tcp6"] {
        let text = table_of(pid, table, TABLE_BYTES_MAX);
        sockets.extend(parse_listeners(&text, port));
    }
    sockets
}

/// A table of the sockets in a process's network.
fn table_of(pid: i32, table: &str, bytes_max: u64) -> String {
    let mut text = String::new();
    let file = fs::File::open(format!("/proc/{pid}/net/{table}"));
    if let Ok(file) = file {
        // A process that goes meanwhile has no table.
        drop(file.take(bytes_max).read_to_string(&mut text));
    }
    text
}

/// The inodes of the sockets that listen on a port.
fn parse_listeners(table: &str, port: u16) -> impl Iterator<Item = u64> {
    all_listeners(table)
        .filter(move |(_, listens_on)| *listens_on == port)
        .map(|(inode, _)| inode)
}

/// The inodes of the sockets that listen, each with its port, in the text of
/// `/proc/net/tcp` or `tcp6`. A line that is none is skipped.
fn all_listeners(table: &str) -> impl Iterator<Item = (u64, u16)> {
    table.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        // number, local address, remote address, state, …, inode
        let local = fields.nth(1)?;
        let state = fields.nth(1)?;
        let inode = fields.nth(5)?;
        let (_, local_port) = local.rsplit_once(':')?;
        let port = u16::from_str_radix(local_port, 16).ok()?;
        (state == LISTENING).then(|| Some((inode.parse().ok()?, port)))?
    })
}

/// Whether a process holds one of these sockets.
fn holds(pid: i32, sockets: &HashSet<u64>) -> bool {
    sockets_of(pid, usize::MAX).any(|inode| sockets.contains(&inode))
}

/// The sockets that a process holds among its first descriptors, by inode.
fn sockets_of(pid: i32, descriptors_max: usize) -> impl Iterator<Item = u64> {
    let directory = fs::read_dir(format!("/proc/{pid}/fd"));
    directory
        .into_iter()
        .flatten()
        .flatten()
        .take(descriptors_max)
        .filter_map(|entry| {
            let link = fs::read_link(entry.path()).ok()?;
            let name = link.to_str()?;
            let inode = name.strip_prefix("socket:[")?.strip_suffix(']')?;
            inode.parse().ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1
   2: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0
";

    #[test]
    fn only_listening_sockets_of_the_port_are_found() {
        let found = |port| parse_listeners(TABLE, port).collect::<Vec<u64>>();
        assert_eq!(found(8080), [4711]);
        assert_eq!(found(22), [4713]);
        assert_eq!(found(8081), [0; 0]);
    }

    #[test]
    fn a_socket_of_this_process_is_its_own_and_not_its_childrens() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let me = std::process::id().cast_signed();
        assert!(holds(me, &listeners(me, port)));
        assert!(listening(me).contains(&port));
        let mut child = std::process::Command::new("sleep")
            .arg("100")
            .spawn()
            .expect("sleep");
        let root = ProcessRef::of(me).expect("we exist");
        let sleeper = ProcessRef::of(child.id().cast_signed()).expect("it runs");
        assert!(!listens(&sleeper, port));
        drop(listener);
        assert!(!listens(&root, port));
        sleeper.kill().expect("killed");
        child.wait().expect("it ended");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[ -~\\n:]{0,400}", port: u16) {
            prop_assert!(parse_listeners(&text, port).count() <= text.lines().count());
        }

        #[test]
        fn a_table_cut_anywhere_names_no_other_socket(end in 0..TABLE.len()) {
            for inode in parse_listeners(&TABLE[..end], 8080) {
                prop_assert!("4711".starts_with(&inode.to_string()));
            }
        }
    }
}
