//! Bytes of a keyboard, cut anywhere.

use super::{Key, KeyDecoder};
use proptest::prelude::*;

fn keys(pieces: &[&[u8]]) -> Vec<Key> {
    let mut decoder = KeyDecoder::default();
    let mut keys = Vec::new();
    for piece in pieces {
        decoder.push(piece, |key| keys.push(key));
    }
    keys
}

#[test]
fn known_keys_are_told_apart() {
    use Key::{Backspace, Char, Delete, End, Enter, Home, Left, WordLeft, WordRight};
    let pressed = keys(&[b"a\x1b[D\x1bOD\x1b[1;5D\x1b[1;3C\x1b[H\x1b[8~\x1b[3~\x7f\r"]);
    let expected = [
        Char('a'),
        Left,
        Left,
        WordLeft,
        WordRight,
        Home,
        End,
        Delete,
        Backspace,
        Enter,
    ];
    assert_eq!(pressed, expected);
    assert_eq!(keys(&[b"\r\n\n"]), [Enter, Enter], "CR LF is one Enter");
    assert_eq!(keys(&[b"\x1b]11;rgb:0/0/0\x07x"]), [Char('x')]);
    assert_eq!(keys(&[b"\x1b[1;1R\x1b[?62;c\x1bP1$r\x1b\\y"]), [Char('y')]);
    assert_eq!(keys(&[b"\xff\xe2\x82a"]), [Char('\u{fffd}'), Char('a')]);
    assert_eq!(
        keys(&[&[b"\x1b[".as_slice(), &[b'1'; 500], b"~z"].concat()]),
        [Char('z')]
    );
}

#[test]
fn nothing_in_a_paste_is_a_key() {
    let pasted = keys(&[b"\x1b[200~rm\x03\x04\x1b[A\x1bOA\x1bb\x15\r\x1b]0;\x07x\x1b[201~\r"]);
    let text: String = pasted
        .iter()
        .map(|key| match key {
            Key::Char(c) => *c,
            other => {
                assert_eq!(*other, Key::Enter);
                '!'
            }
        })
        .collect();
    assert_eq!(
        text, "rmOAb\n]0;x!",
        "only the Enter behind the paste is one"
    );
}

proptest! {
    #[test]
    fn where_pieces_are_cut_changes_nothing(
        bytes in prop::collection::vec(prop_oneof![
            any::<u8>(),
            prop::sample::select(b"\x1b[]O;~012345\x07\\\r\n\xe2\x82\xac".to_vec()),
        ], 0..200),
        at in any::<prop::sample::Index>(),
    ) {
        let (first, second) = bytes.split_at(at.index(bytes.len() + 1));
        prop_assert_eq!(keys(&[first, second]), keys(&[&bytes]));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(keys(&single), keys(&[&bytes]));
    }
}
