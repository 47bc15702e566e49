//! The steps of starting a child that can fail.

/// Where a launch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Making the process.
    Fork,
    /// Giving it its descriptors.
    Descriptors,
    /// Entering its directory.
    Directory,
    /// Executing its program.
    Execute,
    /// Limiting what it may use.
    Limits,
    /// Making its namespaces.
    Namespaces,
    /// Saying who it is in them.
    Identity,
    /// Raising its own loopback.
    Network,
    /// Making its root directory.
    Root,
    /// Making its `/proc`.
    Proc,
    /// Making its `/dev`.
    Devices,
    /// Placing one of the mounts of its walls.
    Mount,
    /// Finding something else at a mount than what was decided about.
    Changed,
    /// Giving up its privileges.
    Privileges,
    /// Entering its Landlock domain.
    Landlock,
    /// Filtering its system calls.
    Seccomp,
}

/// All of them, each at the place of its number; the first is number 1.
const ALL: [Stage; 16] = [
    Stage::Fork,
    Stage::Descriptors,
    Stage::Directory,
    Stage::Execute,
    Stage::Limits,
    Stage::Namespaces,
    Stage::Identity,
    Stage::Network,
    Stage::Root,
    Stage::Proc,
    Stage::Devices,
    Stage::Mount,
    Stage::Changed,
    Stage::Privileges,
    Stage::Landlock,
    Stage::Seccomp,
];

impl From<Stage> for u32 {
    fn from(stage: Stage) -> u32 {
        let place = ALL.iter().position(|other| *other == stage);
        place.map_or(0, |place| u32::try_from(place + 1).unwrap_or(0))
    }
}

impl Stage {
    /// The stage of this number; an unknown one is taken for the first.
    pub(crate) fn of_number(number: u32) -> Stage {
        let place = usize::try_from(number).unwrap_or(0).checked_sub(1);
        let stage = place.and_then(|place| ALL.get(place));
        stage.copied().unwrap_or(Stage::Fork)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_keeps_its_number() {
        for stage in ALL {
            assert_eq!(Stage::of_number(stage.into()), stage);
        }
        assert_eq!(u32::from(Stage::Execute), 4);
        assert_eq!(u32::from(Stage::Seccomp), 16);
        assert_eq!(Stage::of_number(0), Stage::Fork);
        assert_eq!(Stage::of_number(u32::MAX), Stage::Fork);
    }
}
