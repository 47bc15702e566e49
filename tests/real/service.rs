//! The service, call by call, over the real program.

mod history;
mod idempotence;
mod output;
mod queue;
mod reading;
mod results;
mod sessions;
