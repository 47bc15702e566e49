//! The command line, as people and scripts use it.

mod daemon;
mod doctor;
mod inherited;
mod log;
mod others;
mod run;
mod stopping;
mod systemd;
