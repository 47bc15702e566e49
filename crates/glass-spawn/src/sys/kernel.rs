//! System calls that walls need and that nobody wraps: each as one function
//! that takes descriptors and plain values and gives the kernel's answer.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::{Errno, Result};

/// What a mount is not to allow; the kernel's numbers.
pub(crate) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(crate) const NO_SUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(crate) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub(crate) const NO_EXECUTE: u64 = libc::MOUNT_ATTR_NOEXEC;

/// Which mounts are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The one.
    One,
    /// It and everything mounted below it.
    Below,
}

/// What is to change of mounts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change<'a> {
    /// Attributes to set.
    pub set: u64,
    /// Whether later changes outside stay outside.
    pub private: bool,
    /// A user namespace through which its files' owners are seen.
    pub users: Option<BorrowedFd<'a>>,
}

/// The number that the kernel gave, or what it said instead.
pub(super) fn answer(result: libc::c_long) -> Result<i32> {
    if result < 0 {
        let errno = std::io::Error::last_os_error().raw_os_error();
        return Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EIO)));
    }
    Ok(i32::try_from(result).unwrap_or(i32::MAX))
}

/// A descriptor that the kernel gave.
fn descriptor(result: libc::c_long) -> Result<OwnedFd> {
    let fd = answer(result)?;
    // SAFETY: the kernel has just made this descriptor for us, so nobody else
    // owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Changes the mount that a descriptor is the root of.
pub(crate) fn change_mount(mount: BorrowedFd<'_>, reach: Reach, change: Change<'_>) -> Result<()> {
    let attributes = libc::mount_attr {
        attr_set: change.set | change.users.map_or(0, |_| libc::MOUNT_ATTR_IDMAP),
        attr_clr: 0,
        propagation: if change.private { libc::MS_PRIVATE } else { 0 },
        userns_fd: change
            .users
            .map_or(0, |fd| fd.as_raw_fd().cast_unsigned().into()),
    };
    let below = match reach {
        Reach::One => 0,
        Reach::Below => libc::AT_RECURSIVE,
    };
    // SAFETY: the path is an empty constant string and the attributes are an
    // initialised structure of the size that is given, both only read.
    answer(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | below,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// Leaves the namespaces that `flags` name for new ones.
pub(crate) fn leave_namespaces(flags: libc::c_int) -> Result<()> {
    // SAFETY: takes an integer. None of the flags that are used makes threads
    // stop sharing memory or descriptors, and there is one thread only.
    answer(unsafe { libc::unshare(flags) }.into())?;
    Ok(())
}

/// Enters a user namespace, as one of its users and the group of that number.
pub(crate) fn enter_users(namespace: BorrowedFd<'_>, user: u32) -> Result<()> {
    // SAFETY: takes a descriptor and an integer; there is one thread only.
    answer(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWUSER) }.into())?;
    // SAFETY: take integers only. The raw calls, because there is one thread.
    answer(unsafe { libc::syscall(libc::SYS_setresgid, user, user, user) })?;
    // SAFETY: as above.
    answer(unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) })?;
    Ok(())
}

/// Gives up all further groups.
pub(crate) fn leave_groups() -> Result<()> {
    // SAFETY: with a length of 0 the list is not read.
    answer(unsafe { libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) })?;
    Ok(())
}

/// Raises the loopback of this process's network namespace.
pub(crate) fn raise_loopback() -> Result<()> {
    let family = rustix::net::AddressFamily::INET;
    let kind = rustix::net::SocketType::DGRAM;
    let flags = rustix::net::SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, kind, flags, None)?;
    // SAFETY: the structure is plain bytes and integers, for which zeroes are
    // valid; the name is shorter than its place and stays terminated; the
    // union's field that is written is the one that this request reads.
    answer(unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (place, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
            *place = byte.cast_signed();
        }
        let up = libc::IFF_UP | libc::IFF_RUNNING;
        request.ifr_ifru.ifru_flags = libc::c_short::try_from(up).unwrap_or(1);
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS,
            std::ptr::from_mut(&mut request),
        )
        .into()
    })?;
    Ok(())
}

/// Whose child a new process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// This process's.
    This,
    /// This process's own parent's.
    Grandparent,
}

/// Forks. Gives 0 to the new process, and its number to this one. The raw
/// call, because no wrapper can say whose child it is to be.
pub(crate) fn fork(parent: Parent) -> Result<i32> {
    let flags = match parent {
        Parent::This => libc::SIGCHLD,
        Parent::Grandparent => libc::SIGCHLD | libc::CLONE_PARENT,
    };
    // SAFETY: without a stack and without shared memory clone is a fork; the
    // arguments that are 0 are not read with these flags. Both processes have
    // one thread and keep to the module's invariant.
    answer(unsafe { libc::syscall(libc::SYS_clone, flags, 0usize, 0usize, 0usize, 0usize) })
}

/// The version of Landlock that the kernel has.
pub(crate) fn landlock_version() -> Result<u32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: asked for its version, the call reads no structure.
    let version = answer(unsafe {
        let none = std::ptr::null::<u8>();
        libc::syscall(libc::SYS_landlock_create_ruleset, none, 0usize, VERSION)
    })?;
    Ok(version.unsigned_abs())
}

/// What a Landlock domain decides about, as the kernel reads it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Handled {
    /// Rights on files.
    pub files: u64,
    /// Rights on the network.
    pub network: u64,
    /// What stays inside.
    pub scoped: u64,
}

/// Makes a set of Landlock rules that allows nothing yet. `bytes` is how much
/// of the structure this kernel knows.
pub(crate) fn landlock_rules(handled: &Handled, bytes: usize) -> Result<OwnedFd> {
    let bytes = bytes.min(size_of::<Handled>());
    // SAFETY: the structure is plain integers in the kernel's own order, and
    // at least `bytes` long.
    descriptor(unsafe {
        let handled = std::ptr::from_ref(handled);
        libc::syscall(libc::SYS_landlock_create_ruleset, handled, bytes, 0)
    })
}

/// Allows `rights` on a file, or on everything below a directory.
pub(crate) fn landlock_allow(rules: impl AsFd, place: impl AsFd, rights: u64) -> Result<()> {
    /// As the kernel reads it.
    #[repr(C, packed)]
    struct Beneath {
        rights: u64,
        place: libc::c_int,
    }
    const PATH_BENEATH: libc::c_int = 1;
    let rule = Beneath {
        rights,
        place: place.as_fd().as_raw_fd(),
    };
    // SAFETY: the rule is plain integers in the kernel's own layout and only
    // read.
    answer(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            rules.as_fd().as_raw_fd(),
            PATH_BENEATH,
            std::ptr::from_ref(&rule),
            0,
        )
    })?;
    Ok(())
}

/// Puts this process under these rules for ever.
pub(crate) fn landlock_enter(rules: impl AsFd) -> Result<()> {
    // SAFETY: takes integers only.
    answer(unsafe {
        libc::syscall(
            libc::SYS_landlock_restrict_self,
            rules.as_fd().as_raw_fd(),
            0,
        )
    })?;
    Ok(())
}

/// One instruction of a filter, as the kernel reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    pub code: u16,
    pub if_true: u8,
    pub if_false: u8,
    pub value: u32,
}

/// Puts every later system call of this process through a filter for ever.
pub(crate) fn filter_calls(program: &[Instruction]) -> Result<()> {
    install(program, 0).map(drop)
}

/// Installs a filter, with further flags; gives what the kernel answers.
pub(super) fn install(program: &[Instruction], flags: libc::c_ulong) -> Result<i32> {
    /// As the kernel reads it.
    #[repr(C)]
    struct Program {
        length: libc::c_ushort,
        instructions: *const Instruction,
    }
    const SET_MODE_FILTER: libc::c_uint = 1;
    /// Speculation is left as it is set for everyone: switching it off for
    /// each filtered process costs more than all of the filter.
    const SPEC_ALLOW: libc::c_ulong = 4;
    let program = Program {
        length: libc::c_ushort::try_from(program.len()).map_err(|_| Errno::INVAL)?,
        instructions: program.as_ptr(),
    };
    // SAFETY: the structure says where the instructions are and how many;
    // they are in the kernel's own layout, only read, and outlive the call.
    answer(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SET_MODE_FILTER,
            SPEC_ALLOW | flags,
            std::ptr::from_ref(&program),
        )
    })
}

/// Takes a capability from what this process could ever have again.
pub(crate) fn drop_from_bounds(capability: u32) -> Result<()> {
    // SAFETY: takes integers only.
    answer(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }.into())?;
    Ok(())
}

/// Gives this process's name in lists.
pub(crate) fn set_name(name: &CStr) {
    // SAFETY: the kernel reads at most 16 bytes of a terminated string.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr(), 0, 0, 0);
    }
}

/// Lets others of this user look into this process, or not.
pub(crate) fn set_dumpable(dumpable: bool) -> Result<()> {
    // SAFETY: takes integers only.
    let set = unsafe {
        libc::prctl(
            libc::PR_SET_DUMPABLE,
            libc::c_ulong::from(dumpable),
            0,
            0,
            0,
        )
    };
    answer(set.into())?;
    Ok(())
}
