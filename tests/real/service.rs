//! The service, call by call, over the real program.

mod history;
mod idempotence;
mod library;
mod output;
mod queue;
mod reading;
mod receipts;
mod results;
mod sessions;
mod statuses;
