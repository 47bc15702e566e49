//! `mcp`: the daemon's sessions as tools for an agent, over standard input and
//! output; and, inside the daemon, over HTTP (`http`).
//!
//! The server is a client of the daemon like any other, in the role of an
//! agent, or over HTTP in the one that the token stands for. It keeps no output:
//! what it shows is read from the journal, so that every offset in a text can be
//! read again later. Standard output carries messages alone; whatever else there
//! is to say goes to standard error.

mod answer;
mod arguments;
pub(super) mod daemon;
mod elicit;
mod execute;
mod farewells;
pub(super) mod follow;
mod http;
mod logs;
mod output;
mod pages;
mod place;
mod progress;
mod read;
mod request;
mod resources;
mod results;
mod same;
mod schema;
mod sections;
mod server;
mod sessions;
mod spent;
mod state;
mod stdin;
mod tools;
mod transport;
mod wait;
mod watching;
mod words;

use crate::client::Context;
use crate::error::{Failure, Kind};
use daemon::Way;
use glass_model::Role;
use place::Place;
use rmcp::ServiceExt as _;
use server::Server;
use state::State;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use transport::Lines;

pub(super) use http::{Within, mount};

/// Time for calls that are nearly done when the client closes its end. A
/// client waits about two seconds for a server to go.
const PARTING_WAIT: Duration = Duration::from_millis(500);

/// Longest wait for the cancels of a client that has gone.
const CANCELS_WAIT: Duration = Duration::from_secs(5);

/// Serves one client until it closes our standard input.
pub(super) async fn mcp() -> Result<ExitCode, Failure> {
    let context = Arc::new(Context::load()?);
    let settings = Arc::new(context.loaded.settings.clone());
    let state = Arc::new(State::new(settings, Role::Agent, Way::Beside(context)));
    let place = Place::of_this_process()?;
    state.settle(|| place);
    let (closed, mut is_closed) = tokio::sync::watch::channel(false);
    let (input, output) = rmcp::transport::stdio_pipes();
    let transport = Lines::new(input, output, closed);
    // The daemon is sought while the client still introduces itself.
    let early = Arc::clone(&state);
    tokio::spawn(async move { early.daemon.warm_up().await });
    let serving = async {
        match Server::over_stdio(Arc::clone(&state))
            .serve(transport)
            .await
        {
            Ok(running) => drop(running.waiting().await),
            // A client that leaves before it has introduced itself.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => return Err(unserved(&error)),
        }
        Ok(())
    };
    let parting = async {
        tokio::select! {
            // The sender lives in the transport; its end is the end, too.
            _ = is_closed.wait_for(|closed| *closed) => {
                tokio::time::sleep(PARTING_WAIT).await;
            }
            () = asked_to_stop() => {}
        }
        let _ = tokio::time::timeout(CANCELS_WAIT, state.leave()).await;
    };
    tokio::select! {
        served = serving => {
            served?;
            let _ = tokio::time::timeout(CANCELS_WAIT, state.leave()).await;
        }
        () = parting => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn unserved(error: &dyn std::error::Error) -> Failure {
    let message = format!("the client could not be served: {error}");
    Failure::new(Kind::Failed, message)
        .hint("this is for MCP clients; `shellglass run` is for people")
}

/// Until somebody ends us politely.
pub(super) async fn asked_to_stop() {
    let listen = |kind| signal(kind);
    match (
        listen(SignalKind::terminate()),
        listen(SignalKind::interrupt()),
    ) {
        (Ok(mut terminate), Ok(mut interrupt)) => tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        },
        // Without them the default action ends us.
        _ => std::future::pending().await,
    }
}
