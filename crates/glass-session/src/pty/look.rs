//! Looking at what runs in a terminal.

use super::{Ending, Task};
use crate::look::{Scene, Seen, Subject};
use glass_spawn::terminal;
use std::path::PathBuf;

impl Task {
    pub(super) fn look(&mut self) {
        // What runs on another host cannot be seen from here.
        if self.ending != Ending::No || self.session.is_elsewhere() {
            return self.looks.stop();
        }
        let front = terminal::foreground(self.master.get_ref());
        let front = front.filter(|front| *front != self.launched.child.pid);
        let scene = Scene {
            launched: vec![self.launched.clone()],
            shell: PathBuf::from(&self.session.shell.path),
            subject: match (&self.front, front) {
                (Some(_), Some(group)) => {
                    Subject::Front(group, terminal::echo(self.master.get_ref()))
                }
                _ => Subject::Nobody,
            },
            cwd: PathBuf::from(&self.session.cwd),
            unlisted: self.context.settings.unlisted.clone(),
        };
        self.looks.look(scene, &self.note_sender);
    }

    /// Takes what was seen; what is new is shown.
    pub(super) fn saw(&mut self, seen: Seen) {
        let news = self.looks.saw(seen, self.front.is_some());
        if let Some(what) = news.remark {
            let id = self.front.as_ref().map(|front| front.execution.shell_id);
            self.remark_on(id.unwrap_or(self.execution.shell_id), "quiet", &what);
        }
        if news.is_new {
            self.show();
        }
    }
}
