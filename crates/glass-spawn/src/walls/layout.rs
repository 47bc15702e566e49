//! A plan of walls, checked and laid out before anything is forked. Pure.

use std::ffi::CString;

use glass_model::{FileId, Mount, View, WallBuild, Walls};

use crate::limits::{MOUNT_PATH_BYTES_MAX, MOUNTS_MAX};

/// Why walls cannot be built as they are planned.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LayoutError {
    #[error("there are {count} mounts, which is more than {MOUNTS_MAX}")]
    TooMany { count: usize },
    #[error("a mount's path is not absolute, plain and below the root: '{path}'")]
    Path { path: String },
    #[error("without namespaces nothing can be made of the wall at '{path}'")]
    NeedsNamespaces { path: String },
}

/// Walls that can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub build: WallBuild,
    pub network: bool,
    /// Whether nothing may come to be that git takes for a repository.
    pub refuses_repositories: bool,
    pub places: Vec<Place>,
}

/// One place of the file system inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Relative to the root.
    pub path: CString,
    pub look: Look,
    /// What must be found at its source.
    pub expected: Option<FileId>,
    /// Whether it lies right in a directory from elsewhere, where only a stand
    /// for it can be found.
    pub in_other: bool,
}

/// What a place is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The same place outside.
    Same { writable: bool },
    /// Another place outside, relative to the root, writable.
    Other { source: CString },
    /// Nothing that can be opened.
    Blank,
    /// A read-only directory of ours that later mounts are placed in; if it is
    /// not `listed`, only who knows their names finds them.
    Empty { listed: bool },
    /// A writable directory of ours.
    Scratch { bytes_max: u64 },
}

impl Plan {
    /// Checks and lays out walls.
    pub fn new(walls: Walls) -> Result<Plan, LayoutError> {
        if walls.mounts.len() > MOUNTS_MAX {
            return Err(LayoutError::TooMany {
                count: walls.mounts.len(),
            });
        }
        if walls.build == WallBuild::LandlockOnly {
            check_landlock_only(&walls.mounts)?;
        }
        let places = walls.mounts.iter().enumerate().map(|(at, mount)| {
            let (earlier, rest) = walls.mounts.split_at(at);
            let opened = rest.iter().any(|other| is_below(&other.path, &mount.path));
            let mut place = Place::new(mount, opened)?;
            place.in_other = is_in_other(&mount.path, earlier);
            Ok(place)
        });
        Ok(Plan {
            build: walls.build,
            network: walls.network,
            refuses_repositories: walls.refuses_repositories,
            places: places.collect::<Result<_, _>>()?,
        })
    }
}

impl Place {
    /// Lays out one mount; `opened` says that a later one is below it.
    pub fn new(mount: &Mount, opened: bool) -> Result<Place, LayoutError> {
        let look = match &mount.view {
            View::Writable => Look::Same { writable: true },
            View::ReadOnly => Look::Same { writable: false },
            View::Hidden if opened => Look::Empty { listed: false },
            View::Hidden => Look::Blank,
            View::Empty => Look::Empty { listed: true },
            View::Scratch { bytes_max } => Look::Scratch {
                bytes_max: *bytes_max,
            },
            View::Other { source } => Look::Other {
                source: relative(source)?,
            },
        };
        Ok(Place {
            path: relative(&mount.path)?,
            look,
            expected: mount.expected,
            in_other: false,
        })
    }
}

/// Whether the nearest of the earlier mounts above a path brings something
/// from elsewhere there.
fn is_in_other(path: &[u8], earlier: &[Mount]) -> bool {
    let above = earlier.iter().filter(|mount| is_below(path, &mount.path));
    let nearest = above.max_by_key(|mount| mount.path.len());
    nearest.is_some_and(|mount| matches!(mount.view, View::Other { .. }))
}

/// A path below the root without its slash, if it is an absolute one in which
/// every part is a name.
fn relative(path: &[u8]) -> Result<CString, LayoutError> {
    let wrong = || LayoutError::Path {
        path: String::from_utf8_lossy(path).into_owned(),
    };
    let below = path.strip_prefix(b"/").ok_or_else(wrong)?;
    let names = below.split(|&byte| byte == b'/');
    let plain = names
        .clone()
        .all(|name| !matches!(name, b"" | b"." | b".."));
    if !plain || path.len() > MOUNT_PATH_BYTES_MAX {
        return Err(wrong());
    }
    CString::new(below).map_err(|_| wrong())
}

/// Whether `path` is inside of the directory `above`, by its names.
fn is_below(path: &[u8], above: &[u8]) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// Landlock can open a tree for writing and leave everything else read-only.
/// It can take back nothing below, and make nothing disappear.
fn check_landlock_only(mounts: &[Mount]) -> Result<(), LayoutError> {
    let writable: Vec<&[u8]> = mounts
        .iter()
        .filter(|mount| mount.view == View::Writable)
        .map(|mount| mount.path.as_slice())
        .collect();
    let opened = |path: &[u8]| {
        let mut above = writable.iter();
        above.any(|above| path == *above || is_below(path, above))
    };
    let impossible = mounts.iter().find(|mount| match mount.view {
        View::Writable => false,
        View::ReadOnly => opened(&mount.path),
        _ => true,
    });
    match impossible {
        None => Ok(()),
        Some(mount) => Err(LayoutError::NeedsNamespaces {
            path: String::from_utf8_lossy(&mount.path).into_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(path: &str, view: View) -> Mount {
        Mount {
            path: path.into(),
            view,
            expected: None,
        }
    }

    fn plan(build: WallBuild, mounts: Vec<Mount>) -> Result<Plan, LayoutError> {
        Plan::new(Walls {
            build,
            mounts,
            network: false,
            refuses_repositories: false,
        })
    }

    #[test]
    fn a_path_is_absolute_and_plain() {
        let namespaces = |path: &str| {
            let mounts = vec![mount(path, View::ReadOnly)];
            plan(WallBuild::Namespaces, mounts).is_ok()
        };
        for good in ["/a", "/a/b c", "/a/..b", "/.a/...", "/ä"] {
            assert!(namespaces(good), "{good}");
        }
        let long = format!("/{}", "x".repeat(MOUNT_PATH_BYTES_MAX));
        for bad in [
            "", "/", "a", "//a", "/a/", "/a//b", "/.", "/..", "/a/..", "/a/../b", "/a/./b", "/a\0",
            &long,
        ] {
            assert!(!namespaces(bad), "{bad}");
        }
        let other = View::Other {
            source: b"../x".to_vec(),
        };
        assert!(plan(WallBuild::Namespaces, vec![mount("/tmp", other)]).is_err());
    }

    #[test]
    fn a_hidden_directory_with_something_shown_in_it_cannot_be_listed() {
        let hidden = |later: &str| {
            let mounts = vec![mount("/h", View::Hidden), mount(later, View::ReadOnly)];
            let plan = plan(WallBuild::Namespaces, mounts).expect("a plan");
            plan.places[0].look.clone()
        };
        assert_eq!(hidden("/h/a/b"), Look::Empty { listed: false });
        assert_eq!(hidden("/h"), Look::Blank);
        assert_eq!(hidden("/ha"), Look::Blank);
    }

    #[test]
    fn only_the_nearest_mount_says_what_a_place_lies_in() {
        let other = || View::Other {
            source: b"/private".to_vec(),
        };
        let mounts = vec![
            mount("/tmp", other()),
            mount("/tmp/ws", View::Writable),
            mount("/tmp/ws/.git", View::ReadOnly),
            mount("/tmpx", View::ReadOnly),
        ];
        let plan = plan(WallBuild::Namespaces, mounts).expect("a plan");
        let found: Vec<bool> = plan.places.iter().map(|place| place.in_other).collect();
        assert_eq!(found, [false, true, false, false]);
    }

    #[test]
    fn landlock_alone_takes_nothing_back() {
        let check = |mounts: Vec<Mount>| plan(WallBuild::LandlockOnly, mounts).is_ok();
        assert!(check(vec![]));
        assert!(check(vec![
            mount("/ws", View::Writable),
            mount("/ws2", View::ReadOnly)
        ]));
        for view in [
            View::Hidden,
            View::Empty,
            View::Scratch { bytes_max: 1 },
            View::Other {
                source: b"/x".to_vec(),
            },
        ] {
            assert!(!check(vec![mount("/ws", view)]));
        }
        let ws = || mount("/ws", View::Writable);
        assert!(!check(vec![ws(), mount("/ws/.git", View::ReadOnly)]));
        assert!(!check(vec![mount("/ws/.git", View::ReadOnly), ws()]));
    }

    #[test]
    fn too_many_mounts_are_refused() {
        let mounts = vec![mount("/a", View::ReadOnly); MOUNTS_MAX + 1];
        let refused = plan(WallBuild::Namespaces, mounts);
        assert_eq!(
            refused,
            Err(LayoutError::TooMany {
                count: MOUNTS_MAX + 1
            })
        );
    }
}
