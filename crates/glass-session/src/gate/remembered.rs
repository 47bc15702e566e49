//! What people have answered, for as long as they said.

use crate::actor::lock;
use glass_model::{Approval, ApprovalScope, SandboxPolicy};
use glass_policy::{Rule, RuleFile};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
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
///
/// An answer holds for the task whose command it was about: an idle session may
/// serve another task, whose agent was not spoken of.
#[derive(Default)]
pub(crate) struct SessionMemory {
    rules: Mutex<Vec<(Context, Rule)>>,
    /// Commands that no prefix stands for, word by word.
    exact: Mutex<Vec<(Context, String)>>,
    /// The tasks for which a person has taken the session as it is.
    trusting: Mutex<Vec<String>>,
}

/// What the person saw beside a command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Context {
    task: String,
    sandbox: SandboxPolicy,
}

impl Context {
    fn is(&self, task: &str, sandbox: &SandboxPolicy) -> bool {
        self.task == task && self.sandbox == *sandbox
    }
}

impl SessionMemory {
    /// What holds for commands of this task with these rights.
    pub(crate) fn rules(&self, task: &str, sandbox: &SandboxPolicy) -> Arc<Vec<Rule>> {
        let rules = lock(&self.rules);
        let held = rules.iter().filter(|(seen, _)| seen.is(task, sandbox));
        Arc::new(held.map(|(_, rule)| rule.clone()).collect())
    }

    /// Whether a person has taken the session as it is, with its shell and its
    /// variables, for this task.
    pub(crate) fn trusts_session(&self, task: &str) -> bool {
        lock(&self.trusting).iter().any(|trusted| trusted == task)
    }

    /// Notes that one has.
    fn trust_session(&self, task: &str) {
        let mut trusting = lock(&self.trusting);
        let known = trusting.iter().any(|trusted| trusted == task);
        // Whoever finds no room is asked again.
        if !known && trusting.len() < REMEMBERED_MAX {
            trusting.push(task.to_owned());
        }
    }

    /// Whether exactly this was allowed.
    pub(crate) fn knows(&self, task: &str, command: &str, sandbox: &SandboxPolicy) -> bool {
        let exact = lock(&self.exact);
        exact
            .iter()
            .any(|(seen, text)| seen.is(task, sandbox) && text == command)
    }

    /// Remembers what a person allowed as they want it to hold.
    pub(crate) fn take_answer(
        &self,
        approval: &Approval,
        scope: ApprovalScope,
        always: &Remembered,
    ) -> Result<(), CannotRemember> {
        match scope {
            ApprovalScope::Once => return Ok(()),
            ApprovalScope::Session => {
                let (command, prefixes) = (&approval.command, &approval.prefixes);
                self.remember(&approval.task, command, prefixes, &approval.sandbox)?;
            }
            ApprovalScope::Always => always.remember(&approval.prefixes)?,
        }
        if approval.about_session {
            self.trust_session(&approval.task);
        }
        Ok(())
    }

    fn remember(
        &self,
        task: &str,
        command: &str,
        prefixes: &[Vec<String>],
        sandbox: &SandboxPolicy,
    ) -> Result<(), CannotRemember> {
        let context = Context {
            task: task.to_owned(),
            sandbox: sandbox.clone(),
        };
        if prefixes.is_empty() {
            if self.knows(task, command, sandbox) {
                return Ok(());
            }
            let mut exact = lock(&self.exact);
            if exact.len() >= REMEMBERED_MAX {
                return Err(CannotRemember::TooMany);
            }
            exact.push((context, command.to_owned()));
            return Ok(());
        }
        let mut rules = lock(&self.rules);
        if rules.len() + prefixes.len() > REMEMBERED_MAX {
            return Err(CannotRemember::TooMany);
        }
        let new = prefixes.iter().cloned().map(Rule::remembered);
        rules.extend(new.map(|rule| (context.clone(), rule)));
        Ok(())
    }
}

/// What everybody remembers: a file of rules.
pub(crate) struct Remembered {
    path: PathBuf,
    rules: Mutex<Arc<Vec<Rule>>>,
    /// Why the file is left alone, if it cannot be used.
    broken: Option<String>,
}

impl Remembered {
    /// Reads what was remembered. A file that cannot be used is left alone, and
    /// nothing is remembered then.
    pub(crate) fn open(path: &Path) -> Remembered {
        let read = match std::fs::read_to_string(path) {
            Ok(text) => RuleFile::parse_unchecked(&text).map_err(|error| error.to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RuleFile::default()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = &read {
            tracing::error!(path = %path.display(), %error, "nothing is remembered");
        }
        Remembered {
            path: path.to_owned(),
            broken: read.as_ref().err().cloned(),
            rules: Mutex::new(Arc::new(read.unwrap_or_default().rules)),
        }
    }

    pub(crate) fn rules(&self) -> Arc<Vec<Rule>> {
        lock(&self.rules).clone()
    }

    pub(crate) fn remember(&self, prefixes: &[Vec<String>]) -> Result<(), CannotRemember> {
        if prefixes.is_empty() {
            return Err(CannotRemember::NoPrefix);
        }
        let no_file = |source| CannotRemember::File {
            path: self.path.clone(),
            source,
        };
        if let Some(why) = &self.broken {
            return Err(no_file(io::Error::other(why.clone())));
        }
        let mut rules = lock(&self.rules);
        let new = with(&rules, prefixes)?;
        self.write(&new).map_err(no_file)?;
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

#[cfg(test)]
mod tests {
    use super::{CannotRemember, REMEMBERED_MAX, Remembered, SessionMemory};
    use glass_model::{SandboxKind, SandboxPolicy};

    #[test]
    fn an_answer_for_the_session_holds_for_the_rights_that_were_shown() {
        let memory = SessionMemory::default();
        let (few, many) = (
            SandboxPolicy {
                kind: SandboxKind::WorkspaceReadOnly,
                ..SandboxPolicy::default()
            },
            SandboxPolicy::none(),
        );
        memory.remember("t", "a $x", &[], &few).expect("room");
        let prefix = vec!["touch".to_owned()];
        let prefixes = [prefix];
        memory
            .remember("t", "touch a", &prefixes, &few)
            .expect("room");
        assert!(memory.knows("t", "a $x", &few) && !memory.knows("t", "a $x", &many));
        assert_eq!(memory.rules("t", &few).len(), 1);
        assert_eq!(memory.rules("t", &many).len(), 0);
    }

    #[test]
    fn an_answer_for_the_session_holds_for_the_task_that_asked() {
        let (memory, rights) = (SessionMemory::default(), SandboxPolicy::none());
        memory.remember("a", "x $y", &[], &rights).expect("room");
        let prefixes = [vec!["touch".to_owned()]];
        memory
            .remember("a", "touch b", &prefixes, &rights)
            .expect("room");
        memory.trust_session("a");
        for (task, held) in [("a", true), ("b", false), ("", false)] {
            assert_eq!(memory.knows(task, "x $y", &rights), held, "{task}");
            assert_eq!(!memory.rules(task, &rights).is_empty(), held, "{task}");
            assert_eq!(memory.trusts_session(task), held, "{task}");
        }
    }

    #[test]
    fn only_so_many_answers_are_remembered() {
        let (memory, rights) = (SessionMemory::default(), SandboxPolicy::none());
        for number in 0..REMEMBERED_MAX {
            let command = format!("x $y{number}");
            memory.remember("a", &command, &[], &rights).expect("room");
            let prefixes = [vec![format!("p{number}")]];
            memory
                .remember("a", &command, &prefixes, &rights)
                .expect("room");
        }
        let prefixes = [vec!["one".to_owned()]];
        for prefixes in [&[][..], &prefixes] {
            let tried = memory.remember("a", "more $x", prefixes, &rights);
            assert!(matches!(tried, Err(CannotRemember::TooMany)), "{tried:?}");
        }
        // What is known already needs no room.
        memory.remember("a", "x $y7", &[], &rights).expect("known");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("remembered.toml");
        std::fs::write(&path, "[[rule]\nmine").expect("a file");
        let remembered = Remembered::open(&path);
        let tried = remembered.remember(&[vec!["touch".to_owned()]]);
        assert!(matches!(tried, Err(CannotRemember::File { .. })));
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert_eq!(text, "[[rule]\nmine");
    }
}
