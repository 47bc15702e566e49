//! Looking for a text in everything that ran.

use crate::{history, status};
use glass_model::ShellId;
use glass_proto::shellglass::v1 as wire;
use glass_session::{Caller, Engine, Hit, SearchSpec, Searched, Spot};
use std::time::Duration;
use tokio::sync::Semaphore;
use tonic::{Code, Status};

/// Searches at once: each keeps a processor busy.
const SEARCHES_MAX: usize = 2;

/// How long a search waits for its turn.
const TURN_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes of a command that are told: with the most results that there can be, a
/// message that every client takes.
const COMMAND_BYTES_MAX: usize = 8 << 10;

static TURNS: Semaphore = Semaphore::const_new(SEARCHES_MAX);

/// Answers a search.
pub(crate) async fn search(
    engine: &Engine,
    caller: Caller,
    request: wire::SearchRequest,
) -> Result<wire::SearchResponse, Status> {
    let Ok(Ok(turn)) = tokio::time::timeout(TURN_DEADLINE, TURNS.acquire()).await else {
        let message = "too many searches are under way";
        let hint = "try again in a few seconds";
        return Err(status::with_hint(Code::ResourceExhausted, message, hint));
    };
    let spec = SearchSpec {
        text: request.text,
        is_regex: request.is_regex,
        session: request.session_id,
        results_max: request.max_results as usize,
        before: (request.before_shell_id != 0).then_some(ShellId(request.before_shell_id)),
    };
    let engine = engine.clone();
    let look = move || {
        let searched = engine.search(&caller, &spec);
        // A caller who has gone does not end what is under way.
        drop(turn);
        searched
    };
    let searched = tokio::task::spawn_blocking(look).await;
    let searched = searched.map_err(|_| Status::internal("the search failed"))?;
    searched.map(to_wire).map_err(status::search)
}

fn to_wire(searched: Searched) -> wire::SearchResponse {
    wire::SearchResponse {
        results: searched.hits.into_iter().filter_map(hit_to_wire).collect(),
        next_before_shell_id: searched.next.map(|id| id.0),
        searched_executions: searched.executions,
        searched_bytes: searched.bytes,
    }
}

fn hit_to_wire(hit: Hit) -> Option<wire::SearchResult> {
    let session_id = hit.execution.session.to_string();
    Some(wire::SearchResult {
        execution: Some(history::told(hit.execution, COMMAND_BYTES_MAX)?),
        session_id,
        session_name: hit.session_name,
        in_command: hit.in_command.map(spot_to_wire),
        in_output: hit.in_output.into_iter().map(spot_to_wire).collect(),
        output_cut: hit.is_cut,
    })
}

fn spot_to_wire(spot: Spot) -> wire::SearchMatch {
    wire::SearchMatch {
        before: spot.before,
        text: spot.text,
        after: spot.after,
    }
}
