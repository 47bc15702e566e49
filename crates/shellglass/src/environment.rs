//! What commands inherit of the environment, scrubbed as configured.

use crate::config::SessionSettings;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// Variables that tell a command which session it runs in: those of an outer
/// command would be a lie. So would those about a socket that the daemon was
/// started with.
const OUR_OWN: &[&str] = &[
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
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
                .any(|pattern| glass_sandbox::matches(pattern.as_bytes(), name.as_bytes()))
        })
        .collect()
}

/// What a session for one command has: what is ours, what the configuration says,
/// and what is given for it, each before the one before.
pub(crate) fn of_caller(
    settings: &SessionSettings,
    given: impl IntoIterator<Item = (String, String)>,
) -> HashMap<String, String> {
    let mut env = inherited(std::env::vars_os(), &settings.scrub_env);
    env.extend(settings.env.clone());
    env.extend(given);
    env
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
                .any(|pattern| glass_sandbox::matches(pattern.as_bytes(), name))
        })
        .map(|(mut entry, value)| {
            entry.push(b'=');
            entry.extend(value);
            entry
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::inherited;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

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
