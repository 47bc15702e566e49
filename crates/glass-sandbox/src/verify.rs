//! Whether a plan still holds.
//!
//! A mask on a file is undone when somebody outside renames another file over
//! it, which is how git and editors save. So before each command every mask
//! is compared with what is there: one call to the kernel for each.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use glass_model::{FileId, Mount, View, WallBuild};
use rustix::fs::{AtFlags, StatxFlags};

use crate::bell::{Bell, Rings};
use crate::draft::Draft;
use crate::git::{Relevant, relevant};
use crate::ignored::Scan;
use crate::layout::{Entry, Layout, Why};
use crate::place::{Place, file_id};
use crate::{Plan, sockets};

/// How often is looked for sockets and secrets that are new.
const NEW_PLACES_EVERY: Duration = Duration::from_secs(1);

/// What must happen before the next command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Masks to put (back) on in the living sandbox.
    pub cover: Vec<Mount>,
    /// Why covering does not help and the shell must be begun anew with a new
    /// plan, if so.
    pub rebuild: Option<String>,
}

/// What a plan has to look at again.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    masks: Vec<Mask>,
    scan: Option<Scan>,
    git_configs: Vec<Config>,
    ignore_list: Option<(PathBuf, ListStamp)>,
    /// Secrets that were not there when it was planned.
    absent: Vec<PathBuf>,
    looked_for_new: Option<Instant>,
    bell: Option<MaskBell>,
}

/// Tells whether any mask has to be looked at. It does not ring for what
/// happened before it hung, so the first look is at everything.
#[derive(Debug)]
struct MaskBell {
    bell: Bell,
    /// The masks, the configurations, and everything on the way to them.
    places: HashSet<PathBuf>,
    /// Whether it has rung, or nobody has looked yet.
    has_rung: bool,
}

impl MaskBell {
    fn new(masks: &[Mask], configs: &[(PathBuf, Relevant)]) -> Option<MaskBell> {
        let mut hung = MaskBell {
            bell: Bell::new(Rings::OnContents)?,
            places: HashSet::new(),
            has_rung: true,
        };
        let masks = masks.iter().map(|mask| mask.path.as_path());
        let configs = configs.iter().map(|(path, _)| path.as_path());
        let configs = configs.filter(|path| path.parent().is_some_and(Path::is_dir));
        masks
            .chain(configs)
            .all(|path| hung.add(path))
            .then_some(hung)
    }

    /// Listens for one more place. False if that is not possible.
    fn add(&mut self, path: &Path) -> bool {
        for at in path.ancestors() {
            if !self.places.insert(at.to_path_buf()) {
                return true;
            }
            if at.parent().is_some_and(|above| !self.bell.watch(above)) {
                return false;
            }
        }
        true
    }

    /// Whether nothing has happened since somebody looked.
    fn is_quiet(&mut self) -> bool {
        self.has_rung |= self.bell.concerns(&self.places);
        !self.has_rung
    }

    /// The same, and whoever asks looks now.
    fn was_quiet(&mut self) -> bool {
        let quiet = self.is_quiet();
        self.has_rung = false;
        quiet
    }
}

/// One place that looks different inside.
#[derive(Debug)]
struct Mask {
    /// For the kernel, so that looking needs no allocation.
    name: CString,
    path: PathBuf,
    id: FileId,
    birth: Option<Birth>,
    view: View,
    why: Why,
}

/// Which file something is, and when it came to be. The number alone is not
/// enough: a file that is removed and made again often gets the same one.
type Birth = (FileId, i64, u32);

/// A configuration of git that the plan depends on.
#[derive(Debug)]
struct Config {
    path: PathBuf,
    stamp: ListStamp,
    known: Relevant,
}

impl Config {
    fn new((path, known): &(PathBuf, Relevant)) -> Config {
        Config {
            path: path.clone(),
            // Not known, so that the first look reads it again.
            stamp: None,
            known: known.clone(),
        }
    }
}

/// What of a file changes when its text does.
type ListStamp = Option<(FileId, u64, i64, i64)>;

impl Watch {
    pub(crate) fn new(draft: &Draft<'_>, scan: Option<Scan>) -> Watch {
        let list = draft.workspace.path().join(crate::ignored::IGNORE_FILE);
        let settings = draft.settings;
        let absent = settings.paths(&settings.hidden);
        let masks: Vec<Mask> = draft.layout.iter().filter_map(Mask::new).collect();
        let has_walls = draft.layout.len() > 0;
        let bell = has_walls.then(|| MaskBell::new(&masks, &draft.git_configs));
        Watch {
            bell: bell.flatten(),
            masks,
            scan,
            git_configs: draft.git_configs.iter().map(Config::new).collect(),
            ignore_list: Some((list.clone(), list_stamp(&list))),
            absent: absent
                .into_iter()
                .filter(|path| path.symlink_metadata().is_err())
                .collect(),
            looked_for_new: Some(Instant::now()),
        }
    }
}

impl Mask {
    fn new((path, entry): (&Path, &Entry)) -> Option<Mask> {
        let name = CString::new(path.as_os_str().as_bytes()).ok()?;
        let id = entry.id?;
        Some(Mask {
            // What changed while it was planned is found at once.
            birth: birth(&name).filter(|birth| birth.0 == id),
            name,
            path: path.to_path_buf(),
            id,
            view: entry.view.clone(),
            why: entry.why,
        })
    }
}

/// Whether there is nothing to verify. Costs next to nothing, while to look at
/// what has changed takes as long as the file system does.
pub fn is_settled(plan: &mut Plan) -> bool {
    let Some(walls) = &plan.walls else {
        return true;
    };
    let watch = &mut plan.watch;
    let has_masks = walls.build == WallBuild::Namespaces;
    let list = watch.ignore_list.as_ref();
    (!has_masks || watch.bell.as_mut().is_some_and(MaskBell::is_quiet))
        && watch.scan.as_ref().is_none_or(Scan::is_silent)
        && list.is_none_or(|(path, known)| list_stamp(path) == *known)
        && !is_due(watch.looked_for_new, Instant::now())
}

/// Whether it is time to look for new places.
fn is_due(looked: Option<Instant>, now: Instant) -> bool {
    looked.is_none_or(|then| now.duration_since(then) >= NEW_PLACES_EVERY)
}

/// Looks whether the masks of a plan still stand and whether there is
/// something new to hide. May take its time; see [`is_settled`].
pub fn verify(plan: &mut Plan) -> Verification {
    let mut found = Verification::default();
    let Some(walls) = &plan.walls else {
        return found;
    };
    // Without namespaces there are no masks: what a path is does not matter to
    // the right to read it, and sockets cannot be connected to at all.
    let has_masks = walls.build == WallBuild::Namespaces;
    let bell = plan.watch.bell.as_mut();
    if has_masks && !bell.is_some_and(MaskBell::was_quiet) {
        check_masks(&mut plan.watch, &mut found);
    }
    if found.rebuild.is_none() {
        check_ignored(plan, &mut found);
    }
    if found.rebuild.is_none() {
        check_new_places(plan, has_masks, &mut found);
    }
    found
}

fn check_masks(watch: &mut Watch, found: &mut Verification) {
    let mut gone = Vec::new();
    for (at, mask) in watch.masks.iter_mut().enumerate() {
        let now = birth(&mask.name);
        if now.is_some() && now == mask.birth {
            continue;
        }
        mask.birth = now;
        match undone(mask) {
            Undone::Cover(mount, id) => {
                mask.id = id;
                found.cover.push(mount);
            }
            Undone::Gone => gone.push(at),
            Undone::Rebuild => {
                found.rebuild = Some(format!("{} has changed outside", mask.path.display()));
                return;
            }
        }
    }
    for at in gone.into_iter().rev() {
        let mask = watch.masks.swap_remove(at);
        if let Some(scan) = &mut watch.scan {
            scan.forget(&mask.path);
        }
        if mask.why == Why::Secret {
            watch.absent.push(mask.path);
        }
    }
    check_configs(watch, found);
}

enum Undone {
    /// It can be masked again.
    Cover(Mount, FileId),
    /// There is nothing left to mask.
    Gone,
    /// Only a new plan helps.
    Rebuild,
}

fn undone(mask: &Mask) -> Undone {
    let hidden = mask.view == View::Hidden;
    if !hidden && mask.view != View::ReadOnly {
        return Undone::Rebuild;
    }
    if matches!(mask.why, Why::Workspace | Why::Shown | Why::Own) {
        return Undone::Rebuild;
    }
    match Place::at(&mask.path) {
        Ok(place) => {
            let mount = Mount {
                path: mask.path.as_os_str().as_bytes().to_vec(),
                view: mask.view.clone(),
                expected: Some(place.id),
            };
            Undone::Cover(mount, place.id)
        }
        // A file that is gone can be made again, by a command as well; that
        // matters only where it would be believed.
        Err(error) if hidden && error.kind() == std::io::ErrorKind::NotFound => Undone::Gone,
        Err(_) => Undone::Rebuild,
    }
}

/// A configuration that says something else may name other hooks.
fn check_configs(watch: &mut Watch, found: &mut Verification) {
    for config in &mut watch.git_configs {
        let now = list_stamp(&config.path);
        if now == config.stamp {
            continue;
        }
        config.stamp = now;
        if relevant(&config.path) != config.known {
            let path = config.path.display();
            found.rebuild = Some(format!("{path} names other paths now"));
        }
    }
}

fn check_ignored(plan: &mut Plan, found: &mut Verification) {
    if let Some((path, known)) = &plan.watch.ignore_list
        && list_stamp(path) != *known
    {
        found.rebuild = Some(format!("{} has changed", path.display()));
        return;
    }
    let Some(scan) = &mut plan.watch.scan else {
        return;
    };
    match scan.go_on() {
        Ok(places) => hide(
            &mut plan.layout,
            &mut plan.watch,
            &places,
            Why::Ignored,
            found,
        ),
        Err(refusal) => found.rebuild = Some(refusal.to_string()),
    }
}

fn check_new_places(plan: &mut Plan, has_masks: bool, found: &mut Verification) {
    let now = Instant::now();
    let watch = &mut plan.watch;
    if !is_due(watch.looked_for_new, now) {
        return;
    }
    watch.looked_for_new = Some(now);
    if has_masks {
        match sockets::visible(&plan.layout) {
            Ok(places) => hide(&mut plan.layout, watch, &places, Why::Socket, found),
            Err(refusal) => found.rebuild = Some(refusal.to_string()),
        }
    }
    let (new, absent) = std::mem::take(&mut watch.absent)
        .into_iter()
        .partition(|path| path.symlink_metadata().is_ok());
    watch.absent = absent;
    let new: Vec<PathBuf> = new;
    let new: Vec<Place> = new
        .iter()
        .filter_map(|path| Place::resolve(path).ok())
        .collect();
    hide(&mut plan.layout, watch, &new, Why::Secret, found);
}

/// Hides places that are new. Where that needs directories pinned that are
/// not, only a new plan does it.
fn hide(
    layout: &mut Layout,
    watch: &mut Watch,
    places: &[Place],
    why: Why,
    found: &mut Verification,
) {
    for place in places {
        let is_known = |mask: &Mask| mask.path == place.path && mask.id == place.id;
        if watch.masks.iter().any(is_known) {
            continue;
        }
        let new = usize::from(layout.at(&place.path).is_none());
        let before = layout.len();
        layout.hide(place, why);
        if layout.at(&place.path).is_none_or(|entry| entry.why != why) {
            continue;
        }
        if layout.len() > before + new {
            found.rebuild = Some(format!("{} is to be hidden", place.path.display()));
            return;
        }
        let Ok(name) = CString::new(place.path.as_os_str().as_bytes()) else {
            continue;
        };
        found.cover.push(Mount {
            path: name.as_bytes().to_vec(),
            view: View::Hidden,
            expected: Some(place.id),
        });
        if watch
            .bell
            .as_mut()
            .is_some_and(|bell| !bell.add(&place.path))
        {
            watch.bell = None;
        }
        watch.masks.retain(|mask| mask.path != place.path);
        watch.masks.push(Mask {
            birth: birth(&name),
            name,
            path: place.path.clone(),
            id: place.id,
            view: View::Hidden,
            why,
        });
    }
}

fn birth(name: &CStr) -> Option<Birth> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    let found = rustix::fs::statx(rustix::fs::CWD, name, flags, wanted).ok()?;
    let id = FileId {
        device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
    };
    // Where a file system does not tell, the times are zero, and the number
    // has to do.
    Some((id, found.stx_btime.tv_sec, found.stx_btime.tv_nsec))
}

fn list_stamp(path: &Path) -> ListStamp {
    use std::os::unix::fs::MetadataExt;
    let found = path.symlink_metadata().ok()?;
    // A directory is our own placeholder; which one does not matter.
    (!found.is_dir()).then(|| {
        (
            file_id(&found),
            found.len(),
            found.ctime(),
            found.ctime_nsec(),
        )
    })
}
