//! The page's server: what it shows, and whom it refuses.

mod api;
mod events;
mod glass;
mod guard;
mod mirror;
mod reading;
mod stalled;
mod views;
