//! Control groups below our own, where the second version is mounted and we
//! may write there. They are a help, never a need: whoever cannot have one
//! goes on without.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use crate::client::Launched;
use crate::limits::CGROUP_NAME_BYTES_MAX;

mod controllers;
mod left;

pub(crate) use controllers::{Controller, Limits, enable, try_out};
pub(crate) use left::sweep;

/// The directory of this process's own group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CgroupRoot(PathBuf);

impl CgroupRoot {
    /// Finds it, wherever it is mounted.
    pub fn find() -> Option<CgroupRoot> {
        let mounts = fs::read("/proc/self/mountinfo").ok()?;
        let membership = fs::read("/proc/self/cgroup").ok()?;
        let root = locate(&mounts, &membership)?;
        root.is_dir().then_some(CgroupRoot(root))
    }

    /// Makes a group of this name, or takes an empty one that was left there.
    pub fn make(&self, name: &str) -> io::Result<PathBuf> {
        if !is_valid_name(name) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let path = self.0.join(name);
        match fs::create_dir(&path) {
            Ok(()) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let empty = fs::read(path.join("cgroup.procs"))?.is_empty();
                if empty { Ok(path) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether a name is one plain directory below ours that cannot clash with
/// the kernel's own files.
fn is_valid_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=CGROUP_NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(plain)
        && !name.starts_with('.')
        && !name.starts_with("cgroup.")
}

/// Kills every process of a group at once (Linux 5.14).
pub(crate) fn kill(path: &Path) -> io::Result<()> {
    fs::write(path.join("cgroup.kill"), "1")
}

/// Whether any process lives in a group or below it.
pub(crate) fn is_populated(path: &Path) -> bool {
    fs::read_to_string(path.join("cgroup.events"))
        .is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
}

/// How many processes of a launch were killed because its memory ran out;
/// nothing where its memory is not limited, or its group is gone.
pub fn oom_kills(launched: &Launched) -> Option<u64> {
    let group = launched.memory.as_ref()?;
    // The second version counts in one file, the first in another.
    let of_v2 = fs::read_to_string(group.join("memory.events"));
    let counts = of_v2.or_else(|_| fs::read_to_string(group.join("memory.oom_control")));
    let counts = counts.ok()?;
    counts.lines().find_map(|line| {
        let count = line.strip_prefix("oom_kill ")?;
        count.trim().parse().ok()
    })
}

/// The processes that are in a group itself.
pub(crate) fn members(path: &Path) -> Vec<i32> {
    let list = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    list.lines().filter_map(|pid| pid.parse().ok()).collect()
}

/// Finds our own directory from the texts of `mountinfo` and `cgroup`.
fn locate(mounts: &[u8], membership: &[u8]) -> Option<PathBuf> {
    let mut lines = membership.split(|&b| b == b'\n');
    let own = lines.find_map(|line| line.strip_prefix(b"0::"))?;
    locate_mounted(mounts, own, |file_system, _| file_system == b"cgroup2")
}

/// The same in the hierarchy of the first version that has this controller.
fn locate_first_version(mounts: &[u8], membership: &[u8], controller: &str) -> Option<PathBuf> {
    let has = |list: &[u8]| {
        let mut names = list.split(|&b| b == b',');
        names.any(|name| name == controller.as_bytes())
    };
    let own = membership.split(|&b| b == b'\n').find_map(|line| {
        let mut fields = line.splitn(3, |&b| b == b':');
        let controllers = fields.nth(1)?;
        fields.next().filter(|_| has(controllers))
    })?;
    locate_mounted(mounts, own, |file_system, options| {
        file_system == b"cgroup" && has(options)
    })
}

/// Finds the group `own` below the mount for which `fits` holds, given its
/// file system and the options of that.
fn locate_mounted(
    mounts: &[u8],
    own: &[u8],
    fits: impl Fn(&[u8], &[u8]) -> bool,
) -> Option<PathBuf> {
    let own = PathBuf::from(std::ffi::OsString::from_vec(own.to_vec()));
    mounts.split(|&b| b == b'\n').find_map(|line| {
        let mut fields = line.split(|&b| b == b' ');
        let root = unescape(fields.nth(3)?);
        let mount_point = unescape(fields.next()?);
        let mut after = fields.skip_while(|&field| field != b"-");
        let file_system = after.nth(1)?;
        if !fits(file_system, after.nth(1).unwrap_or_default()) {
            return None;
        }
        // A mount may show only a part of the hierarchy, and ours may be
        // outside of it.
        let below = own.strip_prefix(root).ok()?;
        let plain = below
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        plain.then(|| mount_point.join(below))
    })
}

/// Undoes the octal escapes of `mountinfo`.
pub(crate) fn unescape(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| byte == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        let octal = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(octal.unwrap_or(byte));
        rest = if octal.is_some() { &tail[3..] } else { tail };
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mounts: &str, membership: &str, expected: Option<&str>) {
        let found = locate(mounts.as_bytes(), membership.as_bytes());
        assert_eq!(
            found.as_deref(),
            expected.map(Path::new),
            "{mounts} {membership}"
        );
    }

    #[test]
    fn our_group_is_found_wherever_it_is_mounted() {
        let tmpfs = "24 1 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n";
        let pure = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let hybrid = format!("{tmpfs}31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n");
        let part = "30 24 0:26 /user.slice /my\\040groups rw - cgroup2 cgroup2 rw\n";
        check(
            pure,
            "0::/user.slice/a\n",
            Some("/sys/fs/cgroup/user.slice/a"),
        );
        check(
            &hybrid,
            "9:pids:/x\n0::/\n",
            Some("/sys/fs/cgroup/unified/"),
        );
        check(part, "0::/user.slice/a\n", Some("/my groups/a"));
        check(part, "0::/system.slice\n", None);
        check(part, "0::/user.slice/../../b\n", None);
        check(tmpfs, "0::/\n", None);
        check(pure, "9:pids:/x\n", None);
        check("garbage\n - \n", "0::/\n", None);
    }

    #[test]
    fn a_controller_of_the_first_version_is_found() {
        let mounts = b"31 24 0:27 / /cg/pids rw - cgroup cgroup rw,pids\n\
            32 24 0:28 / /cg/both rw - cgroup cgroup rw,memory,cpu\n\
            33 24 0:29 / /cg/unified rw - cgroup2 none rw\n";
        let membership = b"8:pids:/a\n4:memory,cpu:/b/c\n1:name=systemd:/\n0::/\n";
        let find = |name: &str| locate_first_version(mounts, membership, name);
        assert_eq!(find("pids").as_deref(), Some(Path::new("/cg/pids/a")));
        assert_eq!(find("memory").as_deref(), Some(Path::new("/cg/both/b/c")));
        assert_eq!(find("mem"), None);
        assert_eq!(find("blkio"), None);
    }

    #[test]
    fn a_name_is_one_plain_directory() {
        for good in ["a", "shellglass-s1.e2", "A_b"] {
            assert!(is_valid_name(good), "{good}");
        }
        let long = "x".repeat(CGROUP_NAME_BYTES_MAX + 1);
        for bad in [
            "",
            ".",
            "..",
            "a/b",
            "../x",
            "cgroup.procs",
            "a\0",
            "ä",
            &long,
        ] {
            assert!(!is_valid_name(bad), "{bad}");
        }
    }
}
