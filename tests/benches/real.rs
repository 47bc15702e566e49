//! What the program costs, each time beside a baseline of the same run:
//! `make bench`. Ratios are what counts; the machine is whatever it is.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints and may panic"
)]

#[path = "real/counts.rs"]
mod counts;
#[path = "real/latency.rs"]
mod latency;
#[path = "real/mcp.rs"]
mod mcp;
#[path = "real/memory.rs"]
mod memory;
#[path = "real/sandbox.rs"]
mod sandbox;
#[path = "real/table.rs"]
mod table;
#[path = "real/terminal.rs"]
mod terminal;
#[path = "real/throughput.rs"]
mod throughput;

use table::Table;

fn main() {
    let only: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|word| name.contains(word));
    // A client that hands nothing from thread to thread: what is measured is
    // the daemon, not the client's scheduler.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut table = Table::default();
    if wanted("latency") {
        runtime.block_on(latency::measure(&mut table));
    }
    if wanted("cli") {
        latency::measure_command_line(&mut table);
    }
    if wanted("mcp") {
        runtime.block_on(mcp::measure(&mut table));
    }
    if wanted("sandbox") {
        runtime.block_on(sandbox::measure(&mut table));
    }
    if wanted("throughput") {
        runtime.block_on(throughput::measure(&mut table));
    }
    if wanted("terminal") {
        runtime.block_on(terminal::measure(&mut table));
    }
    if wanted("memory") {
        runtime.block_on(memory::measure(&mut table));
    }
    table.print();
}
