//! Builds walls of namespaces around this process, step by step.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::Mode;
use rustix::io::{Errno, Result};
use rustix::mount::{
    FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_set_string, fsopen,
    move_mount, unmount,
};

use super::devices::Devices;
use super::furniture::{Furniture, Kind, attach, change, mount_new};
use super::landlock::Rules;
use super::layout::{Look, Place, Plan};
use super::tree::{Copier, Tree};
use super::users::Users;
use super::{At, Failure, devices, handover, identity, place, wall_is_off};
use crate::stage::Stage;
use crate::sys::kernel::{self, Change, NO_DEVICES, NO_SUID, READ_ONLY, Reach};

/// The least that a scratch directory holds: a limit of 0 would be none.
const SCRATCH_BYTES_MIN: u64 = 4096;

/// How often something is found anew that was replaced while it was hidden.
const HIDE_ATTEMPTS_MAX: u32 = 64;

/// What no mount inside may give.
const NEVER: u64 = NO_SUID | NO_DEVICES;

/// In `/proc`: what tells of the machine or of other processes, and what acts.
const PROC_HIDDEN: [&CStr; 16] = [
    c"proc/acpi",
    c"proc/asound",
    c"proc/bus",
    c"proc/kcore",
    c"proc/keys",
    c"proc/kmsg",
    c"proc/kpagecgroup",
    c"proc/kpagecount",
    c"proc/kpageflags",
    c"proc/latency_stats",
    c"proc/sched_debug",
    c"proc/scsi",
    c"proc/slabinfo",
    c"proc/sysrq-trigger",
    c"proc/timer_list",
    c"proc/vmallocinfo",
];

/// In `/sys`: what shows the whole kernel at work, to who is its root.
const SYS_HIDDEN: [&CStr; 7] = [
    c"sys/firmware",
    c"sys/fs/bpf",
    c"sys/fs/pstore",
    c"sys/kernel/debug",
    c"sys/kernel/security",
    c"sys/kernel/tracing",
    c"sys/devices/virtual/powercap",
];

/// A place whose source was opened before anything was covered.
struct Opened {
    tree: Option<Tree>,
    kind: Kind,
    same: Option<glass_model::FileId>,
}

/// Everything of the host's that walls are built of.
struct Sources {
    root: Tree,
    devices: Devices,
    /// None for what is hidden, which is whatever is there by then.
    places: Vec<Option<Opened>>,
}

/// The host's own, before it is given up.
pub(crate) struct Materials(Sources);

/// Opens everything as the host's root, for walls behind which root is
/// `users`. Nothing where that cannot be done with these file systems.
pub(crate) fn gather(plan: &Plan, users: &Users) -> Option<Materials> {
    let copier = Copier::each(users.mounts.as_fd()).ok()?;
    open_all(plan, &copier).ok().map(Materials)
}

/// Leaves for new namespaces, as one of `users` if they are given.
pub(crate) fn separate(plan: &Plan, users: Option<&Users>) -> std::result::Result<(), Failure> {
    let network = plan.network || wall_is_off("network");
    identity::separate(network, users)
}

/// Builds the file system inside, tells init with what it can cover more of
/// it, and gives the rules that the shell has to enter. `terminals` are
/// descriptors of the program that must stay writable by name.
pub(crate) fn raise(
    plan: &Plan,
    materials: Option<Materials>,
    init: BorrowedFd<'_>,
    terminals: &[BorrowedFd<'_>],
) -> std::result::Result<Rules, Failure> {
    let umask = rustix::process::umask(Mode::empty());
    let mut rules = Rules::new().at(Stage::Landlock)?;
    let sources = match materials {
        Some(Materials(sources)) => sources,
        None => {
            privatise().at(Stage::Root)?;
            open_all(plan, &Copier::Whole)?
        }
    };
    // Now, because the kernel gives a new /proc only to who sees an old one.
    let proc = handover::receive(init).at(Stage::Proc)?;
    let tree = change_root(sources.root).at(Stage::Root)?;
    let root = place::root().at(Stage::Root)?;
    let mut furniture = furnish(root.as_fd(), tree, proc, sources.devices, &mut rules)?;
    place_all(
        root.as_fd(),
        &plan.places,
        sources.places,
        &mut furniture,
        &mut rules,
    )?;
    for terminal in terminals {
        rules.allow_terminal(*terminal).at(Stage::Landlock)?;
    }
    rustix::process::umask(umask);
    handover::send(init, Ok(furniture.as_fd())).at(Stage::Namespaces)?;
    Ok(rules)
}

fn open_all(plan: &Plan, copier: &Copier) -> std::result::Result<Sources, Failure> {
    let host = place::root().at(Stage::Root)?;
    Ok(Sources {
        root: copier.copy(host.as_fd(), c"").at(Stage::Root)?,
        devices: Devices::open(host.as_fd(), copier).at(Stage::Devices)?,
        places: open_sources(host.as_fd(), &plan.places, copier)?,
    })
}

/// Keeps what is mounted outside later from appearing inside.
pub(super) fn privatise() -> Result<()> {
    let change = Change {
        private: true,
        ..Change::default()
    };
    kernel::change_mount(place::root()?.as_fd(), Reach::Below, change)
}

fn open_sources(
    host: BorrowedFd<'_>,
    places: &[Place],
    copier: &Copier,
) -> std::result::Result<Vec<Option<Opened>>, Failure> {
    let opened = places.iter().zip(1u32..).map(|(place, detail)| {
        let in_detail = |failure: Failure| Failure { detail, ..failure };
        open_source(host, place, copier).map_err(in_detail)
    });
    opened.collect()
}

fn open_source(
    host: BorrowedFd<'_>,
    place: &Place,
    copier: &Copier,
) -> std::result::Result<Option<Opened>, Failure> {
    if place.look == Look::Blank {
        return Ok(None);
    }
    let path = match &place.look {
        Look::Other { source } => source,
        _ => &place.path,
    };
    let source = place::find(host, path);
    // A place that only exists in a directory of ours is made there.
    let ours = matches!(place.look, Look::Empty { .. } | Look::Scratch { .. });
    if ours && place.expected.is_none() && matches!(source, Err(Errno::NOENT)) {
        return Ok(Some(Opened {
            tree: None,
            kind: Kind::Directory,
            same: None,
        }));
    }
    let source = source.at(Stage::Mount)?;
    let stat = rustix::fs::fstat(&source).at(Stage::Mount)?;
    let id = place::identity(&stat);
    if place.expected.is_some_and(|expected| expected != id) {
        return Err(Errno::STALE).at(Stage::Changed);
    }
    let kind = place::kind(&stat);
    let (tree, same) = match place.look {
        Look::Same { .. } => (Some(copier.copy(source.as_fd(), path)), Some(id)),
        Look::Other { .. } => (Some(copier.copy(source.as_fd(), path)), None),
        Look::Blank => (None, None),
        Look::Empty { .. } | Look::Scratch { .. } if kind == Kind::File => {
            return Err(Errno::NOTDIR).at(Stage::Mount);
        }
        Look::Empty { .. } | Look::Scratch { .. } => (None, None),
    };
    Ok(Some(Opened {
        tree: tree.transpose().at(Stage::Mount)?,
        kind,
        same,
    }))
}

/// Makes a copy of the host's tree, read-only, the root of this process.
pub(super) fn change_root(root: Tree) -> Result<Tree> {
    let host = place::root()?;
    let read_only = if wall_is_off("mounts") { 0 } else { READ_ONLY };
    root.restrict(read_only | NEVER)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(root.as_fd(), "", &host, ".", flags)?;
    rustix::process::fchdir(root.as_fd())?;
    // With both the same, the old root lies on top of the new one for a
    // moment, and is the one that `.` then names.
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")?;
    Ok(root)
}

/// Makes `/proc` and `/dev`, and hides what is dangerous in `/sys`.
fn furnish(
    root: BorrowedFd<'_>,
    tree: Tree,
    proc: OwnedFd,
    devices: Devices,
    rules: &mut Rules,
) -> std::result::Result<Furniture, Failure> {
    let place = place::find(root, c"proc").at(Stage::Proc)?;
    let mut furniture = Furniture::set_up(place.as_fd()).at(Stage::Proc)?;
    tree.complete(&furniture).at(Stage::Root)?;
    let place = place::find(root, c"proc").at(Stage::Proc)?;
    attach(proc.as_fd(), place.as_fd()).at(Stage::Proc)?;
    for path in PROC_HIDDEN {
        hide_if_there(root, path, &furniture).at(Stage::Proc)?;
    }
    for path in SYS_HIDDEN {
        hide_if_there(root, path, &furniture).at(Stage::Mount)?;
    }
    devices::furnish(root, devices, &mut furniture, rules).at(Stage::Devices)?;
    Ok(furniture)
}

/// A `/proc` of the PID namespace that this process is in. Nothing in it can
/// be written: what a process may change of itself there is not worth what
/// else is there.
pub(super) fn make_proc() -> Result<OwnedFd> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    mount_new(context, attributes)
}

/// Hides what is at a place, if there is something: what has gone since it was
/// decided to hide it, such as a socket whose server ended, needs no hiding.
/// What takes its place meanwhile, as when an editor saves, is hidden instead.
fn hide_whatever(root: BorrowedFd<'_>, path: &CStr, furniture: &Furniture) -> Result<()> {
    for _ in 0..HIDE_ATTEMPTS_MAX {
        let place = match place::find(root, path) {
            // Where even we may not go, in a directory of another user, nobody
            // inside may.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
            found => found?,
        };
        let kind = place::kind(&rustix::fs::fstat(&place)?);
        match attach(furniture.blank(kind)?.as_fd(), place.as_fd()) {
            Err(Errno::NOENT) => {}
            attached => return attached,
        }
    }
    Err(Errno::BUSY)
}

fn hide_if_there(root: BorrowedFd<'_>, path: &CStr, furniture: &Furniture) -> Result<()> {
    let place = match place::find(root, path) {
        Ok(place) => place,
        Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    let kind = place::kind(&rustix::fs::fstat(&place)?);
    attach(furniture.blank(kind)?.as_fd(), place.as_fd())
}

fn place_all(
    root: BorrowedFd<'_>,
    places: &[Place],
    opened: Vec<Option<Opened>>,
    furniture: &mut Furniture,
    rules: &mut Rules,
) -> std::result::Result<(), Failure> {
    let mut own = vec![furniture.device().at(Stage::Mount)?];
    let mut unsealed = Vec::new();
    for ((place, opened), detail) in places.iter().zip(opened).zip(1u32..) {
        let at = |errno: Errno, stage: Stage| Failure {
            stage,
            errno,
            detail,
        };
        let Some(opened) = opened else {
            hide_whatever(root, &place.path, furniture).map_err(|e| at(e, Stage::Mount))?;
            continue;
        };
        let target = place::find_or_make(root, &place.path, opened.kind, &own)
            .map_err(|errno| at(errno, Stage::Mount))?;
        let found = rustix::fs::fstat(&target).map_err(|errno| at(errno, Stage::Mount))?;
        // What is covered must be what was decided about, unless it is a
        // place that was made for it, by us or in a directory from elsewhere.
        let moved = opened.same.is_some_and(|id| id != place::identity(&found));
        if moved && !own.contains(&found.st_dev) && !place.in_other {
            return Err(at(Errno::STALE, Stage::Changed));
        }
        let mount = make_mount(place, opened, furniture).map_err(|e| at(e, Stage::Mount))?;
        attach(mount.as_fd(), target.as_fd()).map_err(|errno| at(errno, Stage::Mount))?;
        let mount = mount
            .complete(furniture)
            .map_err(|errno| at(errno, Stage::Mount))?;
        match place.look {
            Look::Scratch { .. } => {
                let stat = rustix::fs::fstat(&mount).map_err(|errno| at(errno, Stage::Mount))?;
                own.push(stat.st_dev);
                rules
                    .allow_writing(mount.as_fd())
                    .map_err(|e| at(e, Stage::Landlock))?;
            }
            Look::Other { .. } | Look::Same { writable: true } => {
                rules
                    .allow_writing(mount.as_fd())
                    .map_err(|e| at(e, Stage::Landlock))?;
            }
            Look::Empty { .. } => unsealed.push(mount),
            Look::Blank | Look::Same { writable: false } => {}
        }
    }
    // Sealed only now: later places were made in them.
    for mount in unsealed {
        change(mount.as_fd(), READ_ONLY | NEVER).at(Stage::Mount)?;
    }
    Ok(())
}

/// Makes the mount for a place, not yet there.
fn make_mount(place: &Place, opened: Opened, furniture: &mut Furniture) -> Result<Tree> {
    let restrict = |tree: Option<Tree>, set: u64| {
        let tree = tree.ok_or(Errno::INVAL)?;
        tree.restrict(set).map(|()| tree)
    };
    match place.look {
        Look::Same { writable: false } => {
            let read_only = if wall_is_off("mounts") { 0 } else { READ_ONLY };
            restrict(opened.tree, read_only | NEVER)
        }
        Look::Same { writable: true } | Look::Other { .. } => restrict(opened.tree, NEVER),
        Look::Blank => furniture.blank(opened.kind).map(Tree::from),
        Look::Empty { listed } => {
            let mode = if listed { 0o555 } else { 0o111 };
            furniture.empty(Mode::from_raw_mode(mode)).map(Tree::from)
        }
        Look::Scratch { bytes_max } => scratch(bytes_max).map(Tree::from),
    }
}

/// A new writable directory that holds at most so much.
pub(super) fn scratch(bytes_max: u64) -> Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let bytes = bytes_max.max(SCRATCH_BYTES_MIN).to_string();
    fsconfig_set_string(&context, "size", bytes.as_str())?;
    fsconfig_set_string(&context, "mode", "1777")?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    mount_new(context, attributes)
}
