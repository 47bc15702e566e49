//! Starts a launch: checks what was asked, and forks its reaper.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glass_model::{LaunchPlan, Resources};
use rustix::fs::{Mode, OFlags};

use super::record::{Asker, Record};
use super::setting::Setting;
use crate::cgroup::Limits;
use crate::limits::{
    GATE_FD, HELD_PER_LAUNCH_MAX, LABEL_BYTES_MAX, REQUEST_FDS_MAX, TAG_BYTES_MAX, TARGET_FD_MAX,
};
use crate::process::ProcessRef;
use crate::sys::{self, Image, ImageError, Slot};
use crate::wire;

/// Why a launch was not even tried.
#[derive(Debug, thiserror::Error)]
pub(super) enum BeginError {
    #[error("{0}")]
    Invalid(&'static str),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error("what was asked for cannot be limited: {0}")]
    Limits(#[source] io::Error),
    #[error("the system cannot make another process: {0}")]
    Fork(#[source] io::Error),
}

/// The standard descriptors, which every child has.
const STANDARD: [i32; 3] = [0, 1, 2];

/// Forks the reaper of a launch; what comes of it is reported later.
pub(super) fn begin(
    id: u64,
    mut ask: wire::Launch,
    fds: Vec<OwnedFd>,
    asker: Asker,
    setting: &Setting,
) -> Result<Record, BeginError> {
    check(&ask, fds.len()).map_err(BeginError::Invalid)?;
    if ask.cwd.is_empty() {
        ask.cwd = b"/".to_vec();
    }
    let mut fds = fds.into_iter();
    let child_fds: Vec<OwnedFd> = fds.by_ref().take(ask.targets.len()).collect();
    let held_fds: Vec<OwnedFd> = fds.by_ref().take(ask.labels.len()).collect();
    let held = ask
        .labels
        .into_iter()
        .zip(held_fds.into_iter().map(Arc::new))
        .collect();
    let control = fds.next();
    let walls = match ask.walls {
        Some(walls) => Some(walls.understood().ok_or(BeginError::Invalid(
            "this keeper does not know all of these walls",
        ))?),
        None => None,
    };

    let mut slots: Vec<Slot> = STANDARD
        .into_iter()
        .filter(|target| !ask.targets.contains(target))
        .map(|target| Slot {
            target,
            source: setting.null.as_raw_fd(),
        })
        .collect();
    let given = ask.targets.iter().zip(&child_fds);
    let (gates, given): (Vec<Slot>, Vec<Slot>) = given
        .map(|(&target, fd)| Slot {
            target,
            source: fd.as_raw_fd(),
        })
        .partition(|slot| slot.target == GATE_FD);
    slots.extend(given);

    let resources: Resources = ask.resources.map(Into::into).unwrap_or_default();
    let limited = resources.memory_bytes.is_some() || resources.processes.is_some();
    if limited && ask.cgroup.is_empty() {
        ask.cgroup = format!("shellglass-launch-{id}");
    }
    let cgroup = Group::make(setting, &ask.cgroup);
    let own = cgroup.as_ref().map(|group| group.path.as_path());
    let mut limits = Limits::set(&resources, own, &ask.cgroup).map_err(BeginError::Limits)?;
    let plan = LaunchPlan {
        program: ask.program,
        argv: ask.argv,
        env: ask.env,
        cwd: ask.cwd,
        cgroup: ask.cgroup,
        resources,
        takes_terminal: ask.takes_terminal,
        walls,
    };
    let mut image = Image::new(plan, slots)?;
    image.launch = id;
    image.reports = setting.reports_sender.as_raw_fd();
    image.cgroup = cgroup.as_ref().map(|group| group.directory.as_raw_fd());
    image.needs_cgroup = limits.needs_own;
    image.joins = limits.joins().map(AsRawFd::as_raw_fd).collect();
    image.nofile = setting.nofile;
    if image.has_builder() {
        let users = setting.users();
        image.users = users.map(|users| [users.inner.as_raw_fd(), users.mounts.as_raw_fd()]);
    }
    image.control = control.as_ref().map(AsRawFd::as_raw_fd);
    image.resets_oom_score = setting.resets_oom_score;
    image.gate = gates.first().map(|slot| slot.source);
    let pid = sys::fork_reaper(&mut image).map_err(BeginError::Fork)?;

    // It is our child and not yet waited for, so what has its number is it.
    let reaper = ProcessRef::of(pid).unwrap_or(ProcessRef {
        pid,
        start_ticks: 0,
    });
    Ok(Record {
        reaper,
        child: None,
        init: None,
        memory: limits.memory.take(),
        limit_groups: limits.take_groups(),
        cgroup: cgroup.map(Group::take),
        tag: ask.tag,
        held,
        asker: Some(asker),
        status: None,
        reaper_lives: true,
        emptied: false,
        forgotten: false,
    })
}

fn check(ask: &wire::Launch, fds: usize) -> Result<(), &'static str> {
    let mut seen = HashSet::new();
    let targets_valid = |t: &i32| *t == GATE_FD || (0..=TARGET_FD_MAX).contains(t);
    let rules = [
        (
            fds == ask.targets.len() + ask.labels.len() + usize::from(ask.has_control),
            "descriptors are missing or left over",
        ),
        (fds <= REQUEST_FDS_MAX, "there are too many descriptors"),
        (
            ask.program.starts_with(b"/"),
            "the program's path is not absolute",
        ),
        (
            !ask.argv.is_empty(),
            "there are no arguments, not even the program's name",
        ),
        (
            ask.cwd.is_empty() || ask.cwd.starts_with(b"/"),
            "the directory is not absolute",
        ),
        (
            ask.targets.iter().all(targets_valid),
            "a descriptor's number is out of range",
        ),
        (
            ask.targets.iter().all(|t| seen.insert(*t)),
            "two descriptors have the same number",
        ),
        (ask.tag.len() <= TAG_BYTES_MAX, "the tag is too long"),
        (
            ask.labels.len() <= HELD_PER_LAUNCH_MAX,
            "too many descriptors are to be held",
        ),
        (are_labels(&ask.labels), "a label is too long or used twice"),
    ];
    rules
        .into_iter()
        .find(|(holds, _)| !holds)
        .map_or(Ok(()), |(_, reason)| Err(reason))
}

/// Whether these can name descriptors that are held.
pub(super) fn are_labels(labels: &[String]) -> bool {
    let mut seen = HashSet::new();
    labels
        .iter()
        .all(|label| label.len() <= LABEL_BYTES_MAX && seen.insert(label))
}

/// The group of a launch that is not under way yet: it goes with the attempt.
struct Group {
    path: PathBuf,
    directory: OwnedFd,
}

impl Group {
    /// Makes one, where that can be had.
    fn make(setting: &Setting, name: &str) -> Option<Group> {
        if name.is_empty() {
            return None;
        }
        let path = match setting.cgroups.as_ref()?.make(name) {
            Ok(path) => path,
            Err(error) => {
                tracing::debug!(name, %error, "a launch goes on without its cgroup");
                return None;
            }
        };
        match open_directory(&path) {
            Ok(directory) => Some(Group { path, directory }),
            Err(error) => {
                tracing::debug!(name, %error, "a launch goes on without its cgroup");
                let _ = std::fs::remove_dir(&path);
                None
            }
        }
    }

    /// It is the caller's to remove from now on.
    fn take(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Nothing is left of one that was taken.
        if !self.path.as_os_str().is_empty() {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
