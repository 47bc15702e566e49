//! `hosts`: where sessions can be.

use crate::cli::Hosts;
use crate::client::{Context, connect};
use crate::error::Failure;
use crate::stdout;
use glass_proto::json;
use glass_proto::shellglass::v1::{Empty, HostInfo};
use std::process::ExitCode;

/// Lists them.
pub(super) async fn hosts(arguments: &Hosts) -> Result<ExitCode, Failure> {
    let context = Context::load()?;
    let mut client = connect(&context).await?;
    let answer = client.get_capabilities(Empty {}).await?.into_inner();
    if arguments.json {
        stdout::print_json(&json::value(&answer)["hostDetails"])?;
    } else {
        stdout::print(&answer.host_details.iter().map(line).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One host on one line.
fn line(host: &HostInfo) -> String {
    let mut line = format!("{:<16}  {:<4}", host.name, host.state);
    if !host.address.is_empty() {
        line += &format!("  agents: {:<5}  {}", host.agents, host.address);
    }
    if !host.problem.is_empty() {
        line += &format!("  ({})", host.problem);
    }
    format!("{}\n", line.trim_end())
}
