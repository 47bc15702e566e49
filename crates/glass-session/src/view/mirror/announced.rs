//! The command that a mirror shows before the first one runs.
//!
//! Whoever reads the mirror shows it, and whoever draws the mirror must know that:
//! so both ask here, and each step is taken once.

use crate::actor::lock;
use std::sync::Mutex;

/// Where the first command stands.
#[derive(Debug, Default)]
pub(super) struct Announced(Mutex<Stand>);

#[derive(Debug, Default, PartialEq, Eq)]
enum Stand {
    /// It is not known whether there is a history, or there is one.
    #[default]
    Closed,
    /// The mirror shows its first prompt and nothing else.
    Open,
    /// This stands at the prompt.
    Shown(String),
}

impl Announced {
    /// The mirror is empty: something may be announced.
    pub(super) fn open(&self) {
        *lock(&self.0) = Stand::Open;
    }

    /// Whether this is to be shown at the prompt now.
    pub(super) fn announce(&self, command: String) -> bool {
        let mut stand = lock(&self.0);
        let is_open = *stand == Stand::Open;
        if is_open {
            *stand = Stand::Shown(command);
        }
        is_open
    }

    /// A command begins; what stands at the prompt, if something does.
    pub(super) fn begin(&self) -> Option<String> {
        match std::mem::take(&mut *lock(&self.0)) {
            Stand::Shown(command) => Some(command),
            Stand::Closed | Stand::Open => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Announced;

    #[test]
    fn one_command_is_announced_and_only_before_the_first() {
        let announced = Announced::default();
        assert!(
            !announced.announce("a".to_owned()),
            "the history comes first"
        );
        announced.open();
        assert!(announced.announce("b".to_owned()));
        assert!(!announced.announce("c".to_owned()));
        assert_eq!(announced.begin().as_deref(), Some("b"));
        assert_eq!(announced.begin(), None);
        assert!(!announced.announce("d".to_owned()));
    }
}
