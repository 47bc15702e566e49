//! The command line, as people and scripts use it.

mod daemon;
mod doctor;
mod inherited;
mod others;
mod run;
mod stopping;
