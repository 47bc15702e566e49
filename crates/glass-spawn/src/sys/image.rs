//! A launch, laid out before the fork so that nothing needs to be allocated
//! after it.

use std::ffi::{CString, NulError};
use std::os::fd::RawFd;

use glass_model::{LaunchPlan, Resources, WallBuild, Walls};
use libc::c_char;

use crate::walls::{LayoutError, Plan};

/// A descriptor of the child: where it is now, and which number it gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub target: RawFd,
    pub source: RawFd,
}

/// A plan that no process can be made of.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    #[error("a {part} contains a NUL byte")]
    Nul { part: &'static str },
    #[error(transparent)]
    Walls(#[from] LayoutError),
}

/// Strings with the null-terminated array of pointers that exec wants.
pub(super) struct Strings {
    pointers: Vec<*const c_char>,
    /// Owns what the pointers point to; never changed after they were taken.
    _strings: Vec<CString>,
}

impl Strings {
    fn new(all: Vec<Vec<u8>>) -> Result<Strings, NulError> {
        let strings = all
            .into_iter()
            .map(CString::new)
            .collect::<Result<Vec<_>, _>>()?;
        let pointers = strings.iter().map(|s| s.as_ptr());
        let pointers = pointers.chain([std::ptr::null()]).collect();
        Ok(Strings {
            pointers,
            _strings: strings,
        })
    }

    /// Valid for as long as `self` lives.
    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

/// Everything that a reaper and its child need.
pub(crate) struct Image {
    pub(super) program: CString,
    pub(super) argv: Strings,
    pub(super) env: Strings,
    pub(super) cwd: CString,
    /// Ascending by target; sources are kept open by the caller.
    pub(super) slots: Vec<Slot>,
    /// The launch's number in reports.
    pub launch: u64,
    /// Where reports go.
    pub reports: RawFd,
    /// The directory of the cgroup to start the child in.
    pub cgroup: Option<RawFd>,
    /// Whether it must not start outside of that.
    pub needs_cgroup: bool,
    /// The limit on open files, as children should have it.
    pub nofile: libc::rlimit,
    /// Limits of the child itself.
    pub rlimits: Vec<(libc::__rlimit_resource_t, u64)>,
    /// Lists of members of groups that limit it, open for writing.
    pub joins: Vec<RawFd>,
    /// Whether its standard input becomes its controlling terminal.
    pub(super) takes_terminal: bool,
    /// The walls around it.
    pub walls: Option<Plan>,
    /// Who root is behind namespaces: two of those, as `Users` has them.
    pub users: Option<[RawFd; 2]>,
    /// For orders to who lives behind namespaces.
    pub control: Option<RawFd>,
    /// Whether the child's liability to be killed for memory is set to 0.
    pub resets_oom_score: bool,
    /// Where the child waits for a byte before it becomes its program.
    pub gate: Option<RawFd>,
}

impl Image {
    /// Lays out a plan. `slots` must have different targets; the remaining
    /// fields are left at their neutral values.
    pub fn new(plan: LaunchPlan, mut slots: Vec<Slot>) -> Result<Image, ImageError> {
        slots.sort_by_key(|slot| slot.target);
        let nul = |part| move |_: NulError| ImageError::Nul { part };
        let no_limit = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        Ok(Image {
            program: CString::new(plan.program).map_err(nul("program path"))?,
            argv: Strings::new(plan.argv).map_err(nul("program argument"))?,
            env: Strings::new(plan.env).map_err(nul("environment variable"))?,
            cwd: CString::new(plan.cwd).map_err(nul("working directory"))?,
            slots,
            launch: 0,
            reports: -1,
            cgroup: None,
            needs_cgroup: false,
            nofile: no_limit,
            rlimits: limits_of(&plan.resources, plan.walls.as_ref()),
            joins: Vec::new(),
            takes_terminal: plan.takes_terminal,
            walls: plan.walls.map(Plan::new).transpose()?,
            users: None,
            control: None,
            resets_oom_score: false,
            gate: None,
        })
    }

    /// Whether the process that is forked builds walls, and is not the child
    /// itself.
    pub fn has_builder(&self) -> bool {
        let build = self.walls.as_ref().map(|plan| plan.build);
        build == Some(WallBuild::Namespaces)
    }
}

/// What the kernel limits for each process, or for the users of a namespace.
fn limits_of(
    resources: &Resources,
    walls: Option<&Walls>,
) -> Vec<(libc::__rlimit_resource_t, u64)> {
    // Elsewhere it would count all that the user runs.
    let counted_alone = walls.is_some_and(|walls| walls.build == WallBuild::Namespaces);
    let wanted = [
        (
            libc::RLIMIT_NPROC,
            resources.tasks.filter(|_| counted_alone),
        ),
        (libc::RLIMIT_NOFILE, resources.open_files),
        (libc::RLIMIT_CPU, resources.cpu_seconds),
        (libc::RLIMIT_FSIZE, resources.file_bytes),
        (libc::RLIMIT_CORE, resources.core_bytes),
        (libc::RLIMIT_AS, resources.address_bytes),
    ];
    let limits = wanted.into_iter();
    limits
        .filter_map(|(resource, most)| Some((resource, most?)))
        .collect()
}
