//! What would happen to a command.

use super::{Caller, Engine};
use crate::actor::lock;
use crate::errors::LookupError;
use crate::gate::{Asked, CheckSpec, Checked, Checking, SessionGate};
use std::path::PathBuf;
use std::sync::Arc;

impl Engine {
    /// What a command line would run, and whether it may: in this session, or
    /// in one that would be made in its directory. Nothing is run, and no hook
    /// is asked.
    pub async fn check_command(
        &self,
        caller: &Caller,
        session: &str,
        mut spec: CheckSpec,
    ) -> Result<Checked, LookupError> {
        let context = self.0.context.clone();
        let settings = &context.settings;
        let (gate, asked) = if session.is_empty() {
            spec.cwd = joined(&settings.working_directory, &spec.cwd);
            let asked = spec.asked(&settings.sandboxing.settings);
            (Arc::new(SessionGate::default()), asked)
        } else {
            self.asked_in(caller, session, &spec)?
        };
        // A line that was made to be hard to read takes its time.
        let context = self.0.context.clone();
        let checked = tokio::task::spawn_blocking(move || {
            let settings = &context.settings;
            let with = Checking {
                gatekeeping: &settings.gatekeeping,
                sandbox: &settings.sandboxing.settings,
                adapting: settings.adapting.as_ref(),
            };
            gate.check(&asked, with, &context.remembered)
        });
        checked.await.map_err(|_| LookupError::Stopping)
    }

    /// The gate of a session, and what it would be asked.
    fn asked_in(
        &self,
        caller: &Caller,
        id: &str,
        spec: &CheckSpec,
    ) -> Result<(Arc<SessionGate>, Asked), LookupError> {
        let session = self.session(caller, id)?.session;
        let disposed = || LookupError::Disposed(session.id.clone());
        let handle = self.live(&session.id).ok_or_else(disposed)?;
        let session = lock(&handle.live).session.clone();
        let rights = handle
            .workspace
            .as_ref()
            .map(|place| self.rights(None, session.sandbox.as_ref(), spec.role, place));
        let rights = rights.and_then(Result::ok);
        let asked = Asked {
            command: spec.command.clone(),
            shell: spec.shell_kind().unwrap_or(session.shell.kind),
            cwd: joined(&session.cwd, &spec.cwd),
            workspace: PathBuf::from(&session.workspace_root),
            role: spec.role,
            task: session.task,
            sandbox: rights.map(|rights| rights.policy).unwrap_or_default(),
            skip: false,
            obeyed: Vec::new(),
        };
        Ok((handle.gate, asked))
    }
}

/// A directory as seen from another.
fn joined(from: &str, to: &str) -> String {
    match to {
        "" => from.to_owned(),
        to if to.starts_with('/') => to.to_owned(),
        to => format!("{}/{to}", from.trim_end_matches('/')),
    }
}
