//! What commands inherit of the environment, scrubbed as configured.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// Variables that tell a command which session it runs in: those of an outer
/// command would be a lie.
const OUR_OWN: &[&str] = &[
    "SHELLGLASS",
    "SHELLGLASS_SESSION_ID",
    "SHELLGLASS_TOOL_CALL_ID",
];

/// What a command inherits. The wire carries text, so that a variable which is
/// not UTF-8 stays behind.
pub(crate) fn inherited(
    variables: impl Iterator<Item = (OsString, OsString)>,
    scrub: &[String],
) -> HashMap<String, String> {
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !OUR_OWN.contains(&name.as_str()))
        .filter(|(name, _)| {
            !scrub
                .iter()
                .any(|pattern| matches(pattern.as_bytes(), name.as_bytes()))
        })
        .collect()
}

/// The same as `NAME=VALUE` entries, whatever bytes they have.
pub(crate) fn entries(
    variables: impl Iterator<Item = (OsString, OsString)>,
    scrub: &[String],
) -> Vec<Vec<u8>> {
    variables
        .map(|(name, value)| (name.into_vec(), value.into_vec()))
        .filter(|(name, _)| !OUR_OWN.iter().any(|own| own.as_bytes() == name))
        .filter(|(name, _)| {
            !scrub
                .iter()
                .any(|pattern| matches(pattern.as_bytes(), name))
        })
        .map(|(mut entry, value)| {
            entry.push(b'=');
            entry.extend(value);
            entry
        })
        .collect()
}

/// Whether the pattern, in which `*` stands for any characters, is the name.
/// Time grows with the product of both lengths, never worse.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            last_star = Some((p, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            p += 1;
            n += 1;
        } else if let Some((star, taken)) = last_star {
            last_star = Some((star, taken + 1));
            p = star + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::{inherited, matches};
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, expected) in [
            ("AWS_*", "AWS_SECRET", true),
            ("AWS_*", "MY_AWS_SECRET", false),
            ("*_TOKEN", "A_TOKEN_TOKEN", true),
            ("*A*B*", "xAyBz", true),
            ("*A*B", "xAyBz", false),
            ("", "A", false),
            ("*", "", true),
            ("A", "AB", false),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn scrubbed_and_unspeakable_variables_stay_behind() {
        let variables = [
            (OsString::from("KEEP"), OsString::from("1")),
            (OsString::from("AWS_KEY"), OsString::from("2")),
            (
                OsString::from("SHELLGLASS_SESSION_ID"),
                OsString::from("s-x"),
            ),
            (OsString::from("RAW"), OsString::from_vec(vec![0xff])),
        ];
        let kept = inherited(variables.into_iter(), &["AWS_*".to_owned()]);
        assert_eq!(
            kept.into_iter().collect::<Vec<_>>(),
            [("KEEP".to_owned(), "1".to_owned())]
        );
    }
}
