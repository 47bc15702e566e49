//! The child between fork and exec: an ordered list of steps, each of which
//! can fail with its own name.
//!
//! Without walls the process that was forked becomes the program. With walls
//! of namespaces it is their builder: it forks init and the shell inside, says
//! who they are, and ends.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use glass_model::WallBuild;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use super::kernel::{self, Parent};
use super::outcome::{Outcome, say};
use super::{Image, Slot, close_all_but, errno, signals};
use crate::stage::Stage;
use crate::walls::{self, At, Failure, Plan, Rules};

/// The exit code of a child that could not be started; nobody sees it, since
/// the reason travels through the pipe.
const EXIT_NOT_STARTED: i32 = 127;

/// The exit code of a child that was let through its gate and whose program
/// cannot be executed, as shells have it.
const EXIT_NOT_EXECUTED: i32 = 126;

/// Becomes the program, or says why not through `failures`, which closes by
/// itself when the program is executed.
pub(super) fn run(image: &mut Image, mut failures: RawFd) -> ! {
    let failure = match become_program(image, &mut failures) {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    if failures == libc::STDERR_FILENO {
        say_not_executed();
        exit(EXIT_NOT_EXECUTED);
    }
    say(failures, Outcome::Failed(failure));
    exit(EXIT_NOT_STARTED)
}

/// Behind the gate nobody listens but whoever reads the child's output.
fn say_not_executed() {
    const MESSAGE: &[u8] = b"shellglass: the shell cannot be executed\n";
    // SAFETY: the message is a constant of the given length.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
    }
}

/// What has no value: the process is another program by then.
enum Never {}

fn exit(code: i32) -> ! {
    // SAFETY: ends this process without running anything.
    unsafe { libc::_exit(code) }
}

fn failed(stage: Stage, errno: i32) -> Failure {
    Failure {
        stage,
        errno: Errno::from_raw_os_error(errno),
        detail: 0,
    }
}

fn become_program(image: &mut Image, failures: &mut RawFd) -> Result<Never, Failure> {
    // SAFETY: setsid has no preconditions. It cannot fail here: a process
    // that was just forked leads no group.
    unsafe {
        libc::setsid();
    }
    join_groups(&image.joins)?;
    // Descriptors go before the directory: entering it may hang for ever, and
    // then this process must hold nothing that somebody waits to see closed.
    place(image, failures).map_err(|errno| failed(Stage::Descriptors, errno))?;
    if image.resets_oom_score {
        reset_oom_score();
    }
    let rules = match &image.walls {
        None => None,
        Some(plan) => {
            refuse_directories(&image.slots)?;
            let (rules, init) = match plan.build {
                WallBuild::Namespaces => {
                    let (rules, init) = go_inside(plan, image, *failures)?;
                    (rules, Some(init))
                }
                WallBuild::LandlockOnly => {
                    let rules = walls::enter_landlock_only(plan, &given(&image.slots))?;
                    (rules, None)
                }
            };
            Some((plan, rules, init))
        }
    };
    if image.takes_terminal {
        take_terminal()?;
    }
    limit(image)?;
    // SAFETY: `cwd` is a string that ends in NUL and outlives the call.
    if unsafe { libc::chdir(image.cwd.as_ptr()) } != 0 {
        return Err(failed(Stage::Directory, errno()));
    }
    signals::reset_all();
    signals::unblock_all();
    if let Some((plan, rules, init)) = rules {
        walls::confine(plan, &rules, init.as_ref().map(AsFd::as_fd))?;
    }
    if let Some(gate) = image.gate {
        pass(gate, failures);
    }
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
    Err(failed(Stage::Execute, errno()))
}

/// Builds the walls, and returns in the shell's process behind them, with a
/// socket to init.
fn go_inside(plan: &Plan, image: &Image, failures: RawFd) -> Result<(Rules, OwnedFd), Failure> {
    let (ours, theirs) = walls::pair().at(Stage::Fork)?;
    let users = image.users.map(|[inner, mounts]| {
        // SAFETY: both were kept for this process, and nothing else owns them.
        let own = |fd| unsafe { OwnedFd::from_raw_fd(fd) };
        walls::Users {
            inner: own(inner),
            mounts: own(mounts),
        }
    });
    // Where root cannot be made somebody else, it stays who it is.
    let materials = users.as_ref().and_then(|users| walls::gather(plan, users));
    if materials.is_some() {
        walls::hand_over(&given(&image.slots));
    }
    walls::separate(plan, users.as_ref().filter(|_| materials.is_some()))?;
    drop(users);
    let init = kernel::fork(Parent::This).at(Stage::Fork)?;
    if init == 0 {
        be_init(theirs, image.control, plan);
    }
    drop(theirs);
    let rules = walls::raise(plan, materials, ours.as_fd(), &given(&image.slots))?;
    let gate = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).at(Stage::Fork)?;
    let (gate, opener) = gate;
    let shell = kernel::fork(Parent::Grandparent).at(Stage::Fork)?;
    if shell == 0 {
        drop(opener);
        wait_at(&gate);
        return Ok((rules, ours));
    }
    say(failures, Outcome::Inside { shell, init });
    // It ends by itself if this fails, as init does.
    let _ = rustix::io::write(&opener, &[0]);
    exit(0)
}

/// Waits until the reaper knows of this process, for nothing may ever run that
/// it does not know of.
fn wait_at(gate: &OwnedFd) {
    let mut byte = [0];
    if rustix::io::retry_on_intr(|| rustix::io::read(gate, &mut byte)) != Ok(1) {
        exit(EXIT_NOT_STARTED);
    }
    // SAFETY: setsid has no preconditions, and cannot fail in a process that
    // was just forked.
    unsafe {
        libc::setsid();
    }
}

/// Lives as the first process behind the walls, with nothing of the launch's.
fn be_init(builder: OwnedFd, control: Option<RawFd>, plan: &Plan) -> ! {
    let builder_fd = builder.as_raw_fd();
    let mut keep = [builder_fd, control.unwrap_or(builder_fd)];
    keep.sort_unstable();
    close_all_but(keep.into_iter());
    // SAFETY: setsid has no preconditions; SIG_IGN installs no code of ours,
    // and lets children that end vanish by themselves. The control descriptor
    // is nobody else's in this process.
    let control = unsafe {
        libc::setsid();
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        control.map(|fd| OwnedFd::from_raw_fd(fd))
    };
    walls::run_init(builder, control, plan);
    exit(0)
}

/// The descriptors that the program is given.
fn given(slots: &[Slot]) -> Vec<BorrowedFd<'_>> {
    let open = slots.iter().map(|slot| {
        // SAFETY: every target was placed, and stays open until exec.
        unsafe { BorrowedFd::borrow_raw(slot.target) }
    });
    open.collect()
}

/// A directory of the host's would be a door in the walls: what is opened
/// from it is on the host's mounts.
fn refuse_directories(slots: &[Slot]) -> Result<(), Failure> {
    for fd in given(slots) {
        let stat =
            rustix::fs::fstat(fd).map_err(|e| failed(Stage::Descriptors, e.raw_os_error()))?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() {
            return Err(failed(Stage::Descriptors, libc::EISDIR));
        }
    }
    Ok(())
}

/// Makes standard input the controlling terminal. This process leads its
/// session and has none yet; nobody else's is taken away.
fn take_terminal() -> Result<(), Failure> {
    // SAFETY: standard input was placed, and stays open until exec.
    let stdin = unsafe { BorrowedFd::borrow_raw(libc::STDIN_FILENO) };
    rustix::process::ioctl_tiocsctty(stdin)
        .map_err(|errno| failed(Stage::Descriptors, errno.raw_os_error()))
}

/// Joins groups that limit this process and all that comes of it.
fn join_groups(groups: &[RawFd]) -> Result<(), Failure> {
    for group in groups {
        // SAFETY: the text is a constant of the length that is given; 0 means
        // whoever writes it.
        let written = unsafe { libc::write(*group, c"0".as_ptr().cast(), 1) };
        if written != 1 {
            return Err(failed(Stage::Limits, errno()));
        }
    }
    Ok(())
}

/// Sets the limits of the process itself.
fn limit(image: &Image) -> Result<(), Failure> {
    // SAFETY: the limit is an initialised structure.
    unsafe {
        libc::setrlimit(libc::RLIMIT_NOFILE, &image.nofile);
    }
    for (resource, most) in &image.rlimits {
        let mut limit = image.nofile;
        // SAFETY: `limit` has room for the answer.
        if unsafe { libc::getrlimit(*resource, &mut limit) } != 0 {
            return Err(failed(Stage::Limits, errno()));
        }
        // Whoever is limited to less already stays so.
        limit.rlim_max = limit.rlim_max.min(*most);
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the limit is an initialised structure.
        if unsafe { libc::setrlimit(*resource, &limit) } != 0 {
            return Err(failed(Stage::Limits, errno()));
        }
    }
    Ok(())
}

/// Waits at the gate. All that can still fail is the program itself, so this
/// counts as begun: `failures` is closed, and standard error, which is the
/// child's by now, takes its place.
fn pass(gate: RawFd, failures: &mut RawFd) {
    // SAFETY: closing a descriptor that is not used again, because its number
    // is replaced.
    unsafe {
        libc::close(*failures);
    }
    *failures = libc::STDERR_FILENO;
    let mut byte = 0u8;
    loop {
        // SAFETY: the buffer is one writable byte.
        match unsafe { libc::read(gate, std::ptr::from_mut(&mut byte).cast(), 1) } {
            1 => return,
            -1 if errno() == libc::EINTR => {}
            _ => exit(EXIT_NOT_STARTED),
        }
    }
}

/// Gives the descriptors their numbers and closes all others but those that
/// are needed before the program is executed.
///
/// A target may be the source of another slot, so all are first moved above
/// every target; from there no copy can overwrite what is still needed.
fn place(image: &mut Image, failures: &mut RawFd) -> Result<(), i32> {
    let Image {
        slots,
        control,
        gate,
        users,
        ..
    } = image;
    let floor = slots.last().map_or(0, |slot| slot.target + 1);
    for slot in slots.iter_mut() {
        slot.source = move_above(slot.source, floor)?;
    }
    for fd in [&mut *control, &mut *gate].into_iter().flatten() {
        *fd = move_above(*fd, floor)?;
    }
    for fd in users.iter_mut().flatten() {
        *fd = move_above(*fd, floor)?;
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
    let [inner, mounts] = users.unwrap_or([*failures; 2]);
    let mut kept = [
        inner,
        mounts,
        control.unwrap_or(*failures),
        gate.unwrap_or(*failures),
        *failures,
    ];
    kept.sort_unstable();
    let targets = slots.iter().map(|slot| slot.target);
    close_all_but(targets.chain(kept));
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
