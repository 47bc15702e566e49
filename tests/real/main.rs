//! The real program with real shells on a real kernel.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failing test panics")]

mod basics;
mod exact;
mod service;
mod cancel;
mod keeper;
mod left_behind;
mod matrix;
mod forge;
mod shells;
