//! What walls can be made of on this machine, found out by trying.

use crate::limits::LANDLOCK_WITH_SCOPES;
use crate::wire::{FeatureMessage, FeaturesMessage};

/// Whether something works here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// It was tried and did what it should.
    Works,
    /// It did not.
    Fails {
        /// Why, for people.
        why: String,
    },
}

impl Support {
    /// Whether it works.
    pub fn works(&self) -> bool {
        *self == Support::Works
    }
}

/// What walls can be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// A user namespace with the whole of the caller mapped into it.
    pub user_ns: Support,
    /// A mount namespace with a root directory of its own.
    pub mount_ns: Support,
    /// A PID namespace with a `/proc` of its own.
    pub pid_ns: Support,
    /// A network namespace with a loopback that is up.
    pub net_ns: Support,
    /// The version of Landlock; none where the kernel has it not, or not on.
    pub landlock_abi: Option<u32>,
    /// Filters of system calls.
    pub seccomp: Support,
    /// Mounts with users of their own, on the file system of `/`.
    pub idmap: Support,
    /// Limits on the memory of a launch.
    pub cgroup_memory: Support,
    /// Limits on the processes of a launch.
    pub cgroup_pids: Support,
}

/// The names that features have between keeper and daemon.
pub(crate) const USER_NS: &str = "user_ns";
pub(crate) const MOUNT_NS: &str = "mount_ns";
pub(crate) const PID_NS: &str = "pid_ns";
pub(crate) const NET_NS: &str = "net_ns";
pub(crate) const LANDLOCK: &str = "landlock";
pub(crate) const SECCOMP: &str = "seccomp";
pub(crate) const IDMAP: &str = "idmap";
pub(crate) const CGROUP_MEMORY: &str = "cgroup_memory";
pub(crate) const CGROUP_PIDS: &str = "cgroup_pids";

impl Features {
    /// Whether walls of namespaces, Landlock and seccomp can be built.
    pub fn has_namespaces(&self) -> bool {
        let needed = [
            &self.user_ns,
            &self.mount_ns,
            &self.pid_ns,
            &self.net_ns,
            &self.seccomp,
        ];
        needed.into_iter().all(Support::works) && self.landlock_abi.is_some()
    }

    /// Whether walls of Landlock and seccomp alone can be built.
    pub fn has_landlock_only(&self) -> bool {
        let version = self.landlock_abi.unwrap_or(0);
        self.seccomp.works() && version >= LANDLOCK_WITH_SCOPES
    }

    /// Nothing works, for one reason.
    pub(crate) fn none(why: &str) -> Features {
        let fails = || Support::Fails {
            why: why.to_owned(),
        };
        Features {
            user_ns: fails(),
            mount_ns: fails(),
            pid_ns: fails(),
            net_ns: fails(),
            landlock_abi: None,
            seccomp: fails(),
            idmap: fails(),
            cgroup_memory: fails(),
            cgroup_pids: fails(),
        }
    }
}

impl From<FeaturesMessage> for Features {
    fn from(message: FeaturesMessage) -> Features {
        let find = |name: &str| message.features.iter().find(|f| f.name == name);
        let support = |name: &str| match find(name) {
            Some(feature) if feature.works => Support::Works,
            Some(feature) => Support::Fails {
                why: feature.why.clone(),
            },
            None => Support::Fails {
                why: "this keeper does not know it".to_owned(),
            },
        };
        let landlock = find(LANDLOCK).filter(|feature| feature.works);
        Features {
            user_ns: support(USER_NS),
            mount_ns: support(MOUNT_NS),
            pid_ns: support(PID_NS),
            net_ns: support(NET_NS),
            landlock_abi: landlock.map(|feature| feature.version),
            seccomp: support(SECCOMP),
            idmap: support(IDMAP),
            cgroup_memory: support(CGROUP_MEMORY),
            cgroup_pids: support(CGROUP_PIDS),
        }
    }
}

/// A feature of this name, as it was found.
pub(crate) fn feature(name: &str, found: Result<u32, String>) -> FeatureMessage {
    let works = found.is_ok();
    let (version, why) = match found {
        Ok(version) => (version, String::new()),
        Err(why) => (0, why),
    };
    FeatureMessage {
        name: name.to_owned(),
        works,
        why,
        version,
    }
}

#[cfg(test)]
mod tests {
    use super::{Features, Support};

    #[test]
    fn an_old_landlock_is_no_wall_by_itself() {
        let with = |version| Features {
            landlock_abi: Some(version),
            seccomp: Support::Works,
            ..Features::none("not tried")
        };
        assert!(!with(5).has_landlock_only());
        assert!(with(6).has_landlock_only());
        assert!(!with(6).has_namespaces());
    }
}
