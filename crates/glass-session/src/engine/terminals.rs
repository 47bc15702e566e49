//! The terminals folder: what each session shows, as a file that anybody can
//! read at any moment.
//!
//! One task makes all pages, from the journal. A page is replaced whole, so a
//! reader has the old one or the new one and nothing in between.

mod header;
mod sheet;

use super::{Engine, Handle};
use crate::actor::lock;
use crate::context::{Context, make_private};
use crate::errors::LookupError;
use crate::feed::Follower;
use glass_model::{EventIndex, Execution, Mode, Session, SessionId};
use rustix::fs::{CWD, Mode as FileMode, OFlags};
use sheet::Kind;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

pub(super) use sheet::Sheet;

/// News are gathered for this long before a page is made of them.
const GATHER: Duration = Duration::from_millis(40);

/// The least and the most between two pages, and which part of the time is spent on
/// them: nobody reads pages so often that a key or a command should wait for one.
const REST_MIN: Duration = Duration::from_millis(250);
const REST_MAX: Duration = Duration::from_secs(1);
const SHARE: u32 = 25;

/// How soon a page is looked at again of which something could not be shown yet.
const AGAIN: Duration = Duration::from_millis(60);

/// Events that are looked at for the page of a session that is taken up.
const EVENTS_BEHIND: u64 = 512;

/// Pages of ended background commands that are kept; the oldest goes first.
const ENDED_MAX: usize = 64;

/// A page, and a page that is being made.
const PAGE_NAME: &str = "page.txt";
const DRAFT_NAME: &str = ".draft";

/// All pages.
#[derive(Default)]
pub(super) struct Sheets {
    sheets: HashMap<SessionId, Sheet>,
    ended: VecDeque<PathBuf>,
}

impl Context {
    /// The terminals folder.
    pub(crate) fn terminals_dir(&self) -> PathBuf {
        self.settings.runtime_dir.join("terminals")
    }

    /// Where a session has its page; none where nobody could read it before it
    /// is over.
    pub(crate) fn page_dir(&self, session: &Session) -> Option<PathBuf> {
        let has_page = !session.ephemeral || session.background.is_some();
        has_page.then(|| self.terminals_dir().join(session.id.as_str()))
    }

    /// Removes the page of a session that is over, unless that was a background
    /// command's: how it ended is still to be read.
    pub(crate) fn remove_page(&self, session: &Session) {
        if session.background.is_none()
            && let Some(dir) = self.page_dir(session)
        {
            // One that was never made is gone, too.
            drop(std::fs::remove_dir_all(dir));
        }
    }
}

impl Engine {
    /// The terminals folder.
    pub fn terminals_folder(&self) -> PathBuf {
        self.0.context.terminals_dir()
    }

    /// A session's page, if it has one.
    pub fn terminal_file(&self, session: &Session) -> Option<PathBuf> {
        let dir = self.0.context.page_dir(session)?;
        let file = dir.join(PAGE_NAME);
        (session.disposed_ms.is_none() || file.exists()).then_some(file)
    }

    /// How long the page of one background command is when so much of its output
    /// is on it.
    pub(super) fn page_length(&self, execution: &Execution, end: u64) -> Result<u64, LookupError> {
        let veil = self.veil_of(execution)?;
        let (text, _) = sheet::shown(self, execution.shell_id, &veil, end)?;
        let top = sheet::header_of(execution, &veil).render();
        Ok((top.len() + text.len()) as u64)
    }

    /// Makes a place for the page of a new session, or of one that is taken up.
    pub(super) fn add_page(&self, session: &Session, handle: &Handle, next: EventIndex) {
        let Some(dir) = self.0.context.page_dir(session) else {
            return;
        };
        if let Err(error) = make_private(&dir) {
            tracing::warn!(%error, dir = %dir.display(), "a session has no page");
            return;
        }
        let kind = match session.background.is_some() || session.mode == Mode::Pty {
            true => Kind::One,
            false => Kind::Many,
        };
        let from = EventIndex(next.0.saturating_sub(EVENTS_BEHIND));
        let store = self.0.context.store.clone();
        let follower = Follower::live(session.id.clone(), store, handle.feed.clone(), from);
        let sheet = Sheet::new(session.id.clone(), kind, follower);
        lock(&self.0.sheets)
            .sheets
            .insert(session.id.clone(), sheet);
        self.0.context.news.notify_one();
    }

    /// Removes pages of sessions that were over when the last daemon stopped.
    pub(super) fn remove_stray_pages(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(self.0.context.terminals_dir())? {
            let entry = entry?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.parse().ok());
            if id.is_none_or(|id| self.live(&id).is_none()) {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// Keeps all pages up to date from now on.
    pub(super) fn keep_pages(&self) {
        let (engine, news) = (Arc::downgrade(&self.0), self.0.context.news.clone());
        tokio::spawn(async move {
            let mut is_behind = false;
            let mut rested = Instant::now();
            loop {
                if is_behind {
                    // News or not, what was held back can be shown then.
                    drop(tokio::time::timeout(AGAIN, news.notified()).await);
                } else {
                    news.notified().await;
                }
                let gathered = Instant::now() + GATHER;
                tokio::time::sleep_until(gathered.max(rested).into()).await;
                let begin = Instant::now();
                let engine = Weak::clone(&engine);
                let made = tokio::task::spawn_blocking(move || {
                    engine.upgrade().map(|inner| Engine(inner).make_pages())
                });
                match made.await {
                    Ok(Some(behind)) => is_behind = behind,
                    // The daemon stops, or a page could not be made.
                    Ok(None) => return,
                    Err(error) => tracing::error!(%error, "the pages could not be made"),
                }
                rested = Instant::now() + (begin.elapsed() * SHARE).clamp(REST_MIN, REST_MAX);
            }
        });
    }

    /// Makes every page that is not what it should be; whether one still is not.
    fn make_pages(&self) -> bool {
        // Whoever makes a session meanwhile does not wait for our files.
        let Sheets {
            mut sheets,
            mut ended,
        } = std::mem::take(&mut *lock(&self.0.sheets));
        let mut is_behind = false;
        let mut over = Vec::new();
        for (id, sheet) in sheets.iter_mut() {
            let handle = self.live(id);
            if let Err(error) = self.make_page(sheet, handle.as_ref()) {
                tracing::debug!(%error, session = %id, "a page is not up to date");
            }
            is_behind |= sheet.is_behind && handle.is_some();
            if handle.is_none() {
                over.push(id.clone());
            }
        }
        for id in over {
            sheets.remove(&id);
            self.settle_page(&id, &mut ended);
        }
        let mut kept = lock(&self.0.sheets);
        kept.sheets.extend(sheets);
        kept.ended = ended;
        is_behind
    }

    fn make_page(&self, sheet: &mut Sheet, handle: Option<&Handle>) -> Result<(), PageError> {
        let has_news = sheet.follow(self)?;
        let is_new = match handle {
            Some(handle) => {
                let live = lock(&handle.live);
                let (running, waits) = (live.running.as_ref().map(|run| run.0), live.queued > 0);
                let cwd = live.session.cwd.clone();
                drop(live);
                sheet.describe(&cwd, running, waits)
            }
            None => {
                let cwd = sheet.header.directory.clone();
                sheet.describe(&cwd, None, false)
            }
        };
        if has_news || is_new || sheet.is_behind {
            let page = sheet.render(self)?;
            let dir = self.terminals_folder().join(sheet.session.as_str());
            replace(&dir, page.as_bytes())?;
        }
        Ok(())
    }

    /// What becomes of a page whose session is over.
    fn settle_page(&self, id: &SessionId, ended: &mut VecDeque<PathBuf>) {
        let dir = self.terminals_folder().join(id.as_str());
        let session = self.0.context.store.session(id).ok().flatten();
        if session.is_some_and(|session| session.background.is_some()) {
            ended.push_back(dir);
        } else {
            drop(std::fs::remove_dir_all(dir));
        }
        while ended.len() > ENDED_MAX {
            if let Some(oldest) = ended.pop_front() {
                drop(std::fs::remove_dir_all(oldest));
            }
        }
    }
}

/// Why a page is not up to date.
#[derive(Debug, thiserror::Error)]
enum PageError {
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error("it could not be written")]
    Write(#[from] io::Error),
}

/// Puts a page in the place of the one before.
fn replace(dir: &Path, page: &[u8]) -> io::Result<()> {
    let (draft, path) = (dir.join(DRAFT_NAME), dir.join(PAGE_NAME));
    // What is left of one that was not finished.
    drop(std::fs::remove_file(&draft));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, &draft, flags, FileMode::from_raw_mode(0o444))?;
    File::from(file).write_all(page)?;
    std::fs::rename(draft, path)
}
