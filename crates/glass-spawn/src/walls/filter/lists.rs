//! Which system calls are refused, each group with its reason.

use libc::c_long;

use super::{ALLOW, ASK, Instruction, refuse_bits, refuse_or};

/// The machine that the program is for, as the kernel names it.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xC000_00B7;

// Calls that are newer than the C library's list; the same everywhere.
pub(super) const FCHMODAT2: c_long = 452;
const OPEN_TREE_ATTR: c_long = 467;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;

/// The newest call that was judged. A later one answers that it does not
/// exist, and programs do without, as on an older kernel.
pub(super) const LAST_KNOWN: u32 = 469;

/// Calls that answer as if the kernel did not have them, because programs
/// then use an older one, whose arguments can be looked at.
pub(super) const MISSING: [c_long; 2] = [
    libc::SYS_clone3,  // Its flags are in memory.
    libc::SYS_openat2, // So is its mode.
];

/// Refused behind all walls.
#[rustfmt::skip]
pub(super) const DENIED: &[c_long] = &[
    // The file system inside is as it was built.
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot,
    libc::SYS_open_tree, OPEN_TREE_ATTR, libc::SYS_move_mount, libc::SYS_fsopen,
    libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick, libc::SYS_mount_setattr,
    libc::SYS_setns,
    // Files are found by name, so that names can protect them.
    libc::SYS_open_by_handle_at,
    // No process reaches into another.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev,
    libc::SYS_process_madvise, libc::SYS_process_mrelease, libc::SYS_kcmp,
    libc::SYS_pidfd_getfd, libc::SYS_move_pages, libc::SYS_migrate_pages,
    // What is done through it passes no filter.
    libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    // Keys are shared by all of a user's processes.
    libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,
    // Large and little used parts of the kernel.
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie, libc::SYS_nfsservctl,
    // The machine is not ours.
    libc::SYS_kexec_load, libc::SYS_kexec_file_load, libc::SYS_init_module,
    libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_reboot, libc::SYS_swapon,
    libc::SYS_swapoff, libc::SYS_acct, libc::SYS_quotactl, libc::SYS_quotactl_fd,
    libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_adjtimex, libc::SYS_clock_adjtime,
    libc::SYS_syslog, libc::SYS_vhangup, libc::SYS_sethostname, libc::SYS_setdomainname,
    #[cfg(target_arch = "x86_64")] libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")] libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")] libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")] libc::SYS_uselib,
];

/// Refused besides where no mounts protect the host: what Landlock does not
/// decide about.
#[rustfmt::skip]
pub(super) const READ_ONLY_DENIED: &[c_long] = &[
    // What files are, without writing to them.
    libc::SYS_fchmod, libc::SYS_fchmodat, FCHMODAT2, libc::SYS_fchown, libc::SYS_fchownat,
    libc::SYS_utimensat, libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr,
    libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr, SETXATTRAT,
    REMOVEXATTRAT, FILE_SETATTR,
    #[cfg(target_arch = "x86_64")] libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")] libc::SYS_chown,
    #[cfg(target_arch = "x86_64")] libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")] libc::SYS_utime,
    #[cfg(target_arch = "x86_64")] libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")] libc::SYS_futimesat,
    // What is shared with the host's processes without being a file.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_msgget, libc::SYS_msgsnd,
    libc::SYS_msgrcv, libc::SYS_msgctl, libc::SYS_semget, libc::SYS_semop, libc::SYS_semtimedop,
    libc::SYS_semctl, libc::SYS_mq_open, libc::SYS_mq_unlink,
    libc::SYS_ioprio_set,
];

/// Calls that give a file a name, beside those that have a mode to look at.
#[rustfmt::skip]
pub(super) const NAMING: &[c_long] = &[
    libc::SYS_mkdirat, libc::SYS_symlinkat, libc::SYS_linkat, libc::SYS_renameat2,
    // Also on machines whose libraries do without it.
    libc::SYS_renameat,
    #[cfg(target_arch = "x86_64")] libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")] libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")] libc::SYS_link,
    #[cfg(target_arch = "x86_64")] libc::SYS_rename,
];

/// Rules for calls that newer machines do not have.
#[cfg(target_arch = "x86_64")]
pub(super) fn older(namespaces: bool, modes: u32, asks: bool) -> Vec<(c_long, Vec<Instruction>)> {
    let otherwise = if asks { ASK } else { ALLOW };
    let mut rules = vec![
        (libc::SYS_open, super::makes_file(1, 2, modes, asks)),
        (libc::SYS_creat, refuse_or(1, modes, otherwise)),
        (libc::SYS_mknod, super::make_node(1, modes, asks)),
    ];
    if namespaces {
        rules.push((libc::SYS_chmod, refuse_bits(1, modes)));
    }
    rules
}

/// There are none.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn older(
    _namespaces: bool,
    _modes: u32,
    _asks: bool,
) -> Vec<(c_long, Vec<Instruction>)> {
    Vec::new()
}
