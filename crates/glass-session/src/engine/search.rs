//! Looking for a text in everything that ran: commands and what they wrote.
//!
//! Output is looked at as every reader is shown it, without secrets, so that
//! nobody can find out what a secret is by looking for it. A call looks for a
//! while and over so many bytes, and says where the next one goes on.

mod needle;

use super::{Caller, Engine, may_see};
use crate::errors::LookupError;
use crate::redaction::Veil;
use glass_model::{Execution, Session, SessionId, ShellId};
use needle::Needle;
use std::collections::HashMap;
use std::time::{Duration, Instant};

pub use needle::Spot;

/// How long one call looks. The execution that it has begun with then is still
/// looked at as a whole.
const LOOK_MAX: Duration = Duration::from_millis(1_500);

/// After this long it is left where it is: an expression that matches nothing at
/// every place of a long line takes its time.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);

/// Bytes of output that one call looks at.
const LOOK_BYTES_MAX: u64 = 256 << 20;

/// Bytes of one execution's output that are looked at, at its beginning and at its
/// end.
const END_BYTES_MAX: u64 = 8 << 20;

/// Bytes of output that are read in one go.
const PAGE_BYTES: u64 = 1 << 20;

/// Executions read from the journal in one go.
const BATCH_EXECUTIONS: usize = 256;

/// Executions in one answer, unless asked otherwise, and at most.
const RESULTS_DEFAULT: usize = 50;
const RESULTS_MAX: usize = 200;

/// Lines of one execution that are told.
const SPOTS_MAX: usize = 3;

/// What to look for, and where.
#[derive(Clone, Debug, Default)]
pub struct SearchSpec {
    /// The text, in any case of letters.
    pub text: String,
    /// Whether that is a regular expression.
    pub is_regex: bool,
    /// Only in this session; empty for all.
    pub session: String,
    /// Executions in the answer; 0 for as many as is usual.
    pub results_max: usize,
    /// Only executions that were accepted before this one.
    pub before: Option<ShellId>,
}

/// An execution that has the text.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The execution.
    pub execution: Execution,
    /// What its session is called.
    pub session_name: String,
    /// Where its command has it.
    pub in_command: Option<Spot>,
    /// The first lines of its output that have it.
    pub in_output: Vec<Spot>,
    /// Whether there is more output than was looked at.
    pub is_cut: bool,
}

/// What was found, the newest first.
#[derive(Clone, Debug, Default)]
pub struct Searched {
    /// The executions.
    pub hits: Vec<Hit>,
    /// Executions before this one were not looked at; none when all were.
    pub next: Option<ShellId>,
    /// How many executions were looked at.
    pub executions: u64,
    /// How many bytes of their output.
    pub bytes: u64,
}

/// Why nothing was looked for.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The session is not to be had, or the journal cannot be read.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// It cannot be looked for.
    #[error("the text cannot be looked for: {0}")]
    Text(String),
}

impl Engine {
    /// Looks for a text. This takes a while: not for the reactor.
    pub fn search(&self, caller: &Caller, spec: &SearchSpec) -> Result<Searched, SearchError> {
        let needle = Needle::new(&spec.text, spec.is_regex).map_err(SearchError::Text)?;
        let only = match spec.session.as_str() {
            "" => None,
            id => Some(self.session(caller, id)?.session),
        };
        let results_max = match spec.results_max {
            0 => RESULTS_DEFAULT,
            max => max.min(RESULTS_MAX),
        };
        let now = Instant::now();
        let mut search = Search {
            engine: self,
            caller,
            needle,
            give_up: now + GIVE_UP_AFTER,
            sessions: HashMap::new(),
            found: Searched::default(),
        };
        let deadline = now + LOOK_MAX;
        let mut before = spec.before.unwrap_or(ShellId(u32::MAX));
        loop {
            let batch = search.batch(only.as_ref(), before)?;
            let Some(last) = batch.last() else {
                return Ok(search.found);
            };
            before = last.shell_id;
            for execution in batch {
                let id = execution.shell_id;
                search.look_at(execution)?;
                let is_enough = search.found.hits.len() >= results_max
                    || search.found.bytes >= LOOK_BYTES_MAX
                    || Instant::now() > deadline;
                if is_enough {
                    search.found.next = Some(id);
                    return Ok(search.found);
                }
            }
            if only.is_some() {
                return Ok(search.found);
            }
        }
    }
}

struct Search<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    needle: Needle,
    give_up: Instant,
    /// Sessions by id, with whether the caller may see them.
    sessions: HashMap<SessionId, Option<Session>>,
    found: Searched,
}

impl Search<'_> {
    /// The next executions, the newest first: some of all sessions, or all of one.
    fn batch(
        &self,
        only: Option<&Session>,
        before: ShellId,
    ) -> Result<Vec<Execution>, LookupError> {
        let store = &self.engine.0.context.store;
        let Some(session) = only else {
            return Ok(store.executions_before(before, BATCH_EXECUTIONS)?);
        };
        let mut executions = store.executions(&session.id)?;
        executions.retain(|execution| execution.shell_id < before);
        executions.reverse();
        Ok(executions)
    }

    fn look_at(&mut self, mut execution: Execution) -> Result<(), LookupError> {
        let Some(session_name) = self.name_of(&execution.session)? else {
            return Ok(());
        };
        self.found.executions += 1;
        let mut lines = execution.command.lines();
        // What takes too long here is not there: the output is next, and says so.
        let find = |line| self.needle.find(line, self.give_up).ok().flatten();
        let in_command = lines.find_map(find);
        let veil = self.engine.veil_of(&execution)?;
        let (in_output, is_cut) = self.output(execution.shell_id, &veil)?;
        if in_command.is_some() || !in_output.is_empty() {
            // What it left behind may have been started with a secret.
            execution.outcome = veil.outcome(&execution.outcome).into_owned();
            self.found.hits.push(Hit {
                execution,
                session_name,
                in_command,
                in_output,
                is_cut,
            });
        }
        Ok(())
    }

    /// What a session is called, if the caller may see it.
    fn name_of(&mut self, id: &SessionId) -> Result<Option<String>, LookupError> {
        if !self.sessions.contains_key(id) {
            let session = self.engine.0.context.store.session(id)?;
            let seen = session.filter(|session| may_see(self.caller, session).is_ok());
            self.sessions.insert(id.clone(), seen);
        }
        let session = self.sessions.get(id).and_then(Option::as_ref);
        Ok(session.map(|session| session.name.clone()))
    }

    /// The first lines of an execution's output that match, and whether there
    /// is more output than may be looked at.
    fn output(&mut self, id: ShellId, veil: &Veil) -> Result<(Vec<Spot>, bool), LookupError> {
        let end = self.engine.0.context.store.recorded(id)?.position;
        let mut lines = self.needle.lines(self.give_up);
        let (mut at, mut looked, mut is_cut) = (0, 0, false);
        loop {
            let page = self.engine.page(id, veil, at, PAGE_BYTES)?;
            let is_last = page.next_offset == at;
            at = page.next_offset;
            looked += page.bytes.len() as u64;
            lines.push(&page.bytes, SPOTS_MAX);
            let is_enough = lines.found() >= SPOTS_MAX || looked >= 2 * END_BYTES_MAX;
            if is_last || is_enough || lines.is_late() {
                self.found.bytes += looked;
                let (spots, is_late) = lines.finish(SPOTS_MAX);
                return Ok((spots, is_cut || is_late));
            }
            if !is_cut && looked >= END_BYTES_MAX && at + END_BYTES_MAX < end {
                is_cut = true;
                at = end - END_BYTES_MAX;
                lines.leave_out();
            }
        }
    }
}
