//! Words that a shell reads back as the bytes they were made of.

use glass_model::ShellKind;

/// One word in the language of `kind` that stands for exactly `bytes`, which
/// must hold no NUL.
pub fn quote(kind: ShellKind, bytes: &[u8]) -> Vec<u8> {
    let mut word = Vec::with_capacity(bytes.len() + 2);
    word.push(b'\'');
    for &byte in bytes {
        match (kind, byte) {
            (ShellKind::Fish, b'\'' | b'\\') => word.extend([b'\\', byte]),
            (_, b'\'') => word.extend(br"'\''"),
            _ => word.push(byte),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::quote;
    use glass_model::ShellKind;

    #[test]
    fn quotes_and_backslashes_are_kept() {
        let posix = quote(ShellKind::Posix, br"it's a \ slash");
        assert_eq!(posix, br"'it'\''s a \ slash'");
        let fish = quote(ShellKind::Fish, br"it's a \ slash");
        assert_eq!(fish, br"'it\'s a \\ slash'");
        assert_eq!(quote(ShellKind::Zsh, b""), b"''");
    }
}
