//! The keeper's loop: one `poll` over everything that can happen.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::SocketFlags;
use rustix::process::WaitOptions;

use super::connection::Connection;
use super::launches::{Effect, Launches, ReaperEnd};
use super::setting::Setting;
use super::socket::Claim;
use super::{KeeperError, KeeperOptions, orphans};
use crate::cgroup;
use crate::limits::{
    CGROUP_REMOVALS_MAX, GREETING_WAIT, GREETINGS_MAX, REQUESTS_PER_TURN_MAX, RETRY_WAIT,
};
use crate::report::{REPORT_BYTES, Report};

mod requests;

/// A client that has said hello.
struct Daemon {
    /// Counted from the first, so that answers never reach a successor.
    number: u64,
    connection: Connection,
}

/// A client that has not said hello yet.
struct Greeting {
    connection: Connection,
    until: Instant,
}

/// A keeper at work.
pub(super) struct Server {
    options: KeeperOptions,
    claim: Claim,
    setting: Setting,
    launches: Launches,
    daemon: Option<Daemon>,
    daemons_seen: u64,
    greetings: Vec<Greeting>,
    /// Nobody is accepted before this: there were no descriptors left.
    door_shut_until: Option<Instant>,
    /// Lists that wait until every child has a number: request and start.
    waiting_lists: Vec<(u64, u64)>,
    /// Children that are no reapers were there at the last look.
    orphans: bool,
    removals: Vec<(PathBuf, u32)>,
    /// SIGTERM came: leave as soon as no child lives.
    leaving: bool,
    /// Since when there has been neither a child nor a daemon.
    quiet_since: Option<Instant>,
}

/// What `poll` found.
struct Ready {
    reports: bool,
    signals: bool,
    listener: bool,
    daemon: PollFlags,
    greetings: Vec<bool>,
}

impl Server {
    pub fn new(
        options: KeeperOptions,
        claim: Claim,
        setting: Setting,
    ) -> Result<Server, KeeperError> {
        Ok(Server {
            options,
            claim,
            setting,
            launches: Launches::since(SystemTime::now()),
            daemon: None,
            daemons_seen: 0,
            greetings: Vec::new(),
            door_shut_until: None,
            waiting_lists: Vec::new(),
            orphans: false,
            removals: Vec::new(),
            leaving: false,
            quiet_since: Some(Instant::now()),
        })
    }

    /// Serves until it is not needed any more.
    pub fn serve(mut self) -> Result<(), KeeperError> {
        loop {
            let ready = self.poll().map_err(|source| KeeperError::Setup {
                what: "wait for something to happen",
                source,
            })?;
            if ready.reports {
                self.read_reports();
            }
            if ready.signals {
                self.read_signals();
            }
            self.retry();
            if !ready.daemon.is_empty() {
                self.serve_daemon(ready.daemon);
            }
            self.serve_greetings(&ready.greetings);
            if ready.listener {
                self.accept();
            }
            self.answer_waiting_lists();
            if self.is_over() {
                return Ok(());
            }
        }
    }

    fn poll(&self) -> io::Result<Ready> {
        let mut fds = vec![
            PollFd::new(&self.setting.reports, PollFlags::IN),
            PollFd::new(&self.setting.signals, PollFlags::IN),
        ];
        // With enough clients at the door, the others wait outside.
        let shut = self
            .door_shut_until
            .is_some_and(|until| Instant::now() < until);
        let listens = self.greetings.len() < GREETINGS_MAX && !shut;
        if listens {
            fds.push(PollFd::new(&self.claim.listener, PollFlags::IN));
        }
        if let Some(daemon) = &self.daemon {
            let out = daemon.connection.is_waiting();
            let flags = if out {
                PollFlags::IN | PollFlags::OUT
            } else {
                PollFlags::IN
            };
            fds.push(PollFd::new(&daemon.connection, flags));
        }
        for greeting in &self.greetings {
            fds.push(PollFd::new(&greeting.connection, PollFlags::IN));
        }
        let timeout = self.timeout().map(|wait| Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        });
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut fds, timeout.as_ref()))?;
        let mut found = fds.iter().map(PollFd::revents);
        let mut next = || found.next().unwrap_or(PollFlags::empty());
        Ok(Ready {
            reports: !next().is_empty(),
            signals: !next().is_empty(),
            listener: listens && !next().is_empty(),
            daemon: self.daemon.as_ref().map_or(PollFlags::empty(), |_| next()),
            greetings: self.greetings.iter().map(|_| !next().is_empty()).collect(),
        })
    }

    /// How long nothing needs to be done unless something happens.
    fn timeout(&self) -> Option<Duration> {
        let now = Instant::now();
        let until = |at: Instant| at.saturating_duration_since(now);
        let greeting = self
            .greetings
            .iter()
            .map(|greeting| until(greeting.until))
            .min();
        let retry = (self.orphans || !self.removals.is_empty()).then_some(RETRY_WAIT);
        let idle = self
            .quiet_since
            .map(|since| until(since + self.idle_limit()));
        let door = self
            .door_shut_until
            .map(until)
            .filter(|wait| !wait.is_zero());
        [greeting, retry, idle, door].into_iter().flatten().min()
    }

    fn idle_limit(&self) -> Duration {
        if self.launches.any_unclaimed() {
            self.options.unclaimed.max(self.options.idle)
        } else {
            self.options.idle
        }
    }

    fn is_over(&mut self) -> bool {
        if self.launches.any_alive() || !self.removals.is_empty() {
            self.quiet_since = None;
            return false;
        }
        if self.leaving {
            return true;
        }
        if self.daemon.is_some() || !self.greetings.is_empty() {
            self.quiet_since = None;
            return false;
        }
        let since = *self.quiet_since.get_or_insert_with(Instant::now);
        if since.elapsed() < self.idle_limit() {
            return false;
        }
        // Somebody may have come to the door in this very moment.
        self.accept();
        self.greetings.is_empty()
    }

    fn read_reports(&mut self) {
        let mut record = [0; REPORT_BYTES];
        loop {
            match rustix::io::read(&self.setting.reports, &mut record) {
                Ok(0) => break,
                Ok(bytes) => {
                    let report = record.get(..bytes).and_then(Report::decode);
                    let connection = self.daemon.as_ref().map(|daemon| daemon.number);
                    if let Some(report) = report {
                        let effects = self.launches.apply(report, connection);
                        self.perform(effects);
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
    }

    fn read_signals(&mut self) {
        let mut numbers = [0; 64];
        while let Ok(count) = rustix::io::read(&self.setting.signals, &mut numbers) {
            let asked = numbers
                .iter()
                .take(count)
                .any(|n| i32::from(*n) == libc::SIGTERM);
            if asked {
                tracing::info!("the keeper leaves when no child lives");
                self.leaving = true;
            }
            if count < numbers.len() {
                break;
            }
        }
        self.reap();
    }

    /// Waits for every child that has ended.
    fn reap(&mut self) {
        let mut ended = Vec::new();
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let clean = status.exit_status() == Some(0);
            let how = if clean {
                ReaperEnd::Done
            } else {
                ReaperEnd::Killed
            };
            ended.push((pid.as_raw_nonzero().get(), how));
        }
        // What a reaper said before it ended comes before its end.
        self.read_reports();
        for (pid, how) in ended {
            if self.launches.is_reaper(pid) {
                self.orphans |= how == ReaperEnd::Killed;
                let effects = self.launches.reaper_ended(pid, how);
                self.perform(effects);
            } else {
                self.orphans = true;
            }
        }
    }

    /// Goes on with what could not be finished at once.
    fn retry(&mut self) {
        if self.orphans {
            let launches = &self.launches;
            self.orphans = orphans::sweep(|pid| launches.is_reaper(pid)) > 0;
            if self.orphans {
                // They may have ended before the sweep, and said so before.
                self.reap();
            } else {
                let effects = self.launches.orphans_gone();
                self.perform(effects);
            }
        }
        self.removals.retain_mut(|(path, attempts)| {
            *attempts += 1;
            let kept =
                std::fs::remove_dir(&*path).is_err_and(|e| e.kind() != io::ErrorKind::NotFound);
            kept && *attempts < CGROUP_REMOVALS_MAX
        });
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Answer(asker, say) => {
                    let there = self
                        .daemon
                        .as_ref()
                        .is_some_and(|d| d.number == asker.connection);
                    if there {
                        self.say(asker.seq, say, Vec::new());
                    }
                }
                Effect::Event(say) => self.say(0, say, Vec::new()),
                Effect::KillCgroup(path) => {
                    let _ = cgroup::kill(&path);
                }
                Effect::RemoveCgroup(path) => {
                    if std::fs::remove_dir(&path).is_err() {
                        self.removals.push((path, 0));
                    }
                }
            }
        }
    }

    fn serve_daemon(&mut self, found: PollFlags) {
        if found.contains(PollFlags::OUT)
            && let Some(daemon) = &mut self.daemon
            && let Err(error) = daemon.connection.flush()
        {
            self.drop_daemon(&error);
            return;
        }
        for _ in 0..REQUESTS_PER_TURN_MAX {
            let Some(daemon) = &self.daemon else {
                return;
            };
            match daemon.connection.receive() {
                Ok(received) => self.serve_request(received),
                Err(crate::channel::ReceiveError::NotYet) => return,
                Err(error) => return self.drop_daemon(&error),
            }
        }
    }

    fn drop_daemon(&mut self, reason: &dyn std::error::Error) {
        tracing::info!(%reason, "the daemon is gone");
        self.daemon = None;
        self.waiting_lists.clear();
    }

    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        while self.greetings.len() < GREETINGS_MAX {
            let socket = match rustix::net::accept_with(self.claim.listener.as_fd(), flags) {
                Ok(socket) => socket,
                Err(rustix::io::Errno::AGAIN) => return,
                Err(errno) => {
                    tracing::warn!(%errno, "a client could not be accepted");
                    self.door_shut_until = Some(Instant::now() + RETRY_WAIT);
                    return;
                }
            };
            match Connection::of_a_daemon(socket) {
                Ok(Some(connection)) => {
                    let until = Instant::now() + GREETING_WAIT;
                    self.greetings.push(Greeting { connection, until });
                }
                Ok(None) => tracing::warn!("a process that is no daemon of ours was refused"),
                Err(error) => tracing::warn!(%error, "a client could not be identified"),
            }
        }
    }
}
