//! Values that are known to be secret.

use crate::encodings::forms;
use crate::likeness;
use crate::limits::{KNOWN_BYTES_MAX, KNOWN_BYTES_MIN, KNOWN_VALUES_MAX};
use std::fmt;

/// Values that are known to be secret, each with the name of where it comes
/// from. They are never shown: not by `Debug` either.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Known {
    values: Vec<(String, Vec<u8>)>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.values.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Known {
    /// No values.
    pub fn new() -> Known {
        Known::default()
    }

    /// Adds a value, and says whether it will be looked for: one that is too
    /// short, or that is an ordinary word, would take pieces out of every text.
    pub fn add(&mut self, name: &str, value: &[u8]) -> bool {
        let value = &value[..value.len().min(KNOWN_BYTES_MAX)];
        let is_new = self.values.iter().all(|(_, other)| other != value);
        let is_fit = value.len() >= KNOWN_BYTES_MIN
            && self.values.len() < KNOWN_VALUES_MAX
            && !likeness::is_common(value);
        if is_new && is_fit {
            let name: String = name
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
                .take(64)
                .collect();
            self.values.push((name, value.to_vec()));
        }
        is_fit
    }

    /// Adds the values of those variables whose names look secret, and the
    /// passwords of those that are addresses.
    pub fn add_environment<'a>(
        &mut self,
        variables: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) {
        for (name, value) in variables {
            if name_looks_secret(name) {
                self.add(&String::from_utf8_lossy(name), value);
            } else if let Some(password) = password_of_address(value) {
                self.add(&String::from_utf8_lossy(name), password);
            }
        }
    }

    /// Every form of every value, with the value's name.
    pub(crate) fn forms(&self) -> impl Iterator<Item = (&str, Vec<u8>)> {
        self.values.iter().flat_map(|(name, value)| {
            forms(value)
                .into_iter()
                .map(move |form| (name.as_str(), form))
        })
    }
}

/// What stands between the first `:` of an address's authority and its `@`.
fn password_of_address(value: &[u8]) -> Option<&[u8]> {
    let start = value.windows(3).position(|part| part == b"://")? + 3;
    let authority = value[start..].split(|byte| b"/?#".contains(byte)).next()?;
    let user_info = &authority[..authority.iter().rposition(|byte| *byte == b'@')?];
    let colon = user_info.iter().position(|byte| *byte == b':')?;
    Some(&user_info[colon + 1..])
}

/// Ends of names whose values are secret.
const SECRET_ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "apikey",
    "api_key",
    "access_key",
    "secret_key",
    "private_key",
    "encryption_key",
    "signing_key",
    "account_key",
    "auth_key",
    "master_key",
    "service_key",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "cookie",
    "connection_string",
    "secret_key_base",
];

/// Names that end so and are no secrets.
const PUBLIC_NAMES: &[&str] = &[
    "pwd",
    "oldpwd",
    "ssh_auth_sock",
    "public_key",
    "gpg_key",
    "xauthority",
];

/// Whether a variable of this name holds a secret.
pub fn name_looks_secret(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    if PUBLIC_NAMES.contains(&name.as_str()) {
        return false;
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let is_key =
        stem.ends_with("_key") && !stem.ends_with("public_key") && !stem.ends_with("gpg_key");
    is_key
        || SECRET_ENDS.iter().any(|end| {
            stem.strip_suffix(end)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('_') || end.len() >= 5)
        })
}

#[cfg(test)]
mod tests {
    use super::{Known, name_looks_secret};

    #[test]
    fn names_tell_secrets() {
        for name in [
            "GITHUB_TOKEN",
            "DB_PASSWORD",
            "PGPASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "API_KEY_2",
            "NPM_AUTH",
            "SECRET",
            "MY_KEY",
            "npm_config__authToken",
        ] {
            assert!(name_looks_secret(name.as_bytes()), "{name}");
        }
        for name in [
            "PWD",
            "OLDPWD",
            "PATH",
            "SSH_AUTH_SOCK",
            "GPG_KEY",
            "KEYBOARD",
            "COMPASS",
            "HOME",
        ] {
            assert!(!name_looks_secret(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn ordinary_words_are_not_looked_for() {
        let mut known = Known::new();
        assert!(!known.add("A", b"true"));
        assert!(!known.add("A", b"password"));
        assert!(known.add("A", b"hunter2!"));
        known.add_environment([(&b"DB"[..], &b"postgres://u:s3cretpw@host/db?x=@"[..])]);
        assert_eq!(format!("{known:?}"), "[\"A\", \"DB\"]");
        assert!(known.forms().any(|(_, form)| form == b"s3cretpw"));
    }
}
