//! Whether something listens on a port: what the kernel says in `/proc/net`, in
//! the network that a process sees.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// Most of a table that is read, in bytes.
const TABLE_BYTES_MAX: u64 = 4 << 20;

/// The state of a socket that listens.
const LISTENING: &str = "0A";

/// Whether something listens on a TCP port where this process is; 0 is a process
/// that nobody knows, and stands for us.
pub(super) fn is_listening(pid: u32, port: u16) -> bool {
    let own = "self".to_owned();
    // A command behind walls has a network of its own. Where it cannot be seen,
    // ours is looked at.
    let seen = match pid {
        0 => tables(&own),
        pid => tables(&pid.to_string()).or_else(|| tables(&own)),
    };
    seen.is_some_and(|tables| tables.iter().any(|table| has_listener(table, port)))
}

fn tables(process: &str) -> Option<Vec<String>> {
    let read = |name: &str| {
        let path: PathBuf = ["/proc", process, "net", name].iter().collect();
        let mut text = String::new();
        let file = File::open(path).ok()?;
        file.take(TABLE_BYTES_MAX).read_to_string(&mut text).ok()?;
        Some(text)
    };
    let found: Vec<String> = ["tcp", "tcp6"]
        .iter()
        .filter_map(|name| read(name))
        .collect();
    (!found.is_empty()).then_some(found)
}

/// A row is `n: ADDRESS:PORT REMOTE STATE …`, in hexadecimal.
fn has_listener(table: &str, port: u16) -> bool {
    table.lines().any(|row| {
        let mut fields = row.split_ascii_whitespace().skip(1);
        let (local, state) = (fields.next(), fields.nth(1));
        let local = local.and_then(|local| local.rsplit(':').next());
        let local = local.and_then(|local| u16::from_str_radix(local, 16).ok());
        local == Some(port) && state == Some(LISTENING)
    })
}

#[cfg(test)]
mod tests {
    use super::{has_listener, is_listening};
    use std::net::TcpListener;

    #[test]
    fn a_listener_is_seen_while_it_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        assert!(is_listening(0, port));
        assert!(is_listening(std::process::id(), port));
        drop(listener);
        assert!(!is_listening(0, port));
    }

    #[test]
    fn a_connection_is_no_listener() {
        let table = "  sl  local_address rem_address   st\n   \
                     0: 0100007F:1F90 00000000:0000 0A 0\n   \
                     1: 0100007F:1F91 0100007F:1F90 01 0\nnonsense\n";
        assert!(has_listener(table, 8080));
        assert!(!has_listener(table, 8081));
        assert!(!has_listener("", 8080));
    }
}
