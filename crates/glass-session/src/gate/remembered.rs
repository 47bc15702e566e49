//! What people have answered, for as long as they said.

use crate::actor::lock;
use glass_policy::{Rule, RuleFile};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Answers that one session, or everybody, remembers.
const REMEMBERED_MAX: usize = 1000;

/// Why an answer holds only once.
#[derive(Debug, thiserror::Error)]
pub enum CannotRemember {
    /// Its first words do not say what would run.
    #[error("no prefix of this command says what it would run")]
    NoPrefix,
    /// There are too many.
    #[error("{REMEMBERED_MAX} answers are remembered already")]
    TooMany,
    /// The file cannot be written.
    #[error("'{}' cannot be written", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What one session remembers. It is gone with the daemon, which is the safe
/// way to forget.
#[derive(Default)]
pub(crate) struct SessionMemory {
    rules: Mutex<Arc<Vec<Rule>>>,
    /// Commands that no prefix stands for, word by word.
    exact: Mutex<HashSet<String>>,
    /// Whether a person has taken the session as it is.
    trusts_session: AtomicBool,
}

impl SessionMemory {
    pub(crate) fn rules(&self) -> Arc<Vec<Rule>> {
        lock(&self.rules).clone()
    }

    /// Whether a person has taken the session as it is, with its shell and its
    /// variables.
    pub(crate) fn trusts_session(&self) -> bool {
        self.trusts_session.load(Ordering::Relaxed)
    }

    /// Notes that one has.
    pub(crate) fn trust_session(&self) {
        self.trusts_session.store(true, Ordering::Relaxed);
    }

    /// Whether exactly this was allowed.
    pub(crate) fn knows(&self, command: &str) -> bool {
        lock(&self.exact).contains(command)
    }

    pub(crate) fn remember(
        &self,
        command: &str,
        prefixes: &[Vec<String>],
    ) -> Result<(), CannotRemember> {
        if prefixes.is_empty() {
            let mut exact = lock(&self.exact);
            if exact.len() >= REMEMBERED_MAX {
                return Err(CannotRemember::TooMany);
            }
            exact.insert(command.to_owned());
            return Ok(());
        }
        let mut rules = lock(&self.rules);
        *rules = Arc::new(with(&rules, prefixes)?);
        Ok(())
    }
}

/// What everybody remembers: a file of rules.
pub(crate) struct Remembered {
    path: PathBuf,
    rules: Mutex<Arc<Vec<Rule>>>,
}

impl Remembered {
    /// Reads what was remembered. A file that cannot be used is left alone, and
    /// nothing is remembered then.
    pub(crate) fn open(path: &Path) -> Remembered {
        let rules = match std::fs::read_to_string(path) {
            Ok(text) => match RuleFile::parse_unchecked(&text) {
                Ok(file) => file.rules,
                Err(error) => {
                    tracing::error!(path = %path.display(), %error, "remembered answers are lost");
                    Vec::new()
                }
            },
            Err(_) => Vec::new(),
        };
        Remembered {
            path: path.to_owned(),
            rules: Mutex::new(Arc::new(rules)),
        }
    }

    pub(crate) fn rules(&self) -> Arc<Vec<Rule>> {
        lock(&self.rules).clone()
    }

    pub(crate) fn remember(&self, prefixes: &[Vec<String>]) -> Result<(), CannotRemember> {
        if prefixes.is_empty() {
            return Err(CannotRemember::NoPrefix);
        }
        let mut rules = lock(&self.rules);
        let new = with(&rules, prefixes)?;
        self.write(&new).map_err(|source| CannotRemember::File {
            path: self.path.clone(),
            source,
        })?;
        *rules = Arc::new(new);
        Ok(())
    }

    fn write(&self, rules: &[Rule]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        crate::context::make_private(folder)?;
        // Only this daemon writes here, and one at a time.
        let new = self.path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(glass_policy::written(rules).as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)
    }
}

fn with(rules: &[Rule], prefixes: &[Vec<String>]) -> Result<Vec<Rule>, CannotRemember> {
    let mut rules = rules.to_vec();
    for prefix in prefixes {
        if rules.iter().any(|rule| rule.prefix == *prefix) {
            continue;
        }
        if rules.len() >= REMEMBERED_MAX {
            return Err(CannotRemember::TooMany);
        }
        rules.push(Rule::remembered(prefix.clone()));
    }
    Ok(rules)
}
