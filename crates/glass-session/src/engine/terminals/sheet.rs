//! One session's page, while it is kept up to date.
//!
//! What a command wrote is read from the journal by offset, the newest part of
//! it alone, so that a flood costs no more than a page.

use super::header::{Header, Status, one_line};
use crate::engine::Engine;
use crate::errors::LookupError;
use crate::feed::Follower;
use crate::redaction::Veil;
use glass_model::{Event, EventBody, Execution, Outcome, SessionId, ShellId, signal_name};
use std::collections::VecDeque;

/// Commands that a page shows.
const ENTRIES_MAX: usize = 50;

/// A page that reaches this many bytes of text loses its oldest half.
const TEXT_BYTES_MAX: u64 = 256 * 1024;

/// How often a text is made again of which no more can be shown than before: a
/// little is held back until there was silence, and some until more comes.
const TRIES_MAX: u8 = 5;

/// What a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The commands of a session, one after the other.
    Many,
    /// What one command wrote, and nothing else.
    One,
}

/// A page as it was last made.
pub(in crate::engine) struct Sheet {
    pub(super) session: SessionId,
    pub(super) kind: Kind,
    follower: Follower,
    entries: VecDeque<Entry>,
    /// The one execution of a page that shows one, once it is known: commands that
    /// are typed into a terminal have copies of what it shows.
    only: Option<ShellId>,
    /// Whether something of it cannot be shown yet.
    pub(super) is_behind: bool,
    pub(super) header: Header,
}

/// One command of the page.
struct Entry {
    shell_id: ShellId,
    command: String,
    cwd: String,
    /// Variables of its own, which may be secrets; none until it was looked up.
    env: Option<Vec<(String, String)>>,
    pid: u32,
    /// How it ended, in words.
    exit: Option<String>,
    /// How much it has written.
    end: u64,
    text: String,
    /// How much of that the text shows, and how often it was made without
    /// showing more.
    at: u64,
    tries: u8,
    is_stale: bool,
}

impl Sheet {
    pub(super) fn new(session: SessionId, kind: Kind, follower: Follower) -> Sheet {
        Sheet {
            session,
            kind,
            follower,
            entries: VecDeque::new(),
            only: None,
            is_behind: false,
            header: Header::default(),
        }
    }

    /// Takes in what happened since; whether something did.
    pub(super) fn follow(&mut self, engine: &Engine) -> Result<bool, LookupError> {
        let mut has_news = false;
        loop {
            let events = self.follower.take_ready()?;
            if events.is_empty() {
                break;
            }
            has_news = true;
            for event in events {
                self.take(engine, &event)?;
            }
        }
        self.look_up(engine)?;
        Ok(has_news)
    }

    /// Reads what is not known yet of the commands, all at once: where many are
    /// quick, most of them are not on the page any more when it is made.
    fn look_up(&mut self, engine: &Engine) -> Result<(), LookupError> {
        let unknown = self.entries.iter().filter(|entry| entry.env.is_none());
        let unknown: Vec<ShellId> = unknown.map(|entry| entry.shell_id).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let secrets = engine.secrets(&self.session)?;
        for execution in engine.0.context.store.executions_of(&unknown)? {
            let veil = engine.veil_with(&secrets, &execution.env);
            let mut entries = self.entries.iter_mut();
            if let Some(entry) = entries.find(|entry| entry.shell_id == execution.shell_id) {
                entry.command = veil.text(&execution.command);
                entry.cwd = execution.cwd;
                entry.env = Some(execution.env);
            }
        }
        // What is not in the journal any more is on no page.
        self.entries.retain(|entry| entry.env.is_some());
        Ok(())
    }

    fn take(&mut self, engine: &Engine, event: &Event) -> Result<(), LookupError> {
        let Some(id) = event.shell_id else {
            return Ok(());
        };
        if !takes(&event.body) || !self.is_of(engine, id)? {
            return Ok(());
        }
        let Some(entry) = self.entry(id) else {
            return Ok(());
        };
        match &event.body {
            EventBody::CommandStart { pid, .. } => entry.pid = *pid,
            EventBody::Output {
                bytes, position, ..
            } => entry.wrote(position + bytes),
            EventBody::Dropped { position, dropped } => entry.wrote(position + dropped.bytes),
            EventBody::Exit { outcome, .. } => {
                entry.exit = Some(exit_words(outcome));
                // Nothing is held back any more.
                entry.wrote(0);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the page shows an execution of its session.
    fn is_of(&mut self, engine: &Engine, id: ShellId) -> Result<bool, LookupError> {
        if self.kind == Kind::Many {
            return Ok(true);
        }
        if self.only.is_none() {
            let executions = engine.0.context.store.executions(&self.session)?;
            self.only = executions.first().map(|first| first.shell_id);
        }
        Ok(self.only.is_none_or(|only| only == id))
    }

    /// The entry of an execution; none for one that is older than a full page.
    fn entry(&mut self, id: ShellId) -> Option<&mut Entry> {
        let first = self.entries.front().map(|first| first.shell_id);
        let is_older = first.is_some_and(|first| id < first);
        if is_older && self.entries.len() >= ENTRIES_MAX {
            return None;
        }
        if !self.entries.iter().any(|entry| entry.shell_id == id) {
            let at = self.entries.partition_point(|entry| entry.shell_id < id);
            self.entries.insert(at, Entry::new(id));
            if self.entries.len() > ENTRIES_MAX {
                self.entries.pop_front();
            }
        }
        self.entries.iter_mut().find(|entry| entry.shell_id == id)
    }

    /// Says what the page's first lines say; whether that is new.
    pub(super) fn describe(&mut self, cwd: &str, running: Option<ShellId>, waits: bool) -> bool {
        let last = self.entries.back();
        let entry = running.and_then(|id| self.entries.iter().find(|entry| entry.shell_id == id));
        let entry = entry.or(last);
        let status = match (entry, running) {
            (_, Some(_)) => Status::Running,
            (_, None) if waits => Status::Waiting,
            (Some(_), None) => Status::Exited,
            (None, None) => Status::Idle,
        };
        let directory = match (self.kind, entry) {
            // It is where it began.
            (Kind::One, Some(entry)) => entry.cwd.clone(),
            _ => cwd.to_owned(),
        };
        let header = Header {
            pid: entry.map_or(0, |entry| entry.pid),
            directory,
            command: entry.map(|entry| entry.command.clone()).unwrap_or_default(),
            exit: entry.and_then(|entry| entry.exit.clone()),
            status,
        };
        let is_new = header != self.header;
        self.header = header;
        is_new
    }

    /// The page.
    pub(super) fn render(&mut self, engine: &Engine) -> Result<String, LookupError> {
        self.is_behind = false;
        let secrets = engine.secrets(&self.session)?;
        let mut room = TEXT_BYTES_MAX;
        let mut kept = 0;
        for entry in self.entries.iter_mut().rev() {
            if entry.is_stale {
                let veil = engine.veil_with(&secrets, entry.env.as_deref().unwrap_or_default());
                let (text, at) = shown(engine, entry.shell_id, &veil, entry.end)?;
                entry.shows(text, at);
            }
            self.is_behind |= entry.is_stale;
            kept += 1;
            room = room.saturating_sub(entry.text.len() as u64);
            if room == 0 {
                break;
            }
        }
        let surplus = self.entries.len() - kept;
        self.entries.drain(..surplus);
        let mut page = self.header.render();
        for entry in &self.entries {
            match self.kind {
                Kind::One => page.push_str(&entry.text),
                Kind::Many => entry.show(&mut page),
            }
        }
        Ok(page)
    }
}

impl Entry {
    fn new(shell_id: ShellId) -> Entry {
        Entry {
            shell_id,
            command: String::new(),
            cwd: String::new(),
            env: None,
            pid: 0,
            exit: None,
            end: 0,
            text: String::new(),
            at: 0,
            tries: 0,
            is_stale: true,
        }
    }

    fn wrote(&mut self, end: u64) {
        self.end = self.end.max(end);
        self.tries = 0;
        self.is_stale = true;
    }

    /// Takes a text that shows what was written up to an offset.
    fn shows(&mut self, text: String, at: u64) {
        self.tries = match at == self.at {
            true => self.tries.saturating_add(1),
            false => 0,
        };
        (self.text, self.at) = (text, at);
        self.is_stale = at < self.end && self.tries < TRIES_MAX;
    }

    /// The command, what it wrote and how it ended.
    fn show(&self, page: &mut String) {
        page.push_str("$ ");
        page.push_str(&one_line(&self.command));
        page.push('\n');
        page.push_str(&self.text);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            page.push('\n');
        }
        if let Some(exit) = &self.exit {
            page.push_str(&format!("[exit {exit}]\n"));
        }
    }
}

/// Whether a page shows something of an event.
fn takes(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::CommandStart { .. }
            | EventBody::Output { .. }
            | EventBody::Dropped { .. }
            | EventBody::Exit { .. }
    )
}

/// The top of the page of one command, as long as it is in all of its life.
pub(super) fn header_of(execution: &Execution, veil: &Veil) -> Header {
    Header {
        directory: execution.cwd.clone(),
        command: veil.text(&execution.command),
        ..Header::default()
    }
}

/// What a page shows of the first `end` bytes that an execution wrote, and up to
/// where that could be shown.
pub(super) fn shown(
    engine: &Engine,
    id: ShellId,
    veil: &Veil,
    end: u64,
) -> Result<(String, u64), LookupError> {
    let start = window_start(end);
    let (mut bytes, mut at) = (Vec::new(), start);
    while at < end {
        let page = engine.page(id, veil, at, end - at)?;
        if page.next_offset == at {
            break;
        }
        bytes.extend(page.bytes);
        at = page.next_offset;
    }
    if start == 0 {
        return Ok((glass_vt::text::clean(&bytes), at));
    }
    // A line of which the beginning is not there is not shown.
    let line = bytes.iter().position(|byte| *byte == b'\n');
    let rest = &bytes[line.map_or(0, |line| line + 1)..];
    let notice = format!("[... what was written first is not on this page, length={start}]\n");
    Ok((notice + &glass_vt::text::clean(rest), at))
}

/// Where a page begins, so that it holds between half of its limit and all of
/// it, and moves rarely.
fn window_start(end: u64) -> u64 {
    let step = TEXT_BYTES_MAX / 2;
    (end / step).saturating_sub(1) * step
}

/// How an execution ended, in a word or two.
fn exit_words(outcome: &Outcome) -> String {
    if outcome.rejected.is_some() {
        return "refused".to_owned();
    }
    if outcome.spawn_error.is_some() {
        return "did not run".to_owned();
    }
    let code = outcome.code.map(|code| code.to_string());
    let code = code.unwrap_or_else(|| "unknown".to_owned());
    match outcome.details.signal {
        Some(signal) => format!("{code} {}", signal_name(signal)),
        None => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_half_of_its_limit_or_more_and_moves_by_halves() {
        let half = TEXT_BYTES_MAX / 2;
        for end in [0, 1, half, TEXT_BYTES_MAX - 1] {
            assert_eq!(window_start(end), 0, "{end}");
        }
        for end in [
            TEXT_BYTES_MAX,
            7 * half,
            7 * half + 5,
            u64::from(u32::MAX) * 9,
        ] {
            let start = window_start(end);
            assert_eq!(start % half, 0);
            assert!((half..TEXT_BYTES_MAX).contains(&(end - start)), "{end}");
        }
    }

    #[test]
    fn a_text_that_shows_no_more_is_not_made_for_ever() {
        let mut entry = Entry::new(ShellId(1));
        entry.wrote(9);
        entry.shows("a".to_owned(), 5);
        for _ in 1..TRIES_MAX {
            entry.shows("a".to_owned(), 5);
            assert!(entry.is_stale);
        }
        entry.shows("a".to_owned(), 5);
        assert!(!entry.is_stale);
        entry.wrote(10);
        assert!(entry.is_stale);
        entry.shows("ab".to_owned(), 10);
        assert!(!entry.is_stale);
    }

    #[test]
    fn an_end_is_a_word_or_two() {
        let outcome = |code| Outcome {
            code,
            ..Outcome::default()
        };
        assert_eq!(exit_words(&outcome(Some(3))), "3");
        assert_eq!(exit_words(&outcome(None)), "unknown");
        let mut killed = outcome(Some(137));
        killed.details.signal = Some(9);
        assert_eq!(exit_words(&killed), "137 SIGKILL");
    }
}
