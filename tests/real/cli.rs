//! The command line, as people and scripts use it.

mod clients;
mod daemon;
mod others;
mod run;
mod stopping;
