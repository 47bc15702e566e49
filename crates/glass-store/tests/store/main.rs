//! The store, driven as its users drive it: real files, real pipes, real
//! crashes, a really full disk.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod audit;
mod child;
mod crash;
mod damage;
mod disk;
mod fixture;
mod journal;
mod opening;
mod output;
mod retention;
mod trim;
