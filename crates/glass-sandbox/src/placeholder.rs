//! Things made so that a mask has something to stand on.

use std::path::PathBuf;

use glass_model::FileId;

/// Something that we made where there was nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Where it is.
    pub path: PathBuf,
    /// Which file it is.
    pub id: FileId,
}

impl Placeholder {
    /// Takes it away again, if it still is what we made.
    pub fn remove(&self) {}
}
