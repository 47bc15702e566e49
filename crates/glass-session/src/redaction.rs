//! Which secrets are looked for in the output of which session.
//!
//! Detectors are expensive to build and cheap to share: sessions that know the
//! same values have the same one.

use crate::actor::lock;
use crate::context::variable_name;
use glass_model::Outcome;
use glass_redact::{Detector, Known, Redactor, Rules};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Detectors that are kept beside that of all sessions without secrets of
/// their own; the oldest is forgotten first.
const DETECTORS_MAX: usize = 32;

/// What is taken out of output.
#[derive(Clone, Debug)]
pub struct Redaction {
    /// The rules.
    pub rules: Arc<Rules>,
    /// Variables whose values are secret although their names do not look so;
    /// a `*` stands for anything.
    pub variables: Vec<String>,
    /// Values that are secret in every session.
    pub known: Known,
}

/// Builds detectors, and remembers them.
pub(crate) struct Detectors {
    settings: Option<Redaction>,
    common: Option<Arc<Detector>>,
    built: Mutex<VecDeque<(Known, Arc<Detector>)>>,
}

/// What is looked for in one execution's output; nothing where redaction is
/// switched off. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Veil(pub(crate) Option<Arc<Detector>>);

impl Veil {
    /// A whole text without its secrets.
    pub fn redact(&self, text: Vec<u8>) -> Vec<u8> {
        match &self.0 {
            Some(detector) => Redactor::redact_all(detector, &text),
            None => text,
        }
    }

    /// How an execution ended, without secrets: the words may quote its output.
    pub fn outcome<'a>(&self, outcome: &'a Outcome) -> Cow<'a, Outcome> {
        let denials = &outcome.details.sandbox_denials;
        let receipt = outcome.receipt.as_ref();
        let has_left = receipt.is_some_and(|receipt| !receipt.left.is_empty());
        let is_plain = denials.is_empty() && outcome.spawn_error.is_none() && !has_left;
        if self.0.is_none() || is_plain {
            return Cow::Borrowed(outcome);
        }
        let mut outcome = outcome.clone();
        let denials = outcome.details.sandbox_denials.iter_mut();
        let left = outcome
            .receipt
            .iter_mut()
            .flat_map(|receipt| &mut receipt.left);
        let left = left.map(|process| &mut process.command);
        for text in denials.chain(&mut outcome.spawn_error).chain(left) {
            *text = self.text(text);
        }
        Cow::Owned(outcome)
    }

    /// The same as [`Veil::redact`].
    pub(crate) fn text(&self, text: &str) -> String {
        let shown = self.redact(text.as_bytes().to_vec());
        String::from_utf8_lossy(&shown).into_owned()
    }
}

/// The secrets that a session knows. It learns and does not forget: what was
/// printed when a value was a secret is read later.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Arc<Mutex<(Known, Veil)>>);

impl Detectors {
    pub(crate) fn new(settings: Option<Redaction>) -> Detectors {
        let common = settings
            .as_ref()
            .map(|settings| Arc::new(Detector::new(settings.rules.clone(), &settings.known)));
        Detectors {
            settings,
            common,
            built: Mutex::default(),
        }
    }

    /// The secrets of a session with this environment.
    pub(crate) fn secrets(&self, env: &[Vec<u8>]) -> Secrets {
        let known = self
            .settings
            .as_ref()
            .map(|settings| settings.known.clone());
        let secrets = (known.unwrap_or_default(), Veil(self.common.clone()));
        let secrets = Secrets(Arc::new(Mutex::new(secrets)));
        self.learn(&secrets, env);
        secrets
    }

    /// Adds what an environment has to the secrets of a session.
    pub(crate) fn learn(&self, secrets: &Secrets, env: &[Vec<u8>]) {
        let Some(settings) = &self.settings else {
            return;
        };
        let mut secrets = lock(&secrets.0);
        let mut known = secrets.0.clone();
        add(settings, env, &mut known);
        if known != secrets.0 {
            let veil = self.veil(settings, &known);
            *secrets = (known, veil);
        }
    }

    /// What is looked for in the output of a session's execution that has
    /// variables of its own.
    pub(crate) fn veil_of(&self, secrets: &Secrets, env: &[(String, String)]) -> Veil {
        let secrets = lock(&secrets.0);
        let Some(settings) = self.settings.as_ref().filter(|_| !env.is_empty()) else {
            return secrets.1.clone();
        };
        let mut known = secrets.0.clone();
        let env: Vec<Vec<u8>> = env
            .iter()
            .map(|(name, value)| format!("{name}={value}").into_bytes())
            .collect();
        add(settings, &env, &mut known);
        if known == secrets.0 {
            return secrets.1.clone();
        }
        self.veil(settings, &known)
    }

    fn veil(&self, settings: &Redaction, known: &Known) -> Veil {
        if *known == settings.known {
            return Veil(self.common.clone());
        }
        let mut built = lock(&self.built);
        if let Some((_, detector)) = built.iter().find(|(other, _)| other == known) {
            return Veil(Some(detector.clone()));
        }
        let detector = Arc::new(Detector::new(settings.rules.clone(), known));
        built.push_back((known.clone(), detector.clone()));
        if built.len() > DETECTORS_MAX {
            built.pop_front();
        }
        Veil(Some(detector))
    }
}

/// Adds the secrets of an environment of `NAME=VALUE` entries.
fn add(settings: &Redaction, env: &[Vec<u8>], known: &mut Known) {
    let variables = || {
        env.iter().map(|entry| {
            let name = variable_name(entry);
            (name, entry.get(name.len() + 1..).unwrap_or_default())
        })
    };
    for (name, value) in variables() {
        let mut patterns = settings.variables.iter();
        if patterns.any(|pattern| glass_sandbox::matches(pattern.as_bytes(), name)) {
            known.add(&String::from_utf8_lossy(name), value);
        }
    }
    known.add_environment(variables());
}

#[cfg(test)]
mod tests {
    use super::{Detectors, Redaction, Veil};
    use glass_redact::{Known, Rules};
    use std::sync::Arc;

    fn detectors() -> Detectors {
        let mut known = Known::new();
        assert!(known.add("DAEMON", b"kiwi-Banane-77"));
        Detectors::new(Some(Redaction {
            rules: Rules::builtin(),
            variables: vec!["CORP_*".to_owned()],
            known,
        }))
    }

    fn check(veil: &Veil, text: &str, expected: &str) {
        let shown = veil.redact(text.as_bytes().to_vec());
        assert_eq!(String::from_utf8_lossy(&shown), expected);
    }

    fn is_same(one: &Veil, other: &Veil) -> bool {
        match (&one.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    #[test]
    fn sessions_without_secrets_of_their_own_share_a_detector() {
        let detectors = detectors();
        let veils = [&b"HOME=/root"[..], b"A_TOKEN=kiwi-Banane-77"].map(|entry| {
            let secrets = detectors.secrets(&[entry.to_vec()]);
            detectors.veil_of(&secrets, &[("LANG".to_owned(), "C.UTF-8".to_owned())])
        });
        assert!(is_same(&veils[0], &veils[1]));
        check(&veils[0], "kiwi-Banane-77", "[REDACTED:DAEMON]");
    }

    #[test]
    fn a_session_learns_and_does_not_forget() {
        let detectors = detectors();
        let secrets = detectors.secrets(&[b"CORP_NAME=pine-Apfel-31".to_vec()]);
        detectors.learn(&secrets, &[b"DB_PASSWORD=fig-Feige-55".to_vec()]);
        let lent = [("X_TOKEN".to_owned(), "plum-Pflaume-12".to_owned())];
        let text = "pine-Apfel-31 fig-Feige-55 plum-Pflaume-12";
        let veil = detectors.veil_of(&secrets, &lent);
        let expected = "[REDACTED:CORP_NAME] [REDACTED:DB_PASSWORD] [REDACTED:X_TOKEN]";
        check(&veil, text, expected);
        assert!(is_same(&veil, &detectors.veil_of(&secrets, &lent)));
        let without = detectors.veil_of(&secrets, &[]);
        let expected = "[REDACTED:CORP_NAME] [REDACTED:DB_PASSWORD] plum-Pflaume-12";
        check(&without, text, expected);
    }

    #[test]
    fn nothing_is_taken_out_where_that_is_switched_off() {
        let detectors = Detectors::new(None);
        let secrets = detectors.secrets(&[b"X_TOKEN=plum-Pflaume-12".to_vec()]);
        let veil = detectors.veil_of(&secrets, &[]);
        check(&veil, "plum-Pflaume-12", "plum-Pflaume-12");
    }
}
