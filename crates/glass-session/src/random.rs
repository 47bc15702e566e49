//! Randomness from the kernel.

/// Fills an array. The kernel's generator does not fail once the machine has
/// booted; if it ever does, nothing that needs a secret may go on.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled +=
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())
                .expect("the kernel's random generator works after boot");
    }
    bytes
}

/// 128 random bits as text.
pub fn hex_128() -> String {
    bytes::<16>()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A word that nobody guesses while a shell lives. Short, because shells read
/// their requests byte by byte.
pub(crate) fn nonce() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    bytes::<{ crate::driver::NONCE_BYTES }>()
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(byte % 32)]))
        .collect()
}
