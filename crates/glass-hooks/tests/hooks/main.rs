//! Hooks as real programs: what they answer, how they fail, and that nothing
//! of them is left.

mod ending;
mod failing;
mod fixture;
mod judging;
mod limits;
