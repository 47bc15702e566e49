//! Turns terminal bytes into markers and text, and events back into terminal
//! bytes.
//!
//! Everything here is sans-IO: bytes come in by reference, in pieces of any
//! size, and what they mean comes out. Invariants: where the pieces are cut
//! changes nothing; what is held between two pieces is bounded by a named
//! constant; and nothing fails, because whatever a program prints is an
//! ordinary input.
#![forbid(unsafe_code)]

pub mod console;
mod control;
#[cfg(test)]
mod corpus;
pub mod escape;
pub mod exit;
pub mod fence;
pub mod marker;
pub mod mirror;
pub mod screen;
pub mod sieve;
pub mod strip;
pub mod text;

pub use marker::{Body, Confidence, Marker, MarkerScanner, Nonce, Protocol, Trust};
