//! `output`: what an execution wrote.

use crate::cli::Output;
use crate::client::{Client, Context, connect};
use crate::error::Failure;
use crate::stdout::{self, Reader};
use glass_proto::shellglass::v1::{ReadOutputRequest, ReadOutputResponse};
use std::process::ExitCode;

/// Bytes asked for at once.
const READ_BYTES_MAX: u64 = 1 << 20;

/// How long one call waits for something new.
const FOLLOW_WAIT_MS: u32 = 10_000;

/// Prints the output from an offset on.
pub(super) async fn output(arguments: &Output) -> Result<ExitCode, Failure> {
    let mut client = connect(&Context::load()?).await?;
    let mut offset = arguments.offset;
    loop {
        let answer = read(&mut client, arguments, offset).await?;
        if answer.dropped_bytes > 0 {
            eprintln!(
                "shellglass: {} bytes were not kept here",
                answer.dropped_bytes
            );
        }
        let bytes = answer.raw.as_deref().unwrap_or(answer.output.as_bytes());
        if stdout::write(bytes)? == Reader::Gone {
            break;
        }
        let moved = answer.next_offset > offset;
        offset = answer.next_offset;
        let may_grow = arguments.follow && answer.running;
        if !moved && !may_grow {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn read(
    client: &mut Client,
    arguments: &Output,
    offset: u64,
) -> Result<ReadOutputResponse, Failure> {
    let request = ReadOutputRequest {
        shell_id: arguments.shell_id,
        offset: Some(offset),
        max_bytes: READ_BYTES_MAX,
        wait_ms: if arguments.follow { FOLLOW_WAIT_MS } else { 0 },
    };
    Ok(client.read_output(request).await?.into_inner())
}
