//! Plans over real files and real repositories. `git` makes the repositories;
//! the planner only reads them.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failing test panics")]

mod denial;
mod fixture;
mod git;
mod ignored;
mod laws;
mod places;
mod rights;
mod verify;
