//! The terminals that there are, by their names.

use super::launch;
use super::message::{Create, Named};
use super::terminal::Terminal;
use crate::client::{Client, Context};
use crate::commands::mcp::daemon::{Daemon, Way};
use crate::commands::mcp::follow::Execution;
use rmcp::model::ErrorData;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// Terminals that may be there at once.
const TERMINALS_MAX: usize = 64;

/// Output that is kept of each, in bytes, however much a client asks for. The
/// journal has the rest.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// How long a command has to begin, or to be refused, before its terminal is
/// named all the same.
const BEGIN_WAIT: Duration = Duration::from_secs(10);

/// How long a kill waits for a command that the daemon does not know yet.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// One client's terminals.
pub(super) struct Table {
    context: Arc<Context>,
    workspace: String,
    daemon: Arc<Daemon>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    terminals: BTreeMap<String, Arc<Terminal>>,
    /// How many there ever were.
    count: u64,
    /// The client has gone, and nothing begins any more.
    is_closed: bool,
}

impl Table {
    pub(super) fn new(context: Arc<Context>, workspace: String) -> Table {
        Table {
            daemon: Arc::new(Daemon::new(Way::Beside(Arc::clone(&context)))),
            context,
            workspace,
            held: Mutex::default(),
        }
    }

    /// Seeks the daemon before anybody asks.
    pub(super) async fn warm_up(&self) {
        self.daemon.warm_up().await;
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // What is inside is whole after every statement, whoever panicked.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A terminal, for the session that it belongs to.
    fn find(&self, named: &Named) -> Result<Arc<Terminal>, ErrorData> {
        let held = self.held();
        let found = held.terminals.get(&named.terminal_id);
        let found = found.filter(|terminal| terminal.session == named.session_id);
        found.cloned().ok_or_else(|| unknown(named))
    }

    /// Begins a command.
    pub(super) async fn create(&self, create: Create) -> Result<Value, ErrorData> {
        let request = launch::request(&self.context, &self.workspace, &create)?;
        let bytes = create.output_byte_limit.unwrap_or(OUTPUT_BYTES_MAX);
        let bytes = usize::try_from(bytes.min(OUTPUT_BYTES_MAX)).unwrap_or(usize::MAX);
        let (name, terminal) = {
            let mut held = self.held();
            if held.is_closed {
                return Err(ErrorData::internal_error(
                    "the client has closed its end",
                    None,
                ));
            }
            if held.terminals.len() >= TERMINALS_MAX {
                let message = format!("there are {TERMINALS_MAX} terminals\nhint: release some");
                return Err(ErrorData::internal_error(message, None));
            }
            let daemon = Arc::clone(&self.daemon);
            let terminal = Arc::new(Terminal {
                session: create.session_id,
                execution: Execution::start_keeping(daemon, request, bytes),
            });
            held.count += 1;
            let name = format!("terminal-{}", held.count);
            held.terminals.insert(name.clone(), Arc::clone(&terminal));
            (name, terminal)
        };
        drop(tokio::time::timeout(BEGIN_WAIT, terminal.execution.begun_or_asked()).await);
        if let Some(why) = terminal.refusal() {
            self.held().terminals.remove(&name);
            return Err(ErrorData::internal_error(why, None));
        }
        Ok(json!({"terminalId": name, "_meta": {"shellglass": terminal.handle()}}))
    }

    /// What a terminal's command has written.
    pub(super) fn output(&self, named: &Named) -> Result<Value, ErrorData> {
        Ok(self.find(named)?.output())
    }

    /// Until a terminal's command ends.
    pub(super) async fn wait_for_exit(&self, named: &Named) -> Result<Value, ErrorData> {
        let terminal = self.find(named)?;
        terminal.execution.over().await;
        Ok(terminal.exit())
    }

    /// Ends a terminal's command and everything that it started.
    pub(super) async fn kill(&self, named: &Named) -> Result<Value, ErrorData> {
        let terminal = self.find(named)?;
        self.end(&terminal).await;
        Ok(json!({}))
    }

    /// The same, and forgets the terminal.
    pub(super) async fn release(&self, named: &Named) -> Result<Value, ErrorData> {
        let terminal = self.find(named)?;
        self.held().terminals.remove(&named.terminal_id);
        self.end(&terminal).await;
        Ok(json!({}))
    }

    /// The client has gone: its terminals go, too.
    pub(super) async fn leave(self: &Arc<Self>) {
        let terminals = {
            let mut held = self.held();
            held.is_closed = true;
            std::mem::take(&mut held.terminals)
        };
        let mut endings = JoinSet::new();
        for terminal in terminals.into_values() {
            let table = Arc::clone(self);
            endings.spawn(async move { table.end(&terminal).await });
        }
        while endings.join_next().await.is_some() {}
    }

    async fn end(&self, terminal: &Terminal) {
        if terminal.is_over() {
            return;
        }
        let cancel = |mut client: Client, request| async move { client.cancel(request).await };
        let request = || terminal.execution.cancel_request();
        let cancelled = self.daemon.call(request(), cancel).await;
        if !cancelled.is_ok_and(|answer| answer.cancelled) {
            // The daemon did not know it yet: once more when it does.
            drop(tokio::time::timeout(KILL_WAIT, terminal.execution.settled()).await);
            drop(self.daemon.call(request(), cancel).await);
        }
        // What is said of it next is how it ended.
        drop(tokio::time::timeout(KILL_WAIT, terminal.execution.over()).await);
    }
}

fn unknown(named: &Named) -> ErrorData {
    let name: String = named.terminal_id.chars().take(64).collect();
    let message = format!(
        "this session has no terminal '{}': it was released, or never made",
        name.escape_debug()
    );
    ErrorData::resource_not_found(message, None)
}
