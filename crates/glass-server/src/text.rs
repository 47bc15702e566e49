//! What a model reads of an execution: the same text that tools answer with, so
//! that a person can see it beside what was written.

mod markdown;
mod sections;

use crate::status;
use glass_model::{
    AbortReason, Execution, Outcome, Phase, ShellId, core_dump_possible, signal_name,
};
use glass_proto::shellglass::v1 as wire;
use glass_session::{Caller, Engine, LookupError, OutputPage};
use glass_vt::exit::{Cause, Exit, ExitSignal, explain};
use glass_vt::text::{Budget, Compressor, Page};
use markdown::{Purpose, Quoted};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tonic::{Code, Status};

/// Most characters of output: those of a tool.
const CHARS_MAX: usize = 400_000;

/// Bytes read in one go.
const PIECE_BYTES_MAX: u64 = 1 << 20;

/// How long a command is read that writes faster than we do.
const CATCH_UP_MAX: Duration = Duration::from_secs(10);

/// Texts at once: each keeps a processor busy.
const READS_MAX: usize = 4;

/// How long a text waits for its turn.
const TURN_DEADLINE: Duration = Duration::from_secs(10);

static TURNS: Semaphore = Semaphore::const_new(READS_MAX);

/// Characters of the longest notice of what was not kept.
const NOTICE_CHARS_MAX: usize = 100;

/// Answers a request for text.
pub(crate) async fn read(
    engine: &Engine,
    caller: Caller,
    request: wire::ReadTextRequest,
) -> Result<wire::ReadTextResponse, Status> {
    let purpose = match request.markdown_for.as_str() {
        "" => None,
        name => Some(Purpose::named(name).ok_or_else(|| unknown_purpose(name))?),
    };
    let chars = match request.max_chars {
        0 => engine.text_budget().chars_max,
        max => max as usize,
    };
    let chars = chars.min(CHARS_MAX);
    let id = ShellId(request.shell_id);
    let execution = engine.execution(&caller, id).map_err(status::lookup)?;
    let outcome = engine.veil(id).map_err(status::lookup)?;
    let outcome = outcome.outcome(&execution.outcome).into_owned();
    let sections = engine.sections_of(&execution).map_err(status::lookup)?;
    let Ok(Ok(turn)) = tokio::time::timeout(TURN_DEADLINE, TURNS.acquire()).await else {
        let message = "too many texts are being read";
        let hint = "try again in a few seconds";
        return Err(status::with_hint(Code::ResourceExhausted, message, hint));
    };
    let output = Output {
        engine: engine.clone(),
        caller,
        id,
        deadline: Instant::now() + CATCH_UP_MAX,
    };
    // Much output is looked through, and that keeps a thread busy.
    let runtime = tokio::runtime::Handle::current();
    let read = move || {
        let read = runtime.block_on(output.shown(sections, chars));
        // A caller who has gone does not end what is under way.
        drop(turn);
        read
    };
    let read = tokio::task::spawn_blocking(read).await;
    let read = read.map_err(|_| Status::internal("reading the text failed"))?;
    let (page, dropped) = read.map_err(status::lookup)?;
    let end = end_of(&execution, &outcome);
    let quoted = Quoted {
        command: &execution.command,
        cwd: &execution.cwd,
        output: &page.text,
        end: &end,
    };
    let markdown = purpose.map(|purpose| quoted.markdown(purpose));
    Ok(wire::ReadTextResponse {
        truncated: !page.elisions.is_empty() || dropped > 0,
        next_offset: page.end,
        dropped_bytes: dropped,
        running: execution.phase != Phase::Ended,
        markdown: markdown.unwrap_or_default(),
        output: page.text,
        end,
    })
}

fn unknown_purpose(name: &str) -> Status {
    let message = format!("there is no Markdown for '{}'", name.escape_debug());
    status::with_hint(
        Code::InvalidArgument,
        message,
        "use context, fix or explain",
    )
}

/// How an execution stands, in words.
fn end_of(execution: &Execution, outcome: &Outcome) -> String {
    match execution.phase {
        Phase::Queued => return "has not begun".to_owned(),
        Phase::Running => return "still running".to_owned(),
        Phase::Ended => {}
    }
    let name = outcome.details.signal.map(signal_name).unwrap_or_default();
    let signal = outcome.details.signal.map(|number| ExitSignal {
        number,
        name: &name,
        core_dump_possible: core_dump_possible(number),
    });
    let refused = outcome.rejected.as_ref().or(outcome.spawn_error.as_ref());
    let cause = match (refused, outcome.abort) {
        (Some(why), _) => Cause::NeverRan(why),
        (None, Some(AbortReason::Timeout)) => Cause::Timeout,
        (None, Some(AbortReason::User)) => Cause::Cancelled,
        (None, None) if outcome.details.out_of_memory => Cause::OutOfMemory,
        (None, None) => Cause::Itself,
    };
    explain(&Exit {
        code: outcome.code,
        signal,
        cause,
        denials: &outcome.details.sandbox_denials,
        wants_terminal: outcome.details.wants_terminal,
    })
}

/// One execution's output, as it is read.
struct Output {
    engine: Engine,
    caller: Caller,
    id: ShellId,
    deadline: Instant,
}

/// Bytes that a quota removed.
struct Hole {
    start: u64,
    end: u64,
}

impl Output {
    /// The text, and how many bytes are gone. Of the parts between two holes, the
    /// first and the last are shown.
    async fn read(&self, chars_max: usize) -> Result<(Page, u64), LookupError> {
        let (page, hole) = self.until_hole(0, None, chars_max).await?;
        let Some(first) = hole else {
            return Ok((page, 0));
        };
        let half = (chars_max / 2).saturating_sub(NOTICE_CHARS_MAX);
        let mut dropped = first.end - first.start;
        let mut at = first.end;
        let tail = loop {
            let (page, hole) = self.until_hole(at, None, half).await?;
            let Some(hole) = hole else { break page };
            dropped += hole.end - at;
            at = hole.end;
        };
        let (mut page, _) = self.until_hole(0, Some(first.start), half).await?;
        if !page.text.is_empty() && !page.text.ends_with('\n') {
            page.text.push('\n');
        }
        let start = first.start;
        let lost = format!("[... {dropped} bytes were not kept, offset={start}]\n");
        page.text.push_str(&lost);
        page.text.push_str(&tail.text);
        page.elisions.extend(tail.elisions);
        page.end = tail.end;
        Ok((page, dropped))
    }

    /// What stands from an offset to the next hole, or to `until`.
    async fn until_hole(
        &self,
        from: u64,
        until: Option<u64>,
        chars_max: usize,
    ) -> Result<(Page, Option<Hole>), LookupError> {
        let budget = Budget {
            chars_max,
            ..self.engine.text_budget().clone()
        };
        let mut compressor = Compressor::new(&budget, from);
        let mut at = from;
        loop {
            let most = until.map_or(PIECE_BYTES_MAX, |until| {
                until.saturating_sub(at).min(PIECE_BYTES_MAX)
            });
            if most == 0 {
                return Ok((compressor.finish(), None));
            }
            let (piece, start) = self.piece(at, most).await?;
            if start > at {
                let hole = Hole {
                    start: at,
                    end: start,
                };
                return Ok((compressor.finish(), Some(hole)));
            }
            if piece.bytes.is_empty() || Instant::now() > self.deadline {
                return Ok((compressor.finish(), None));
            }
            compressor.push(&piece.bytes);
            at = piece.next_offset;
        }
    }

    /// Adjacent bytes from an offset on, and where they begin: after it, where a
    /// quota removed something there.
    async fn piece(&self, offset: u64, max: u64) -> Result<(OutputPage, u64), LookupError> {
        let page = self.page(offset, max).await?;
        if page.dropped == 0 {
            return Ok((page, offset));
        }
        // The longest answer without a loss ends where the loss begins.
        let (mut whole, mut most) = (0, page.bytes.len() as u64);
        while whole < most {
            let middle = whole + (most - whole).div_ceil(2);
            if self.page(offset, middle).await?.dropped == 0 {
                whole = middle;
            } else {
                most = middle - 1;
            }
        }
        if whole > 0 {
            return Ok((self.page(offset, whole).await?, offset));
        }
        let start = offset + page.dropped;
        Ok((page, start))
    }

    async fn page(&self, offset: u64, max: u64) -> Result<OutputPage, LookupError> {
        let (caller, id) = (&self.caller, self.id);
        let read = self
            .engine
            .read_output(caller, id, Some(offset), max, Duration::ZERO);
        read.await
    }
}
