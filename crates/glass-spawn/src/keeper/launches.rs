//! All launches, and what each piece of news means for them and for the
//! daemon. Nothing here touches a socket or a process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use glass_model::{Usage, WaitStatus};

use super::record::{Asker, Record};
use crate::limits::{HELD_PER_LAUNCH_MAX, LAUNCHES_MAX, PAGE_LAUNCHES_MAX};
use crate::process::ProcessRef;
use crate::report::{News, Report};
use crate::stage::Stage;
use crate::wire::{self, Say};

#[cfg(test)]
mod tests;

/// What is to be done because of news, in order.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    /// Answer a request, if its connection is still there.
    Answer(Asker, Say),
    /// Tell whoever is the daemon now.
    Event(Say),
    /// Kill everything in a cgroup.
    KillCgroup(PathBuf),
    /// Remove a cgroup that is empty or about to be.
    RemoveCgroup(PathBuf),
}

/// How a reaper ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReaperEnd {
    /// Because nothing was left below it.
    Done,
    /// By force: what it kept together is now the keeper's.
    Killed,
}

/// Bits of an id that count; the ones above are the keeper's own time.
const ID_COUNTER_BITS: u32 = 24;

/// All launches that are remembered.
#[derive(Debug, Default)]
pub(super) struct Launches {
    records: BTreeMap<u64, Record>,
    by_reaper: HashMap<i32, u64>,
    /// Launches whose reaper was killed, until their orphans are gone.
    orphaned: BTreeSet<u64>,
    last_id: u64,
}

impl Launches {
    /// None yet. Ids begin with the time, so that a daemon never takes a launch
    /// of this keeper for one of an earlier keeper's.
    pub fn since(now: SystemTime) -> Launches {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = since.as_secs() & 0xffff_ffff;
        Launches {
            last_id: seconds << ID_COUNTER_BITS,
            ..Launches::default()
        }
    }

    /// The id for the next launch, if there is room for one.
    pub fn next_id(&mut self) -> Option<u64> {
        if self.records.len() >= LAUNCHES_MAX {
            return None;
        }
        self.last_id += 1;
        Some(self.last_id)
    }

    /// Remembers a launch whose reaper was forked.
    pub fn insert(&mut self, id: u64, record: Record) {
        self.by_reaper.insert(record.reaper.pid, id);
        self.records.insert(id, record);
    }

    /// Whether this child of the keeper is a reaper.
    pub fn is_reaper(&self, pid: i32) -> bool {
        self.by_reaper.contains_key(&pid)
    }

    /// Whether anything of any launch may live.
    pub fn any_alive(&self) -> bool {
        !self.by_reaper.is_empty() || !self.orphaned.is_empty()
    }

    /// Whether there are ends that nobody has taken.
    pub fn any_unclaimed(&self) -> bool {
        self.records.values().any(|record| !record.forgotten)
    }

    /// Whether a list would have to leave out a child's number.
    pub fn any_nameless(&self) -> bool {
        self.records.values().any(Record::is_nameless)
    }

    /// Takes in a reaper's report. `connection` is the daemon's, if there is
    /// one: a failure that nobody is there to hear is kept as an end.
    pub fn apply(&mut self, report: Report, connection: Option<u64>) -> Vec<Effect> {
        let id = report.launch;
        let Some(record) = self.records.get_mut(&id) else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        match report.news {
            News::Forked {
                pid,
                start_ticks,
                in_cgroup,
            } => {
                record.child = Some(ProcessRef { pid, start_ticks });
                if !in_cgroup {
                    effects.extend(record.cgroup.take().map(Effect::RemoveCgroup));
                }
            }
            News::Started => {
                if let Some(asker) = record.asker.take() {
                    effects.push(Effect::Answer(asker, Say::Launched(record.info(id))));
                }
            }
            News::Walled { pid, start_ticks } => {
                record.init = Some(ProcessRef { pid, start_ticks });
            }
            News::Failed {
                stage,
                errno,
                detail,
            } => {
                let asker = record.asker.take();
                match asker.filter(|asker| Some(asker.connection) == connection) {
                    Some(asker) => {
                        let failed = wire::Failed {
                            stage,
                            errno,
                            detail,
                        };
                        effects.push(Effect::Answer(asker, Say::Failed(failed)));
                        forget(record);
                    }
                    // What never had a child never was.
                    None if record.child.is_none() => forget(record),
                    None => effects.extend(end(id, record, WaitStatus::Unknown, None)),
                }
            }
            News::Exited { raw, usage } => {
                effects.extend(end(id, record, status_of(raw), Some(usage)));
            }
        }
        effects
    }

    /// Takes in the end of a reaper.
    pub fn reaper_ended(&mut self, pid: i32, how: ReaperEnd) -> Vec<Effect> {
        let Some(id) = self.by_reaper.remove(&pid) else {
            return Vec::new();
        };
        let Some(record) = self.records.get_mut(&id) else {
            return Vec::new();
        };
        record.reaper_lives = false;
        let mut effects = Vec::new();
        if let Some(asker) = record.asker.take() {
            // It was killed while the child began. The child may have begun,
            // so with a child this is a launch that ended, not one that failed.
            if record.child.is_some() {
                effects.push(Effect::Answer(asker, Say::Launched(record.info(id))));
            } else {
                let failed = wire::Failed {
                    stage: Stage::Fork.into(),
                    errno: libc::ECHILD,
                    detail: 0,
                };
                effects.push(Effect::Answer(asker, Say::Failed(failed)));
                forget(record);
            }
        }
        effects.extend(end(id, record, WaitStatus::Unknown, None));
        match how {
            ReaperEnd::Done => effects.extend(empty(id, record)),
            ReaperEnd::Killed => {
                effects.extend(record.cgroup.clone().map(Effect::KillCgroup));
                self.orphaned.insert(id);
            }
        }
        self.drop_if_over(id);
        effects
    }

    /// Takes in that the keeper has no children but reapers.
    pub fn orphans_gone(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for id in std::mem::take(&mut self.orphaned) {
            if let Some(record) = self.records.get_mut(&id) {
                effects.extend(empty(id, record));
            }
            self.drop_if_over(id);
        }
        effects
    }

    /// The launches after this id, as many as fit into a page.
    pub fn page(&self, after: u64) -> wire::Page {
        let mut rest = self.records.range(after.saturating_add(1)..);
        let mut shown = rest.by_ref().filter(|(_, record)| !record.forgotten);
        let launches: Vec<_> = shown
            .by_ref()
            .take(PAGE_LAUNCHES_MAX)
            .map(|(id, record)| record.info(*id))
            .collect();
        let more = shown.next().is_some();
        wire::Page { launches, more }
    }

    /// The descriptors that are held for a launch.
    pub fn held(&self, id: u64) -> Option<&[(String, Arc<OwnedFd>)]> {
        self.shown(id).map(|record| record.held.as_slice())
    }

    /// Holds more; one with a label that is in use takes its place.
    pub fn hold(&mut self, id: u64, more: Vec<(String, Arc<OwnedFd>)>) -> Result<(), HoldError> {
        let record = self.shown_mut(id).ok_or(HoldError::UnknownLaunch)?;
        let fresh = |label: &String| !record.held.iter().any(|(held, _)| held == label);
        let added = more.iter().filter(|(label, _)| fresh(label)).count();
        if record.held.len() + added > HELD_PER_LAUNCH_MAX {
            return Err(HoldError::TooMany);
        }
        record
            .held
            .retain(|(held, _)| !more.iter().any(|(label, _)| label == held));
        record.held.extend(more);
        Ok(())
    }

    /// Lets go of some.
    pub fn unhold(&mut self, id: u64, labels: &[String]) -> Result<(), HoldError> {
        let record = self.shown_mut(id).ok_or(HoldError::UnknownLaunch)?;
        record.held.retain(|(held, _)| !labels.contains(held));
        Ok(())
    }

    /// Forgets a launch; its processes go on.
    pub fn forget(&mut self, id: u64) -> Result<Vec<Effect>, HoldError> {
        let record = self.shown_mut(id).ok_or(HoldError::UnknownLaunch)?;
        let group = record.memory.clone().filter(|_| record.emptied);
        forget(record);
        self.drop_if_over(id);
        Ok(group.map(Effect::RemoveCgroup).into_iter().collect())
    }

    fn shown(&self, id: u64) -> Option<&Record> {
        self.records.get(&id).filter(|record| !record.forgotten)
    }

    fn shown_mut(&mut self, id: u64) -> Option<&mut Record> {
        self.records.get_mut(&id).filter(|record| !record.forgotten)
    }

    fn drop_if_over(&mut self, id: u64) {
        let over = self.records.get(&id).is_some_and(Record::is_over);
        if over && !self.orphaned.contains(&id) {
            self.records.remove(&id);
        }
    }
}

/// Why descriptors were not held.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HoldError {
    #[error("there is no such launch")]
    UnknownLaunch,
    #[error("too many descriptors would be held for this launch")]
    TooMany,
}

/// Records how a child ended, once.
fn end(id: u64, record: &mut Record, status: WaitStatus, usage: Option<Usage>) -> Option<Effect> {
    if record.status.is_some() || record.forgotten {
        return None;
    }
    record.status = Some(status);
    Some(Effect::Event(Say::Exited(wire::Exited {
        id,
        status: Some(status.into()),
        usage: usage.map(Into::into),
    })))
}

/// Records that nothing of a tree is left.
fn empty(id: u64, record: &mut Record) -> Vec<Effect> {
    record.emptied = true;
    let event = (!record.forgotten).then_some(Effect::Event(Say::Emptied(wire::Named { id })));
    // The group that counts memory tells why a process was killed, for as long as
    // somebody may ask.
    let asked = record.memory.as_ref().filter(|_| !record.forgotten);
    let groups = record.cgroup.iter().chain(&record.limit_groups);
    let over = groups.filter(|group| Some(*group) != asked).cloned();
    over.map(Effect::RemoveCgroup).chain(event).collect()
}

fn forget(record: &mut Record) {
    record.forgotten = true;
    record.held.clear();
    record.tag.clear();
}

fn status_of(raw: i32) -> WaitStatus {
    if libc::WIFEXITED(raw) {
        WaitStatus::Exited(libc::WEXITSTATUS(raw))
    } else if libc::WIFSIGNALED(raw) {
        WaitStatus::Signaled(libc::WTERMSIG(raw))
    } else {
        WaitStatus::Unknown
    }
}
