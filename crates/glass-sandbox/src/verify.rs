//! Whether a plan still holds.

use glass_model::Mount;

use crate::Plan;

/// What must happen before the next command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Masks to put (back) on in the living sandbox.
    pub cover: Vec<Mount>,
    /// Why covering does not help and the shell must be begun anew with a new
    /// plan, if so.
    pub rebuild: Option<String>,
}

/// Looks whether the masks of a plan still stand and whether there is
/// something new to hide.
pub fn verify(plan: &mut Plan) -> Verification {
    let _ = plan;
    Verification::default()
}
