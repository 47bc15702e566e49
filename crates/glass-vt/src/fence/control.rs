//! What a sequence does to a row that is not for programs.

/// What one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// Begins or ends an update that is shown as one.
    Update(bool),
    /// Erases what is on the row.
    Wears,
    /// Undoes the margins as well.
    Undoes,
    /// Sets other margins, or takes the cursor to the row.
    Leaves,
}

/// Modes that change the screen that is shown, and with it the margins.
const SCREENS: [u32; 4] = [3, 47, 1047, 1049];

/// The mode of an update that is shown as one.
const UPDATE: u32 = 2026;

/// What a whole sequence does where programs have this many rows and the cursor is
/// in this one, from 0 on.
pub(super) fn effect(sequence: &[u8], rows: u16, row: usize) -> Effect {
    match sequence {
        b"\x1bc" | b"\x1b#8" => Effect::Undoes,
        [0x1b, b'[', parameters @ .., last] => control(parameters, *last, rows, row),
        _ => Effect::None,
    }
}

fn control(parameters: &[u8], last: u8, rows: u16, row: usize) -> Effect {
    let rows = u32::from(rows);
    if let [b'?', modes @ ..] = parameters {
        return private(modes, last);
    }
    if parameters == b"!" && last == b'p' {
        return Effect::Undoes;
    }
    let Some(first) = numbers(parameters).map(|mut numbers| numbers.next().flatten()) else {
        return Effect::None;
    };
    // Nothing said, and nothing, are one.
    let first = first.filter(|number| *number > 0).unwrap_or(1);
    let row = u32::try_from(row).unwrap_or(u32::MAX);
    match last {
        b'r' => Effect::Leaves,
        b'J' => Effect::Wears,
        b'H' | b'f' | b'd' if first > rows => Effect::Leaves,
        b'B' | b'E' | b'e' if first > rows.saturating_sub(row + 1) => Effect::Leaves,
        _ => Effect::None,
    }
}

fn private(modes: &[u8], last: u8) -> Effect {
    if last == b'J' {
        return Effect::Wears;
    }
    let is_set = match last {
        b'h' => true,
        b'l' => false,
        _ => return Effect::None,
    };
    let Some(numbers) = numbers(modes) else {
        return Effect::None;
    };
    let modes: Vec<u32> = numbers.flatten().collect();
    if modes.iter().any(|mode| SCREENS.contains(mode)) {
        Effect::Undoes
    } else if modes == [UPDATE] {
        Effect::Update(is_set)
    } else {
        Effect::None
    }
}

/// Numbers between semicolons; none where there is something else, too.
fn numbers(parameters: &[u8]) -> Option<impl Iterator<Item = Option<u32>>> {
    let is_plain = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
    let each = parameters.split(|byte| *byte == b';').map(|digits| {
        let number = digits.iter().fold(0_u32, |number, digit| {
            number
                .saturating_mul(10)
                .saturating_add(u32::from(digit - b'0'))
        });
        (!digits.is_empty()).then_some(number)
    });
    parameters.iter().all(is_plain).then_some(each)
}
