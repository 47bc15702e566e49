//! The child between fork and exec: an ordered list of steps, each of which
//! can fail with its own name.

use std::os::fd::RawFd;

use super::{Image, Slot, close_all_but, errno, signals};
use crate::stage::Stage;

/// The exit code of a child that could not be started; nobody sees it, since
/// the reason travels through the pipe.
const EXIT_NOT_STARTED: i32 = 127;

/// Becomes the program, or says why not through `failures`, which closes by
/// itself when the program is executed.
pub(super) fn run(image: &mut Image, mut failures: RawFd) -> ! {
    let (stage, errno) = become_program(image, &mut failures);
    let mut record = [0; 8];
    let fields = [u32::from(stage).to_ne_bytes(), errno.to_ne_bytes()];
    for (place, byte) in record.iter_mut().zip(fields.iter().flatten()) {
        *place = *byte;
    }
    // SAFETY: the record is 8 readable bytes; write and _exit are plain system
    // calls. A failed write leaves the reaper with the end of the pipe.
    unsafe {
        libc::write(failures, record.as_ptr().cast(), record.len());
        libc::_exit(EXIT_NOT_STARTED)
    }
}

fn become_program(image: &mut Image, failures: &mut RawFd) -> (Stage, i32) {
    // SAFETY: setsid has no preconditions. It cannot fail here: a process
    // that was just forked leads no group.
    unsafe {
        libc::setsid();
    }
    // Descriptors go before the directory: entering it may hang for ever, and
    // then this process must hold nothing that somebody waits to see closed.
    if let Err(errno) = place(&mut image.slots, failures) {
        return (Stage::Descriptors, errno);
    }
    if image.resets_oom_score {
        reset_oom_score();
    }
    // SAFETY: the limit is an initialised structure.
    unsafe {
        libc::setrlimit(libc::RLIMIT_NOFILE, &image.nofile);
    }
    // SAFETY: `cwd` is a string that ends in NUL and outlives the call.
    if unsafe { libc::chdir(image.cwd.as_ptr()) } != 0 {
        return (Stage::Directory, errno());
    }
    signals::reset_all();
    signals::unblock_all();
    // SAFETY: `program` ends in NUL; `argv` and
    // `env` are null-terminated arrays of such strings, all owned by `image`,
    // which outlives the call. execve returns only on failure.
    unsafe {
        libc::execve(
            image.program.as_ptr(),
            image.argv.as_ptr(),
            image.env.as_ptr(),
        );
    }
    (Stage::Execute, errno())
}

/// Gives the descriptors their numbers and closes all others but `failures`.
///
/// A target may be the source of another slot, so all are first moved above
/// every target; from there no copy can overwrite what is still needed.
fn place(slots: &mut [Slot], failures: &mut RawFd) -> Result<(), i32> {
    let floor = slots.last().map_or(0, |slot| slot.target + 1);
    for slot in slots.iter_mut() {
        slot.source = move_above(slot.source, floor)?;
    }
    *failures = move_above(*failures, floor)?;
    for slot in slots.iter() {
        // SAFETY: dup2 on numbers is a plain system call; what it replaces at
        // the target belongs to this process's copy of the table and is not
        // used again. The copy stays open across exec, as it must.
        if unsafe { libc::dup2(slot.source, slot.target) } < 0 {
            return Err(errno());
        }
    }
    let targets = slots.iter().map(|slot| slot.target);
    close_all_but(targets.chain([*failures]));
    Ok(())
}

fn move_above(fd: RawFd, floor: RawFd) -> Result<RawFd, i32> {
    // SAFETY: F_DUPFD_CLOEXEC takes an integer and makes a new descriptor.
    match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, floor) } {
        -1 => Err(errno()),
        moved => Ok(moved),
    }
}

/// A keeper that is spared when memory runs out must not have commands that
/// are. Failure is harmless, so it is not looked at.
fn reset_oom_score() {
    // SAFETY: constant strings that end in NUL or have the given length, and
    // a descriptor that is closed where it was opened. The process must be
    // dumpable to own its files in /proc; exec sets that anew.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0);
        let fd = libc::open(
            c"/proc/self/oom_score_adj".as_ptr(),
            libc::O_WRONLY | libc::O_CLOEXEC,
        );
        if fd >= 0 {
            libc::write(fd, c"0".as_ptr().cast(), 1);
            libc::close(fd);
        }
    }
}
