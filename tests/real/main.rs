//! The real program with real shells on a real kernel.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failing test panics")]

mod adapters;
mod approvals;
mod audit;
mod background;
mod bad_input;
mod basics;
mod cancel;
mod cli;
mod crash;
mod documents;
mod exact;
mod filters;
mod forge;
mod hooks;
mod hosts;
mod journal;
mod keeper;
mod left_behind;
mod matrix;
mod mcp_lines;
mod outputs;
mod page;
mod platforms;
mod policy;
mod redaction;
mod roles;
mod sandbox;
mod service;
mod shells;
mod terminals;
