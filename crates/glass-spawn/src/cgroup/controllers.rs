//! Limits that only groups can set: on memory and on the number of processes.
//!
//! They are set in the launch's own group where that has the controllers, and
//! otherwise in groups of the first version, where those can be had.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use glass_model::Resources;

use super::{CgroupRoot, is_valid_name, locate_first_version};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Processes,
}

impl Controller {
    /// What the kernel calls it.
    fn name(self) -> &'static str {
        match self {
            Controller::Memory => "memory",
            Controller::Processes => "pids",
        }
    }

    /// The file that sets its limit, in the second version.
    fn file(self) -> &'static str {
        match self {
            Controller::Memory => "memory.max",
            Controller::Processes => "pids.max",
        }
    }

    /// The files that set its limit, in the first version, the first of which
    /// must be there: memory alone, then memory with what is swapped out.
    fn old_files(self) -> &'static [&'static str] {
        match self {
            Controller::Memory => &["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
            Controller::Processes => &["pids.max"],
        }
    }
}

/// Where limits are enforced; its own groups vanish with it unless taken.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// Groups that were made, with the file that a process joins them by.
    groups: Vec<(PathBuf, OwnedFd)>,
    /// The group that counts memory.
    pub memory: Option<PathBuf>,
    /// Whether the launch's own group enforces something.
    pub needs_own: bool,
}

impl Limits {
    /// Sets what is asked for, in the launch's `own` group or in new ones of
    /// this name. Fails where something cannot be enforced.
    pub fn set(resources: &Resources, own: Option<&Path>, name: &str) -> io::Result<Limits> {
        let mut limits = Limits::default();
        let wanted = [
            (Controller::Memory, resources.memory_bytes),
            (Controller::Processes, resources.processes),
        ];
        for (controller, most) in wanted {
            if let Some(most) = most {
                limits.add(controller, most, own, name)?;
            }
        }
        Ok(limits)
    }

    fn add(
        &mut self,
        controller: Controller,
        most: u64,
        own: Option<&Path>,
        name: &str,
    ) -> io::Result<()> {
        let most = most.to_string();
        let group = match own.filter(|own| own.join(controller.file()).exists()) {
            Some(own) => {
                fs::write(own.join(controller.file()), &most)?;
                if controller == Controller::Memory {
                    // What is over the limit must not escape into swap.
                    let _ = fs::write(own.join("memory.swap.max"), "0");
                }
                self.needs_own = true;
                own.to_owned()
            }
            None => self.add_old(controller, &most, name)?,
        };
        if controller == Controller::Memory {
            self.memory = Some(group);
        }
        Ok(())
    }

    /// Makes a group of the first version.
    fn add_old(&mut self, controller: Controller, most: &str, name: &str) -> io::Result<PathBuf> {
        let mounts = fs::read("/proc/self/mountinfo")?;
        let membership = fs::read("/proc/self/cgroup")?;
        let root = locate_first_version(&mounts, &membership, controller.name());
        let root = root.filter(|_| is_valid_name(name));
        let root = root.ok_or(io::ErrorKind::Unsupported)?;
        let group = CgroupRoot(root).make(name)?;
        let members = fs::OpenOptions::new()
            .write(true)
            .open(group.join("cgroup.procs"));
        let members = members.inspect_err(|_| drop(fs::remove_dir(&group)))?;
        self.groups.push((group.clone(), members.into()));
        for (at, file) in controller.old_files().iter().enumerate() {
            let set = fs::write(group.join(file), most);
            if at == 0 {
                set?;
            }
        }
        Ok(group)
    }

    /// The files that a process joins its groups by.
    pub fn joins(&self) -> impl Iterator<Item = &OwnedFd> {
        self.groups.iter().map(|(_, members)| members)
    }

    /// The groups, which are the caller's to remove from now on.
    pub fn take_groups(&mut self) -> Vec<PathBuf> {
        let groups = std::mem::take(&mut self.groups).into_iter();
        groups.map(|(group, _)| group).collect()
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        for group in self.take_groups() {
            let _ = fs::remove_dir(group);
        }
    }
}

/// Lets groups below this one have the controllers, where the kernel allows
/// that: not in a group that has processes of its own, except for the first.
pub(crate) fn enable(root: &CgroupRoot) {
    let switch = root.0.join("cgroup.subtree_control");
    for controller in [Controller::Memory, Controller::Processes] {
        let _ = fs::write(&switch, format!("+{}", controller.name()));
    }
}

/// Tries whether a limit can be set on a launch.
pub(crate) fn try_out(root: Option<&CgroupRoot>, controller: Controller) -> io::Result<()> {
    let name = format!("shellglass-probe-{}", std::process::id());
    let own = root.and_then(|root| root.make(&name).ok());
    let resources = match controller {
        Controller::Memory => Resources {
            memory_bytes: Some(64 << 20),
            ..Resources::default()
        },
        Controller::Processes => Resources {
            processes: Some(64),
            ..Resources::default()
        },
    };
    let tried = Limits::set(&resources, own.as_deref(), &name).map(drop);
    if let Some(own) = own {
        let _ = fs::remove_dir(own);
    }
    tried
}
