//! Removes groups that keepers before us have left behind: one that was killed
//! could not, and nobody else ever does.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::CgroupRoot;

/// What every group of ours is called.
const NAME_PREFIX: &str = "shellglass-";

/// A younger group may be one that another keeper is about to fill.
const LEFT_AGE_MIN: Duration = Duration::from_secs(60 * 60);

/// How long is looked, at most. The rest is for the next keeper.
const SWEEP_WAIT: Duration = Duration::from_millis(500);

/// Removes old groups without processes beside which we could make ours; says how
/// many. The kernel does not remove one that has a process, whoever asks.
pub(crate) fn sweep() -> usize {
    CgroupRoot::find().map_or(0, |root| sweep_below(&root.0, SystemTime::now()))
}

fn sweep_below(root: &Path, now: SystemTime) -> usize {
    let until = Instant::now() + SWEEP_WAIT;
    let Ok(entries) = fs::read_dir(root) else {
        return 0;
    };
    let ours = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_str()
            .is_some_and(|name| name.starts_with(NAME_PREFIX))
    });
    let in_time = ours.take_while(|_| Instant::now() < until);
    let is_old = |path: &Path| {
        let made = fs::symlink_metadata(path).and_then(|meta| meta.modified());
        let age = made.ok().and_then(|made| now.duration_since(made).ok());
        age.is_some_and(|age| age >= LEFT_AGE_MIN)
    };
    in_time
        .filter(|entry| is_old(&entry.path()) && fs::remove_dir(entry.path()).is_ok())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_and_empty_groups_of_ours_are_removed() {
        // Directories stand for groups: the kernel keeps what is not empty, too.
        let home = tempfile::tempdir().expect("a directory");
        for name in ["shellglass-s-1", "shellglass-s-2/process", "others"] {
            fs::create_dir_all(home.path().join(name)).expect("made");
        }
        let left = || {
            let entries = fs::read_dir(home.path()).expect("it is there");
            let name = |entry: fs::DirEntry| entry.file_name().into_string();
            let mut names: Vec<String> = entries.flatten().flat_map(name).collect();
            names.sort();
            names
        };
        let now = SystemTime::now();
        assert_eq!(sweep_below(home.path(), now), 0, "they are young");
        assert_eq!(left().len(), 3);
        assert_eq!(sweep_below(home.path(), now + 2 * LEFT_AGE_MIN), 1);
        assert_eq!(left(), ["others", "shellglass-s-2"]);
    }
}
