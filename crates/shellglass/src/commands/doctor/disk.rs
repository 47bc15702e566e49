//! The disk below the journal: how much is free, what quotas allow, and whether
//! dropped output gives its room back.

use super::check::Check;
use super::place::existing;
use crate::client::{self, Context};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Files that are counted at most, so that a huge journal does not keep us.
const FILES_MAX: usize = 100_000;

/// Bytes that are written and given back.
const HOLE_BYTES: u64 = 64 << 10;

/// Looks at the disk of the data directory.
pub(super) fn disk(context: &Context, checks: &mut Vec<Check>) {
    let data = client::data_dir(&context.dirs, &context.loaded.settings);
    let limits = &context.loaded.settings.limits;
    let place = existing(&data);
    let used = used_bytes(&data);
    match rustix::fs::statvfs(&place) {
        Ok(stat) if stat.f_blocks > 0 => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            checks.push(space(free, limits.disk_free_bytes_min));
            checks.push(quota(free, used, limits.store_output_bytes_max));
        }
        Ok(_) => checks.push(Check::good("disk", "free", "the file system does not say")),
        Err(error) => {
            let fix = "is the disk of the data directory mounted?";
            checks.push(Check::broken("disk", "free", error.to_string(), fix));
        }
    }
    if place == data {
        checks.push(match gives_back(&data) {
            Ok(()) => Check::good("disk", "dropped output", "gives its room back"),
            Err(error) => Check::warning(
                "disk",
                "dropped output",
                format!("keeps its room: holes cannot be punched: {error}"),
                "put the data directory on ext4, xfs, btrfs or tmpfs (`daemon.data_dir`)",
            ),
        });
    }
}

fn space(free: u64, needed: u64) -> Check {
    let detail = format!("{}, and {} are to stay", size(free), size(needed));
    if free >= needed {
        return Check::good("disk", "free", detail);
    }
    let fix = "free some space: output is not recorded meanwhile (`limits.disk_free_bytes_min`)";
    Check::broken("disk", "free", detail, fix)
}

fn quota(free: u64, used: u64, most: u64) -> Check {
    let detail = format!("{} used, output may take {}", size(used), size(most));
    if most.saturating_sub(used) <= free {
        return Check::good("disk", "quota", detail);
    }
    let fix = "lower `limits.store_output_bytes_max`, or free some space: the disk is full before \
               the quota is";
    Check::warning("disk", "quota", detail, fix)
}

/// What the journal and its output take.
fn used_bytes(data: &Path) -> u64 {
    let mut waiting = vec![data.to_path_buf()];
    let (mut bytes, mut files) = (0_u64, 0);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            files += 1;
            if files > FILES_MAX {
                return bytes;
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => waiting.push(entry.path()),
                // Holes do not count.
                Ok(metadata) => bytes = bytes.saturating_add(metadata.blocks() * 512),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// Punches a hole into a file without a name, of which nothing stays.
fn gives_back(data: &Path) -> std::io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mut file = fs::File::from(rustix::fs::open(data, flags, Mode::from_raw_mode(0o600))?);
    file.write_all(&vec![1; HOLE_BYTES as usize])?;
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, punch, 0, HOLE_BYTES)?;
    Ok(())
}

fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS.iter().find(|(_, unit)| bytes >= *unit);
    match unit {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::Verdict;
    use super::{gives_back, quota, size, space, used_bytes};

    #[test]
    fn too_little_space_is_broken_and_too_large_a_quota_is_told() {
        assert_eq!(space(10, 10).verdict, Verdict::Ok);
        assert_eq!(space(9, 10).verdict, Verdict::Broken);
        assert_eq!(quota(10, 5, 15).verdict, Verdict::Ok);
        assert_eq!(quota(9, 5, 15).verdict, Verdict::Warning);
        // More than the quota is there already, and will go.
        assert_eq!(quota(0, 20, 15).verdict, Verdict::Ok);
        assert_eq!(size(1536), "1.5 KiB");
    }

    #[test]
    fn trying_the_disk_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Whether it can be done is the file system's; that nothing stays is ours.
        let _ = gives_back(folder.path());
        assert_eq!(used_bytes(folder.path()), 0);
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0);
    }
}
