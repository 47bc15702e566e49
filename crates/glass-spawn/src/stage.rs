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
}

impl From<Stage> for u32 {
    fn from(stage: Stage) -> u32 {
        match stage {
            Stage::Fork => 1,
            Stage::Descriptors => 2,
            Stage::Directory => 3,
            Stage::Execute => 4,
        }
    }
}

impl Stage {
    /// The stage of this number; an unknown one is taken for the first.
    pub(crate) fn of_number(number: u32) -> Stage {
        match number {
            2 => Stage::Descriptors,
            3 => Stage::Directory,
            4 => Stage::Execute,
            _ => Stage::Fork,
        }
    }
}
