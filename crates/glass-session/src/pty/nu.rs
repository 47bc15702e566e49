//! Nushell's language, as far as we write it.

use glass_model::Execution;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The key that makes nu look for a command. Its line editor knows no key by a number
/// of ours, so this is a letter that no keyboard has, with three keys held down.
pub(super) const KEY: &[u8] = b"\x1b[127137;8u";

/// A word that nu reads back as these bytes.
pub(super) fn quote(bytes: &[u8]) -> Vec<u8> {
    let mut word = vec![b'"'];
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => word.extend([b'\\', byte]),
            0x00..=0x1f | 0x7f => word.extend(format!("\\u{{{byte:x}}}").bytes()),
            _ => word.push(byte),
        }
    }
    word.push(b'"');
    word
}

/// Where a command is that nu would not read as it stands.
pub(super) const FILE: &str = "line.nu";

/// Whether nu would put lines of its history into this.
fn is_expanded(line: &[u8]) -> bool {
    let mut marks = (0..line.len()).filter(|at| line[*at] == b'!');
    // `!=` and `!~` compare.
    marks.any(|at| !matches!(line.get(at + 1), Some(b'=' | b'~' | b' ' | b'\n')))
}

/// The line that runs a command, in this room: itself, or one that reads it from a
/// file.
pub(super) fn line(room: &Path, execution: &Execution) -> std::io::Result<Vec<u8>> {
    let line = plain_line(execution);
    if !is_expanded(&line) {
        return Ok(line);
    }
    let file = room.join(FILE);
    super::integration::write_script(&file, &[&line])?;
    Ok([b"source ".to_vec(), quote(file.as_os_str().as_bytes())].concat())
}

/// The line that runs a command as it is. What one with variables of its own changes
/// in the shell's directory or environment is gone with them.
fn plain_line(execution: &Execution) -> Vec<u8> {
    let mut line = Vec::new();
    if !execution.requested_cwd.is_empty() {
        line.extend_from_slice(b"cd ");
        line.extend(quote(execution.requested_cwd.as_bytes()));
        line.extend_from_slice(b"; ");
    }
    if execution.env.is_empty() {
        line.extend_from_slice(execution.command.as_bytes());
        return line;
    }
    line.extend_from_slice(b"with-env {");
    for (name, value) in &execution.env {
        line.extend(quote(name.as_bytes()));
        line.extend_from_slice(b": ");
        line.extend(quote(value.as_bytes()));
        line.push(b' ');
    }
    line.extend_from_slice(b"} {\n");
    line.extend_from_slice(execution.command.as_bytes());
    line.extend_from_slice(b"\n}");
    line
}

#[cfg(test)]
mod tests {
    use super::{is_expanded, quote};

    #[test]
    fn what_nu_would_expand_is_known() {
        for odd in ["echo !!", "!1", "'hi!'", "x!"] {
            assert!(is_expanded(odd.as_bytes()), "{odd}");
        }
        for plain in ["1 != 2", "a !~ b", "not! x", "ls"] {
            assert!(!is_expanded(plain.as_bytes()), "{plain}");
        }
    }

    #[test]
    fn a_word_is_one_line_whatever_is_in_it() {
        let quoted = quote(b"it's \"a\" \\ $x (y)\n\x1b\xff");
        assert_eq!(quoted, b"\"it's \\\"a\\\" \\\\ $x (y)\\u{a}\\u{1b}\xff\"");
    }
}
