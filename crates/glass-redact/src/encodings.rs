//! The ways in which a known value is written.

/// Every way, without those that are the same. Percent-encoding is not here: it
/// is undone while comparing, because any byte may be encoded or not.
pub(crate) fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_vec(), json(value), shell(value)];
    // Short values have encodings that ordinary text has too.
    if value.len() >= 8 {
        for shift in 0..3 {
            forms.push(base64_inside(value, shift, b"+/"));
            forms.push(base64_inside(value, shift, b"-_"));
        }
        let hex: Vec<u8> = value
            .iter()
            .flat_map(|byte| format!("{byte:02x}").into_bytes())
            .collect();
        forms.push(hex.to_ascii_uppercase());
        forms.push(hex);
    }
    forms.sort();
    forms.dedup();
    forms
}

fn json(value: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            b'\r' => text.extend(b"\\r"),
            b'\t' => text.extend(b"\\t"),
            _ => text.push(*byte),
        }
    }
    text
}

/// As between single quotes.
fn shell(value: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in value {
        match byte {
            b'\'' => text.extend(b"'\\''"),
            _ => text.push(*byte),
        }
    }
    text
}

/// The characters of a Base64 text that depend on the value alone, where the
/// value begins `shift` bytes into a group of three.
fn base64_inside(value: &[u8], shift: usize, last_two: &[u8; 2]) -> Vec<u8> {
    let digit = |six: u32| -> u8 {
        match six {
            0..=25 => b'A' + six as u8,
            26..=51 => b'a' + (six - 26) as u8,
            52..=61 => b'0' + (six - 52) as u8,
            62 => last_two[0],
            _ => last_two[1],
        }
    };
    let bits = |from: usize| -> u32 {
        (0..6).fold(0, |six, n| {
            let bit = from + n;
            let byte = value.get(bit / 8).copied().unwrap_or(0);
            (six << 1) | u32::from((byte >> (7 - bit % 8)) & 1)
        })
    };
    // The first character that has no bit of what stands before the value.
    let skipped = (6 - (shift * 8) % 6) % 6;
    (skipped..)
        .step_by(6)
        .take_while(|from| from + 6 <= value.len() * 8)
        .map(|from| digit(bits(from)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{base64_inside, forms};

    #[test]
    fn base64_is_found_at_every_alignment() {
        // The texts are those of `xhunter2!!`, and so on with more before it.
        let value = b"hunter2!!";
        assert_eq!(base64_inside(value, 0, b"+/"), b"aHVudGVyMiEh");
        assert!(
            b"eGh1bnRlcjIhIQ=="
                .windows(11)
                .any(|part| part == &base64_inside(value, 1, b"+/")[..])
        );
        assert!(
            b"eHhodW50ZXIyISE="
                .windows(11)
                .any(|part| part == &base64_inside(value, 2, b"+/")[..])
        );
    }

    #[test]
    fn a_plain_value_has_one_plain_form() {
        assert_eq!(forms(b"plain1"), [b"plain1".to_vec()]);
        assert!(forms(b"a\"b'c\\d").contains(&br#"a\"b'c\\d"#.to_vec()));
    }
}
