//! Looking at what runs in a session without a terminal.

use super::{Actor, lock};
use crate::look::{Scene, Seen, Subject};
use std::path::PathBuf;

impl Actor {
    /// The current command takes its time: from here on it is looked at.
    pub(super) fn look_at_running(&mut self) {
        if self.running.is_some() {
            self.looks.began();
        }
    }

    /// A command has ended, and with it its silence.
    pub(super) fn look_after(&mut self) {
        if self.session.ephemeral {
            return self.looks.stop();
        }
        if self.looks.ended() {
            self.show_seen();
        }
    }

    pub(super) fn look(&mut self) {
        if self.session.is_elsewhere() {
            // Here there is only the way to what runs there.
            return self.looks.stop();
        }
        let running = self.running.as_ref();
        let scene = Scene {
            launched: self.launches.all(),
            shell: PathBuf::from(&self.session.shell.path),
            subject: running.map_or(Subject::Nobody, |running| {
                Subject::Shell(running.launched.child.pid)
            }),
            cwd: PathBuf::from(&self.session.cwd),
            unlisted: self.context.settings.unlisted.clone(),
        };
        self.looks.look(scene, &self.note_sender);
    }

    /// Takes what was seen; what is new is shown.
    pub(super) fn saw(&mut self, seen: Seen) {
        let news = self.looks.saw(seen, self.running.is_some());
        if let Some(what) = news.remark {
            self.remark("quiet", what);
        }
        if news.is_new {
            self.show_seen();
        }
    }

    fn show_seen(&self) {
        lock(&self.live).seen.clone_from(self.looks.seen());
        self.context.note_change();
    }
}
