//! The version of the wire.

use std::fmt;

/// The version that this crate speaks. A daemon of the same major version, and
/// of the same minor one or a later, understands everything that we say.
pub const WIRE_VERSION: Version = match Version::parse(glass_proto::WIRE_VERSION) {
    Some(version) => version,
    None => panic!("the wire's own version is one"),
};

/// A semantic version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Another one understands nothing of this.
    pub major: u32,
    /// A later one has more.
    pub minor: u32,
    /// A later one is mended.
    pub patch: u32,
}

impl Version {
    /// Reads `1.2.3`; what follows a `-` or a `+` is left out.
    pub const fn parse(text: &str) -> Option<Version> {
        let bytes = text.as_bytes();
        let mut parts = [0_u32; 3];
        let (mut part, mut digits, mut at) = (0, 0, 0);
        while at < bytes.len() {
            match bytes[at] {
                digit @ b'0'..=b'9' if digits < 9 => {
                    parts[part] = parts[part] * 10 + (digit - b'0') as u32;
                    digits += 1;
                }
                b'.' if digits > 0 && part < 2 => {
                    part += 1;
                    digits = 0;
                }
                b'-' | b'+' if digits > 0 && part == 2 => break,
                _ => return None,
            }
            at += 1;
        }
        if part != 2 || digits == 0 {
            return None;
        }
        Some(Version {
            major: parts[0],
            minor: parts[1],
            patch: parts[2],
        })
    }

    /// Whether a daemon of this version understands a client of that one.
    pub const fn understands(self, client: Version) -> bool {
        self.major == client.major && self.minor >= client.minor
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::{Version, WIRE_VERSION};

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    #[test]
    fn a_daemon_understands_clients_that_are_not_newer() {
        for (daemon, client, expected) in [
            ("1.2.0", "1.2.9", true),
            ("1.3.0", "1.2.0", true),
            ("1.1.9", "1.2.0", false),
            ("2.0.0", "1.2.0", false),
            ("1.2.3-rc.1+x", "1.2.3", true),
        ] {
            let understood = version(daemon).understands(version(client));
            assert_eq!(understood, expected, "{daemon} {client}");
        }
        assert!(WIRE_VERSION.understands(WIRE_VERSION));
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in [
            "",
            "1",
            "1.2",
            "1.2.",
            "1..2",
            "a.b.c",
            "1.2.3.4",
            ".1.2",
            "1.2.x",
            "9999999999.0.0",
        ] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
