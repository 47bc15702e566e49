//! What differs from system to system and is logic: pure, so that all of it is
//! built and tested wherever we are. Doing it is `glass-spawn`'s, which today
//! knows one system.

/// What a system wants.
pub trait Platform {
    /// The shell of a session that asks for none, where no variable names one,
    /// and its first arguments.
    fn shell(&self) -> &'static [&'static str];

    /// How Enter is told to a shell that reads a pipe.
    fn line_end(&self) -> LineEnd;

    /// The command line that ends a process with everything below it; none where
    /// signals do that.
    fn kill_command(&self, pid: u32) -> Option<Vec<String>>;
}

/// Linux, macOS and their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Posix;

/// Windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows;

impl Platform for Posix {
    fn shell(&self) -> &'static [&'static str] {
        &["bash"]
    }

    fn line_end(&self) -> LineEnd {
        LineEnd::AsTyped
    }

    fn kill_command(&self, _pid: u32) -> Option<Vec<String>> {
        None
    }
}

impl Platform for Windows {
    fn shell(&self) -> &'static [&'static str] {
        &["powershell.exe", "-NoLogo", "-NoProfile"]
    }

    fn line_end(&self) -> LineEnd {
        LineEnd::CarriageReturnLineFeed
    }

    fn kill_command(&self, pid: u32) -> Option<Vec<String>> {
        // 0 and 4 are the system's own, of which everything is a descendant.
        const SYSTEM: [u32; 2] = [0, 4];
        if SYSTEM.contains(&pid) {
            return None;
        }
        let pid = pid.to_string();
        let words = ["taskkill.exe", "/PID", &pid, "/T", "/F"];
        Some(words.map(ToOwned::to_owned).to_vec())
    }
}

/// How Enter is told to a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// As it was typed.
    AsTyped,
    /// A carriage return brings a line feed along.
    CarriageReturnLineFeed,
}

/// Input on its way to a shell, piece by piece. However it is cut, the shell is
/// sent the same.
#[derive(Clone, Debug)]
pub struct Typed {
    line_end: LineEnd,
    /// The last byte was a carriage return, whose line feed is sent already.
    after_return: bool,
}

impl Typed {
    /// From the beginning.
    pub fn new(line_end: LineEnd) -> Typed {
        Typed {
            line_end,
            after_return: false,
        }
    }

    /// What the shell is sent for these bytes.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.line_end == LineEnd::AsTyped {
            return out.extend_from_slice(bytes);
        }
        for byte in bytes {
            match byte {
                b'\r' => out.extend_from_slice(b"\r\n"),
                b'\n' if self.after_return => {}
                other => out.push(*other),
            }
            self.after_return = *byte == b'\r';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineEnd, Platform, Posix, Typed, Windows};
    use proptest::prelude::*;

    fn sent(line_end: LineEnd, pieces: &[&[u8]]) -> Vec<u8> {
        let mut typed = Typed::new(line_end);
        let mut out = Vec::new();
        for piece in pieces {
            typed.push(piece, &mut out);
        }
        out
    }

    fn check(typed: &str, expected: &str) {
        let windows = sent(Windows.line_end(), &[typed.as_bytes()]);
        assert_eq!(String::from_utf8_lossy(&windows), expected);
        let posix = sent(Posix.line_end(), &[typed.as_bytes()]);
        assert_eq!(String::from_utf8_lossy(&posix), typed);
    }

    #[test]
    fn enter_brings_a_line_feed_along_on_windows() {
        check("dir\r", "dir\r\n");
        check("dir\r\n", "dir\r\n");
        check("a\rb\r\r", "a\r\nb\r\n\r\n");
        check("a\nb", "a\nb");
        check("\r\n\n", "\r\n\n");
        check("", "");
    }

    #[test]
    fn a_tree_is_ended_by_force_and_the_system_never() {
        let words = Windows.kill_command(1234).expect("a command");
        assert_eq!(words, ["taskkill.exe", "/PID", "1234", "/T", "/F"]);
        assert_eq!(Windows.kill_command(0), None);
        assert_eq!(Windows.kill_command(4), None);
        // Signals end trees here.
        assert_eq!(Posix.kill_command(1234), None);
    }

    #[test]
    fn a_shell_on_windows_shows_no_logo_and_reads_no_profile() {
        assert_eq!(Windows.shell()[1..], ["-NoLogo", "-NoProfile"]);
        assert_eq!(Posix.shell(), ["bash"]);
    }

    proptest! {
        #[test]
        fn cut_anywhere_the_shell_is_sent_the_same(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), any::<u8>()], 0..64),
            cut in 0_usize..64,
        ) {
            let cut = cut.min(bytes.len());
            let line_end = LineEnd::CarriageReturnLineFeed;
            let whole = sent(line_end, &[&bytes]);
            prop_assert_eq!(&sent(line_end, &[&bytes[..cut], &bytes[cut..]]), &whole);
            // No carriage return stands alone, and nothing else was added.
            let alone = whole.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
            prop_assert!(!alone && whole.last() != Some(&b'\r'));
            let without = |bytes: &[u8]| -> Vec<u8> {
                bytes.iter().copied().filter(|byte| !b"\r\n".contains(byte)).collect()
            };
            prop_assert_eq!(without(&whole), without(&bytes));
        }
    }
}
