//! The reaper: a process that starts one child, adopts whatever that child
//! leaves behind, and stays until nothing of it lives. Because orphans land
//! here, a launch's process tree is always closed.

use std::os::fd::RawFd;

use super::outcome::{Heard, Outcome, hear};
use super::{Image, child, close_all_but, errno};
use crate::procfs::parse_stat;
use crate::report::{News, Report};
use crate::stage::Stage;
use crate::walls::Failure;
use glass_model::Usage;

/// The unit of the kernel's peak of memory, in bytes.
const KIB: u64 = 1024;

/// The unit of the kernel's counts of storage, in bytes, whatever a disk has.
const BLOCK_BYTES: u64 = 512;

/// Ends the process if anything should ever unwind: a forked copy must not
/// go on as a second keeper.
pub(super) struct NeverReturns;

impl Drop for NeverReturns {
    fn drop(&mut self) {
        exit(70);
    }
}

pub(super) fn exit(code: i32) -> ! {
    // SAFETY: ends this process without running anything.
    unsafe { libc::_exit(code) }
}

/// Runs the reaper in the process that was just forked for it.
pub(super) fn run(image: &mut Image) -> ! {
    let _guard = NeverReturns;
    shelter();
    let mut pipe: [RawFd; 2] = [-1; 2];
    // SAFETY: `pipe` has room for the two descriptors.
    if unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        fail(image, Stage::Fork, errno());
    }
    let [outcome, failures] = pipe;
    let (pid, in_cgroup) = match fork_child(image.cgroup) {
        Ok((0, false)) if image.needs_cgroup => exit(0),
        Ok((_, false)) if image.needs_cgroup => fail(image, Stage::Limits, libc::EOPNOTSUPP),
        Ok((0, _)) => child::run(image, failures),
        Ok(child) => child,
        Err(errno) => fail(image, Stage::Fork, errno),
    };
    let reports = image.reports;
    close_all_but([outcome.min(reports), outcome.max(reports)].into_iter());
    // SAFETY: takes integers only. From here on other programs of the same
    // user cannot reach into this process and speak to the keeper in its name.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    let (child, started) = follow(image, outcome, pid, in_cgroup);
    send(image, started);
    // SAFETY: `outcome` is ours and is not used again.
    unsafe {
        libc::close(outcome);
    }
    reap(image, child, started == News::Started)
}

/// Reports the child as soon as it is known, and gives it and how it began.
/// Behind namespaces it is not the process that was forked here, but the shell
/// that this one forks and then ends.
fn follow(image: &Image, outcome: RawFd, forked: i32, in_cgroup: bool) -> (i32, News) {
    let announce = |pid: i32| {
        let start_ticks = start_ticks(pid);
        send(
            image,
            News::Forked {
                pid,
                start_ticks,
                in_cgroup,
            },
        );
    };
    let mut child = (!image.has_builder()).then_some(forked);
    child.into_iter().for_each(announce);
    loop {
        match hear(outcome) {
            Heard::Record(Outcome::Inside { shell, init }) => {
                child = Some(shell);
                announce(shell);
                let start_ticks = start_ticks(init);
                send(
                    image,
                    News::Walled {
                        pid: init,
                        start_ticks,
                    },
                );
            }
            Heard::Record(Outcome::Failed(failure)) => {
                return (child.unwrap_or(forked), news_of(failure));
            }
            Heard::Closed => {
                return match child {
                    Some(child) => (child, News::Started),
                    // It was killed while it built the walls.
                    None => (forked, failure(Stage::Namespaces, libc::ECHILD)),
                };
            }
        }
    }
}

fn failure(stage: Stage, errno: i32) -> News {
    News::Failed {
        stage: stage.into(),
        errno,
        detail: 0,
    }
}

fn news_of(failure: Failure) -> News {
    News::Failed {
        stage: failure.stage.into(),
        errno: failure.errno.raw_os_error(),
        detail: failure.detail.into(),
    }
}

/// Makes this process a home for orphans that nothing ends by accident: its
/// own session, and no signal but SIGKILL and SIGSTOP gets through.
pub(super) fn shelter() {
    // SAFETY: the set is initialised by sigfillset before it is used; the
    // name is a constant string; the other calls take integers only.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
        libc::setsid();
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_NAME, c"glass-reaper".as_ptr(), 0, 0, 0);
    }
}

/// Forks, into the cgroup where that works. Gives 0 to the child; to the
/// parent the child's number, and whether it is in the cgroup.
fn fork_child(cgroup: Option<RawFd>) -> Result<(i32, bool), i32> {
    if let Some(directory) = cgroup {
        // SAFETY: `clone_args` is plain integers. Without a stack and without
        // shared memory clone3 is a fork, and the new process keeps to the
        // module's invariant.
        let pid = unsafe {
            let mut args: libc::clone_args = std::mem::zeroed();
            args.flags = 0x2_0000_0000; // CLONE_INTO_CGROUP, too wide for an int.
            args.exit_signal = libc::SIGCHLD.cast_unsigned().into();
            args.cgroup = directory.cast_unsigned().into();
            let size = size_of::<libc::clone_args>();
            libc::syscall(libc::SYS_clone3, std::ptr::from_mut(&mut args), size)
        };
        if let Ok(pid) = i32::try_from(pid)
            && pid >= 0
        {
            return Ok((pid, true));
        }
    }
    // SAFETY: the new process keeps to the module's invariant.
    match unsafe { libc::fork() } {
        -1 => Err(errno()),
        pid => Ok((pid, false)),
    }
}

/// Waits for everything there is, reports the child, and ends when nothing is
/// left.
fn reap(image: &Image, child: i32, reported: bool) -> ! {
    loop {
        let mut raw = 0;
        // SAFETY: a set of integers, for which zero is a value.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `raw` and `used` are valid places for what is written there.
        let pid = unsafe { libc::wait4(-1, &mut raw, 0, &mut used) };
        if pid == child && reported {
            let usage = usage_of(&used);
            send(image, News::Exited { raw, usage });
        }
        if pid < 0 && errno() != libc::EINTR {
            exit(0);
        }
    }
}

/// What the kernel says that a child and those that it waited for have used.
fn usage_of(used: &libc::rusage) -> Usage {
    let natural = |value: i64| u64::try_from(value).unwrap_or(0);
    let micros = |time: libc::timeval| {
        natural(time.tv_sec)
            .saturating_mul(1_000_000)
            .saturating_add(natural(time.tv_usec))
    };
    Usage {
        user_us: micros(used.ru_utime),
        system_us: micros(used.ru_stime),
        peak_memory_bytes: natural(used.ru_maxrss).saturating_mul(KIB),
        read_bytes: natural(used.ru_inblock).saturating_mul(BLOCK_BYTES),
        written_bytes: natural(used.ru_oublock).saturating_mul(BLOCK_BYTES),
    }
}

fn fail(image: &Image, stage: Stage, errno: i32) -> ! {
    send(image, failure(stage, errno));
    exit(0)
}

fn send(image: &Image, news: News) {
    let report = Report {
        launch: image.launch,
        news,
    }
    .encode();
    // SAFETY: the buffer has the length that is given. If the keeper is gone
    // nobody is left to tell, and the tree is still worth keeping closed.
    unsafe {
        libc::send(
            image.reports,
            report.as_ptr().cast(),
            report.len(),
            libc::MSG_NOSIGNAL,
        );
    }
}

/// When the child began. It cannot have been reaped yet, so the file is there.
fn start_ticks(pid: i32) -> u64 {
    let mut path = [0u8; 32];
    proc_stat_path(pid, &mut path);
    let mut line = [0u8; 1024];
    // SAFETY: `path` ends in NUL, because the digits of any pid leave room;
    // the buffer has the length that is given; the descriptor is closed where
    // it was opened.
    let got = unsafe {
        let fd = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        let got = libc::read(fd, line.as_mut_ptr().cast(), line.len());
        libc::close(fd);
        usize::try_from(got).unwrap_or(0)
    };
    let stat = line.get(..got).and_then(parse_stat);
    stat.map_or(0, |stat| stat.start_ticks)
}

/// Writes `/proc/PID/stat` and its NUL without allocating.
fn proc_stat_path(pid: i32, path: &mut [u8; 32]) {
    let mut digits = [0u8; 10];
    let mut rest = pid.unsigned_abs();
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    let digits = digits.iter().skip(digits.len() - count);
    let bytes = b"/proc/".iter().chain(digits).chain(b"/stat\0");
    for (place, byte) in path.iter_mut().zip(bytes) {
        *place = *byte;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_path_of_any_pid_is_right() {
        for pid in [1, 10, 4_194_304, i32::MAX] {
            let mut path = [0; 32];
            super::proc_stat_path(pid, &mut path);
            let expected = format!("/proc/{pid}/stat\0");
            assert!(path.starts_with(expected.as_bytes()), "{pid}");
        }
    }
}
