//! What makes two sandboxes the same.

use std::path::Path;

use crate::{Effective, Facts, Workspace};

/// Everything that makes two plans need different shells, as one text. It is
/// compared whole: a hash could be made to collide by whoever chooses paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlanKey(String);

impl PlanKey {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key of the plan that [`plan`](crate::plan) would make; cheap.
pub fn key(effective: &Effective, workspace: &Workspace, facts: &Facts) -> PlanKey {
    let policy = &effective.policy;
    let lists = (
        paths(&effective.readwrite),
        paths(&effective.readonly),
        workspace.path(),
        workspace.root.id,
    );
    PlanKey(format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {lists:?}",
        policy.kind,
        policy.network_access,
        policy.disable_tmp_write,
        effective.git,
        policy.ignore_mapping_json,
        facts.build,
        facts.shown,
    ))
}

fn paths(places: &[crate::Place]) -> Vec<(&Path, glass_model::FileId)> {
    places
        .iter()
        .map(|place| (place.path.as_path(), place.id))
        .collect()
}
