//! The daemon itself: journal, keeper, sessions, service.

use super::plan::Plan;
use crate::error::{Failure, Kind};

/// Serves until it is told to stop; `announce` is called when it is ready.
pub(super) async fn run(
    plan: &Plan,
    announce: impl FnOnce(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let _ = (
        plan.mode(),
        plan.startup(),
        plan.uses_cgroups(),
        plan.keeper_socket(),
        plan.pid_file(),
    );
    let _ = announce;
    Err(Failure::new(Kind::Broken, "not yet"))
}
