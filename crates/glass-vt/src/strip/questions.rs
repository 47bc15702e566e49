//! Which sequences a terminal answers.

/// Whether a whole control sequence is answered, or makes others be answered.
pub(super) fn control_asks(sequence: &[u8]) -> bool {
    let Some((last, rest)) = sequence.split_last() else {
        return false;
    };
    let has = |byte: u8| rest.contains(&byte);
    match last {
        // DA1, DA2, DA3; DSR and CPR; DECREQTPARM.
        b'c' | b'n' | b'x' => true,
        // DECRQM; XTVERSION; the keyboard's state; graphics attributes.
        b'p' => has(b'$'),
        b'q' => has(b'>'),
        b'u' => has(b'?') || has(b'$'),
        b'S' => has(b'?'),
        // DECRQCRA and other requests for reports.
        b'y' => has(b'*'),
        b'w' => has(b'$'),
        b't' => window_report(rest),
        _ => false,
    }
}

/// `CSI 11 t` and its kind: where the window is, how large, what its title.
fn window_report(rest: &[u8]) -> bool {
    let parameters = rest.iter().skip_while(|byte| **byte != b'[').skip(1);
    let digits = parameters.take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0u32, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    });
    matches!(number, 11 | 13..=16 | 18..=21)
}

/// Whether a device control string that begins like this is answered
/// (DECRQSS, XTGETTCAP), or redefines keys (DECUDK).
pub(super) fn device_asks(begin: &[u8]) -> bool {
    matches!(begin, [.., b'$' | b'+', b'q'] | [.., b'|'])
}

/// Whether operating system commands of this number are questions when their
/// payload has a `?`: colours, fonts and the clipboard.
pub(super) fn os_may_ask(number: &[u8]) -> bool {
    matches!(
        number,
        b"4" | b"5"
            | b"10"
            | b"11"
            | b"12"
            | b"13"
            | b"14"
            | b"15"
            | b"16"
            | b"17"
            | b"18"
            | b"19"
            | b"21"
            | b"22"
            | b"50"
            | b"52"
            | b"60"
            | b"61"
            | b"99"
            | b"5522"
    )
}
