//! A warm shell: the process, its control channels and its pipes.

use crate::Context;
use crate::driver::{self, REPORT_FD, REQUEST_FD, Report, ReportParser, Style};
use crate::pipes::{self, Pair, Slots, labels};
use crate::ready::ReadyFd;
use crate::recording::OwnOutputs;
use crate::room::Room;
use crate::sandbox::Setting;
use crate::tag::Tag;
use glass_model::{LaunchId, LaunchPlan, Session, Startup};
use glass_spawn::tree::Meter;
use glass_spawn::{Launch, Launched, SpawnError};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags,
    SocketType,
};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::task::Context as TaskContext;
use std::time::Instant;

/// What start files may print, in bytes; more is refused to them.
const STARTUP_OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of reports looked at in one go.
const PEEK_BYTES: usize = 8 * 1024;

/// The labels under which the keeper holds our ends.
pub(crate) const REQUEST_LABEL: &str = "request";
pub(crate) const REPORT_LABEL: &str = "report";
pub(crate) const WALLS_LABEL: &str = "walls";
pub(crate) const STDIN_LABEL: &str = "stdin";
pub(crate) const OWN_LABELS: [&str; 2] = ["own-out", "own-err"];

/// Why a shell could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error("its pipes could not be made")]
    Io(#[from] io::Error),
    #[error("its pipes could not be made")]
    System(#[from] rustix::io::Errno),
}

impl StartError {
    /// Whether its walls were planned for files that have changed since: then it
    /// is worth planning them again.
    pub(crate) fn is_outdated(&self) -> bool {
        use glass_spawn::Stage::{Changed, Mount};
        let stage = match self {
            StartError::Spawn(SpawnError::Failed { stage, .. }) => *stage,
            _ => return false,
        };
        matches!(stage, Changed | Mount)
    }
}

/// A warm shell, starting or ready.
pub(crate) struct WarmShell {
    pub(crate) launched: Launched,
    pub(crate) nonce: String,
    pub(crate) slots: Slots,
    /// When its start files have had their time; none once it is ready.
    pub(crate) ready_by: Option<Instant>,
    request: OwnedFd,
    report: Option<ReadyFd>,
    parser: ReportParser,
    /// Bytes at the front of the report channel that were seen and stay there.
    left_bytes: usize,
    startup_output: Option<OwnedFd>,
    /// Whoever builds its walls listens here, as long as they stand.
    pub(crate) walls: Option<OwnedFd>,
    /// The shell's own outputs, when they are needed and not lent out.
    pub(crate) own: Option<OwnOutputs>,
    /// Knows what its commands have left behind; made when it is ready.
    pub(crate) meter: Option<Meter>,
    /// Whether the session has what it exported when it was asked last.
    pub(crate) exports_known: bool,
}

/// What the report channel has.
pub(crate) enum Peeked {
    /// These reports, in so many bytes, which stay in the channel until
    /// `consume`: a crash in between loses none.
    Reports(Vec<Report>, usize),
    /// Nothing now.
    Nothing,
    /// The driver can report nothing any more.
    End,
}

impl WarmShell {
    /// Starts a shell where the session is, with what the session exports.
    pub(crate) async fn start(
        context: &Context,
        session: &Session,
        startup: Startup,
        room: &Room,
        setting: Setting,
    ) -> Result<WarmShell, StartError> {
        let dir = room.dir.as_path();
        let nonce = crate::random::nonce();
        let (request, child_request) = channel()?;
        let (report, child_report) = channel()?;
        rustix::net::sockopt::set_socket_passcred(&report, true)?;
        let mut slots = Slots::new(dir, 0);
        let (slot, pair) = slots.make()?;
        let argv = driver::argv(&session.shell, startup, Style::Warm, dir);
        let request_fd = if argv.stdin_is_control { 0 } else { REQUEST_FD };
        let mut held = held_pair(slot, &pair)?;
        let (outputs, startup_output, own) = if argv.own_output_is_commands {
            let (out, child_out) = pipes::plain()?;
            let (err, child_err) = pipes::plain()?;
            held.push((OWN_LABELS[0].to_owned(), out.try_clone()?));
            held.push((OWN_LABELS[1].to_owned(), err.try_clone()?));
            (
                (child_out, child_err),
                None,
                Some(OwnOutputs::new((out, err))?),
            )
        } else {
            let log = startup_output()?;
            ((log.try_clone()?, log.try_clone()?), Some(log), None)
        };
        let child_fds = vec![
            (1, outputs.0),
            (2, outputs.1),
            (request_fd, child_request),
            (REPORT_FD, child_report),
        ];
        held.push((REQUEST_LABEL.to_owned(), request.try_clone()?));
        held.push((REPORT_LABEL.to_owned(), report.try_clone()?));
        slots.give_back(slot, pair);
        let (walls, walls_control) = match &setting.walls {
            Some(_) => Some(walls_channel()?).unzip(),
            None => (None, None),
        };
        if let Some(walls) = &walls {
            held.push((WALLS_LABEL.to_owned(), walls.try_clone()?));
        }
        let plan = LaunchPlan {
            program: argv.program,
            argv: argv.argv,
            env: context.shell_env(session, setting.env),
            cwd: setting.cwd.into_bytes(),
            resources: context.resources(),
            takes_terminal: false,
            walls: setting.walls,
            // A name of its own: whoever still makes sure that the last shell's
            // group is empty must not find this shell in it. And not the nonce,
            // because every process can read the name of its group.
            cgroup: context.cgroup_name(&format!("{}-{}", session.id, crate::random::nonce())),
        };
        let tag = Tag::Warm {
            session: session.id.clone(),
            nonce: nonce.clone(),
            room: room.key.clone(),
        }
        .encode();
        let launched = context
            .keeper
            .spawn(Launch {
                plan,
                child_fds,
                held,
                tag,
                walls_control,
            })
            .await?;
        Ok(WarmShell {
            launched,
            nonce,
            slots,
            ready_by: Some(Instant::now() + context.startup_time(startup)),
            request,
            report: Some(ReadyFd::register(report)?),
            parser: ReportParser::default(),
            left_bytes: 0,
            startup_output,
            walls,
            own,
            meter: None,
            exports_known: false,
        })
    }

    /// Takes up a shell that outlived the last daemon. Whether it is ready is
    /// not known until it says so, or until it answers.
    pub(crate) fn adopt(
        launched: Launched,
        nonce: String,
        slots: Slots,
        request: OwnedFd,
        report: OwnedFd,
        walls: Option<OwnedFd>,
        own: Option<Pair>,
    ) -> io::Result<WarmShell> {
        Ok(WarmShell {
            launched,
            nonce,
            slots,
            ready_by: None,
            request,
            report: Some(ReadyFd::register(report)?),
            parser: ReportParser::default(),
            left_bytes: 0,
            startup_output: None,
            walls,
            own: own.map(OwnOutputs::new).transpose()?,
            meter: None,
            exports_known: false,
        })
    }

    pub(crate) fn id(&self) -> LaunchId {
        self.launched.id
    }

    /// Sends one message whole. Requests are small and the driver reads one at
    /// a time, so the channel has room unless the shell does not read at all.
    pub(crate) fn send(&self, message: &[u8]) -> io::Result<()> {
        send_whole(&self.request, message)
    }

    pub(crate) fn poll_report(&self, cx: &mut TaskContext<'_>) -> bool {
        let Some(report) = &self.report else {
            return false;
        };
        match self.left_bytes {
            0 => report.poll_readable(cx),
            // The other end may be gone, as after `exec`: then nothing new will
            // come, and the process's end tells the rest.
            seen => report.poll_more_than(cx, seen),
        }
    }

    /// Looks at the reports without taking them. Bytes that the driver itself
    /// did not send are thrown away: the kernel says who sent each.
    pub(crate) fn peek(&mut self) -> io::Result<Peeked> {
        let driver_pid = self.launched.child.pid;
        loop {
            let Some(report) = &self.report else {
                return Ok(Peeked::End);
            };
            let mut buffer = [0; PEEK_BYTES];
            let (count, sender) = match receive(report, &mut buffer, RecvFlags::PEEK) {
                Ok(received) => received,
                Err(rustix::io::Errno::AGAIN) => {
                    report.exhausted();
                    return Ok(Peeked::Nothing);
                }
                Err(error) => return Err(error.into()),
            };
            if count == 0 {
                self.report = None;
                return Ok(Peeked::End);
            }
            if sender != Some(driver_pid) {
                tracing::warn!(
                    ?sender,
                    driver_pid,
                    count,
                    "a forged report was thrown away"
                );
                self.consume(count)?;
                continue;
            }
            let mut parser = self.parser.clone();
            let reports = parser.push(&buffer[..count]).map_err(io::Error::other)?;
            let unfinished = parser.pending_bytes();
            if !reports.is_empty() {
                self.parser = ReportParser::default();
                return Ok(Peeked::Reports(reports, count - unfinished.min(count)));
            }
            if rustix::io::ioctl_fionread(report.as_fd())? > count as u64 {
                // Somebody else's bytes stand between two halves of a report.
                self.parser = parser;
                self.consume(count)?;
                continue;
            }
            self.leave(count);
            return Ok(Peeked::Nothing);
        }
    }

    /// Whether it has said something that was not seen yet.
    pub(crate) fn has_news(&self) -> bool {
        self.has_more_than(self.left_bytes)
    }

    /// Whether more than so many bytes wait in the channel.
    pub(crate) fn has_more_than(&self, bytes: usize) -> bool {
        let report = self.report.as_ref();
        report.is_some_and(|report| report.has_more_than(bytes))
    }

    /// Believes nothing any more that comes through the channel.
    pub(crate) fn stop_listening(&mut self) {
        self.report = None;
    }

    /// Waits for something new, although the bytes that were seen stay in the
    /// channel.
    pub(crate) fn leave(&mut self, bytes: usize) {
        self.left_bytes = bytes;
        if let Some(report) = &self.report {
            report.exhausted();
        }
    }

    /// Takes bytes that `peek` has shown.
    pub(crate) fn consume(&mut self, mut count: usize) -> io::Result<()> {
        self.left_bytes = 0;
        let Some(report) = &self.report else {
            return Ok(());
        };
        let mut buffer = [0; PEEK_BYTES];
        while count > 0 {
            let want = count.min(PEEK_BYTES);
            let (taken, _) = receive(report, &mut buffer[..want], RecvFlags::empty())?;
            if taken == 0 {
                break;
            }
            count -= taken;
        }
        Ok(())
    }

    /// What the start files printed, once.
    pub(crate) fn startup_output(&mut self) -> Vec<u8> {
        if let Some(own) = &self.own {
            return own.take_stray(STARTUP_OUTPUT_BYTES_MAX as usize);
        }
        let Some(log) = self.startup_output.take() else {
            return Vec::new();
        };
        let mut text = vec![0; STARTUP_OUTPUT_BYTES_MAX as usize];
        let count = rustix::io::pread(&log, &mut text, 0).unwrap_or(0);
        text.truncate(count);
        let end = text
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        text.truncate(end);
        text
    }

    /// A pair of pipes for the next command; made, and held by the keeper, when
    /// all others are in use.
    pub(crate) async fn take_slot(&mut self, context: &Context) -> io::Result<(u32, Pair)> {
        if let Some(free) = self.slots.take() {
            return Ok(free);
        }
        let (slot, pair) = self.slots.make()?;
        crate::failpoint::hit("slot-made");
        let held = held_pair(slot, &pair)?;
        context
            .keeper
            .hold(self.launched.id, held)
            .await
            .map_err(io::Error::other)?;
        Ok((slot, pair))
    }
}

fn held_pair(slot: u32, pair: &Pair) -> io::Result<Vec<(String, OwnedFd)>> {
    let (out, err) = labels(slot);
    Ok(vec![(out, pair.0.try_clone()?), (err, pair.1.try_clone()?)])
}

/// Sends a message whole or not at all.
pub(crate) fn send_whole(channel: &OwnedFd, message: &[u8]) -> io::Result<()> {
    let sent = rustix::net::send(channel, message, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
    if sent < message.len() {
        return Err(io::Error::other("the shell does not read its requests"));
    }
    Ok(())
}

/// A pair of connected sockets; a pipe could be opened again by any program
/// through `/proc`, a socket cannot.
pub(crate) fn channel() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
}

/// A pair of connected sockets that keep messages apart.
pub(crate) fn walls_channel() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
}

fn receive(
    socket: &ReadyFd,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> rustix::io::Result<(usize, Option<i32>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::net::recvmsg(
        socket,
        &mut [IoSliceMut::new(buffer)],
        &mut control,
        flags | RecvFlags::DONTWAIT,
    )?;
    let mut sender = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmCredentials(credentials) = message {
            sender = Some(credentials.pid.as_raw_nonzero().get());
        }
    }
    Ok((received.bytes, sender))
}

/// A file in memory that cannot grow: start files that flood it are refused,
/// and nobody needs to read it.
fn startup_output() -> rustix::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create(c"startup", flags)?;
    rustix::fs::ftruncate(&file, STARTUP_OUTPUT_BYTES_MAX)?;
    rustix::fs::fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file)
}

/// The directory itself, or the nearest one above it that is still there: a
/// command may have removed the one that its session was in.
pub(crate) fn existing_directory(cwd: &str) -> String {
    let mut path = Path::new(cwd);
    while !path.is_dir() {
        match path.parent() {
            Some(parent) => path = parent,
            None => return "/".to_owned(),
        }
    }
    path.to_string_lossy().into_owned()
}
