//! A program of the user's that the daemon runs beside its sessions, in a
//! closed process tree that can be ended as a whole.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};

use crate::process::ProcessRef;
use crate::sys;
use crate::tree::{self, EndError, Manner, Scope, TreeEnd};

/// A running program with everything that it has started. It is not ended when
/// this is dropped, but with the thread that started it.
#[derive(Debug)]
pub struct Aside {
    reaper: Child,
    root: ProcessRef,
    child: ProcessRef,
    reports: std::fs::File,
}

/// Our ends of a program's standard streams.
#[derive(Debug)]
pub struct Streams {
    /// Its standard input.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// Its standard error.
    pub stderr: ChildStderr,
}

impl Aside {
    /// Starts a command in a session of its own, with pipes for its standard
    /// streams and no other descriptor.
    pub fn start(mut command: Command) -> io::Result<(Aside, Streams)> {
        let (reports, ours) = pipe_with(PipeFlags::CLOEXEC)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        sys::below_reaper(&mut command, ours);
        let mut reaper = command.spawn()?;
        // It holds our end of the reports, which must end with the reaper.
        drop(command);
        let streams = reaper.stdin.take().zip(reaper.stdout.take());
        let streams = streams.zip(reaper.stderr.take());
        let ((stdin, stdout), stderr) = streams.ok_or(io::ErrorKind::BrokenPipe)?;
        let mut reports = std::fs::File::from(reports);
        let mut pid = [0; 4];
        let told = reports.read_exact(&mut pid);
        if let Err(error) = told.and_then(|()| Ok(rustix::io::ioctl_fionbio(&reports, true)?)) {
            // Without its reaper the command ends, too.
            reaper.kill()?;
            reaper.wait()?;
            return Err(error);
        }
        let aside = Aside {
            root: process(reaper.id().cast_signed()),
            child: process(i32::from_ne_bytes(pid)),
            reaper,
            reports,
        };
        let streams = Streams {
            stdin,
            stdout,
            stderr,
        };
        Ok((aside, streams))
    }

    /// The program itself.
    pub fn process(&self) -> ProcessRef {
        self.child
    }

    /// Becomes readable when the program has ended.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.reports.as_fd()
    }

    /// How the program ended; `WouldBlock` while it runs.
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        let mut raw = [0; 4];
        self.reports.read_exact(&mut raw)?;
        Ok(ExitStatus::from_raw(i32::from_ne_bytes(raw)))
    }

    /// Kills the program and everything that it has started, and returns when
    /// none of it lives.
    pub fn end(&self, deadline: Duration) -> Result<(), EndError> {
        let tree = TreeEnd {
            reaper: self.root,
            child: self.child,
            init: None,
            shell: None,
            cgroup: None,
            scope: Scope::Everything,
            manner: Manner::Kill,
            deadline,
        };
        tree::end(&tree).map(drop)
    }

    /// Waits until the kernel has let go of the last process. This takes no
    /// time after [`Aside::end`], unless something could not be killed.
    pub fn reap(mut self) -> io::Result<()> {
        self.reaper.wait().map(drop)
    }
}

/// A process that we have just started. One that is gone already gets a birth
/// that no process has.
fn process(pid: i32) -> ProcessRef {
    ProcessRef::of(pid).unwrap_or(ProcessRef {
        pid,
        start_ticks: 0,
    })
}
