//! Where HEAD points in a repository whose references are in reftables.
//!
//! The newest table that names HEAD decides. References are sorted and no name that
//! git makes comes before HEAD's but a few of its own in capitals: so it is found in
//! the first block of a table, and nothing more of one is read.

/// Bytes of a table that are looked at: git's blocks have 4 KiB.
pub(super) const TABLE_BYTES_MAX: u64 = 64 * 1024;

/// Tables of a repository that are looked at, the newest first. Git merges them
/// before there are many.
pub(super) const TABLES_MAX: usize = 64;

/// Longest name of a table, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// What a table says of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// The reference that it stands for.
    Reference(String),
    /// The commit that it is at, in hexadecimal.
    Commit(String),
    /// That it is gone.
    Gone,
}

/// The tables that a list names, the newest first. A name leads nowhere else.
pub(super) fn tables(list: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        name.len() <= NAME_BYTES_MAX && name.ends_with(".ref") && name.bytes().all(is_plain)
    };
    list.lines().rev().filter(is_name).take(TABLES_MAX)
}

/// What the beginning of a table says of HEAD; none where it says nothing, or is no
/// table.
pub fn head(table: &[u8]) -> Option<Head> {
    let mut bytes = Bytes(table);
    if bytes.take(4)? != b"REFT" {
        return None;
    }
    let (version, _block_size) = (bytes.byte()?, bytes.take(3)?);
    let _update_indexes = bytes.take(16)?;
    let hash_bytes = match version {
        1 => 20,
        2 => match bytes.take(4)? {
            b"sha1" => 20,
            b"s256" => 32,
            _ => return None,
        },
        _ => return None,
    };
    if bytes.byte()? != b'r' {
        return None;
    }
    let _block_bytes = bytes.take(3)?;
    let mut name = Vec::new();
    // Every record takes bytes, so this ends.
    loop {
        let shared = bytes.number()?;
        let rest = bytes.number()?;
        if shared > name.len() {
            return None;
        }
        name.truncate(shared);
        name.extend_from_slice(bytes.take(rest >> 3)?);
        let _update_index = bytes.number()?;
        let value = match rest & 7 {
            0 => Head::Gone,
            1 => Head::Commit(hexadecimal(bytes.take(hash_bytes)?)),
            2 => Head::Commit(hexadecimal(bytes.take(2 * hash_bytes)?)),
            3 => {
                let count = bytes.number()?;
                let target = std::str::from_utf8(bytes.take(count)?).ok()?;
                Head::Reference(target.to_owned())
            }
            _ => return None,
        };
        match name.as_slice().cmp(b"HEAD") {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => return Some(value),
            std::cmp::Ordering::Greater => return None,
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is left to read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    /// A number in groups of seven bits, the highest first; each group after the
    /// first stands for one more than it has.
    fn number(&mut self) -> Option<usize> {
        let mut byte = self.byte()?;
        let mut number = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            let more = number.checked_add(1)?.checked_mul(128)?;
            number = more | usize::from(byte & 0x7f);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, head, tables};
    use proptest::prelude::*;

    /// A table of one record: its first name has this value.
    fn table(name: &str, kind: u8, value: &[u8]) -> Vec<u8> {
        let mut bytes = b"REFT\x01\x00\x10\x00".to_vec();
        bytes.extend([0; 16]);
        bytes.extend(b"r\x00\x00\x39");
        let length = u8::try_from(name.len()).expect("it is short");
        bytes.extend([0, (length << 3) | kind]);
        bytes.extend(name.bytes());
        bytes.push(0);
        bytes.extend(value);
        bytes
    }

    #[test]
    fn a_table_says_where_head_is() {
        let on_trunk = table("HEAD", 3, b"\x10refs/heads/trunk");
        let trunk = Head::Reference("refs/heads/trunk".to_owned());
        assert_eq!(head(&on_trunk), Some(trunk));
        let commit = Head::Commit("ab".repeat(20));
        assert_eq!(head(&table("HEAD", 1, &[0xab; 20])), Some(commit));
        assert_eq!(head(&table("HEAD", 0, b"")), Some(Head::Gone));
        // One of git's own that comes before it shares its name's beginning or none.
        let mut second = table("AUTO_MERGE", 1, &[1; 20]);
        second.extend(b"\x00\x23HEAD\x00\x0crefs/heads/x");
        let x = Head::Reference("refs/heads/x".to_owned());
        assert_eq!(head(&second), Some(x));
    }

    #[test]
    fn what_says_nothing_of_head_says_nothing() {
        assert_eq!(head(&table("refs/heads/a", 1, &[1; 20])), None);
        assert_eq!(head(b""), None);
        assert_eq!(head(b"REFT"), None);
        let whole = table("HEAD", 3, b"\x10refs/heads/trunk");
        for end in 0..whole.len() {
            assert_eq!(head(&whole[..end]), None, "cut after {end} bytes");
        }
    }

    #[test]
    fn the_newest_table_is_first_and_none_is_elsewhere() {
        let list = "1.ref\n../../etc/passwd.ref\n/a.ref\n2.lock\n3.ref\n";
        assert_eq!(tables(list).collect::<Vec<_>>(), ["3.ref", "1.ref"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            begins in any::<bool>(),
        ) {
            let mut table = match begins {
                true => table("A", 0, b""),
                false => Vec::new(),
            };
            table.extend(bytes);
            let _ = head(&table);
        }
    }
}
