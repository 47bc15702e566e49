//! What tools say that were made to answer in events, as people read it.
//!
//! The journal has the events; a mirror has sections. What an agent asked for as
//! events by name is shown as it is.

use crate::engine::{ADAPTED, speaks};
use glass_adapt::Sections;
use glass_model::{Event, EventBody, ShellId, Stream};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Adapted executions that have not begun; more than a queue holds.
const ADAPTED_MAX: usize = 128;

/// Which output is made readable.
#[derive(Default)]
pub(super) struct Readable {
    /// What was adapted and has not ended.
    adapted: VecDeque<ShellId>,
    /// What runs, if its tool may speak in events.
    current: Option<(ShellId, Sections)>,
}

impl Readable {
    /// Takes note of what happens.
    pub(super) fn note(&mut self, event: &Event) {
        let Some(id) = event.shell_id else { return };
        match &event.body {
            EventBody::Status { status, .. } if status == ADAPTED => {
                if self.adapted.len() >= ADAPTED_MAX {
                    self.adapted.pop_front();
                }
                self.adapted.push_back(id);
            }
            EventBody::CommandStart { command, .. } => {
                self.current = speaks(command).then(|| (id, Sections::new(None)));
            }
            _ => {}
        }
    }

    fn sections(&mut self, id: ShellId) -> Option<&mut Sections> {
        let is_adapted = self.adapted.contains(&id);
        let current = self
            .current
            .as_mut()
            .filter(|(of, _)| is_adapted && *of == id);
        current.map(|(_, sections)| sections)
    }

    /// Output as it is shown.
    pub(super) fn output<'a>(
        &mut self,
        id: Option<ShellId>,
        stream: Stream,
        bytes: &'a [u8],
    ) -> Cow<'a, [u8]> {
        let id = id.filter(|_| stream == Stream::Stdout);
        match id.and_then(|id| self.sections(id)) {
            None => Cow::Borrowed(bytes),
            Some(sections) => {
                let mut out = Vec::new();
                sections.push(bytes, &mut out);
                Cow::Owned(out)
            }
        }
    }

    /// What was held back of an execution that ends.
    pub(super) fn end(&mut self, id: Option<ShellId>) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(id) = id {
            if let Some(sections) = self.sections(id) {
                sections.finish(&mut out);
            }
            self.adapted.retain(|adapted| *adapted != id);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Readable;
    use glass_model::{Event, EventBody, EventIndex, ShellId, Stream};

    const EVENT: &[u8] =
        b"{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"hi\"}}\n";

    fn event(id: u32, body: EventBody) -> Event {
        Event {
            index: EventIndex(0),
            at_ms: 0,
            shell_id: Some(ShellId(id)),
            body,
        }
    }

    fn adapted(id: u32) -> Event {
        let (status, detail) = ("adapted".to_owned(), String::new());
        event(id, EventBody::Status { status, detail })
    }

    fn started(id: u32, command: &str) -> Event {
        let (command, cwd) = (command.to_owned(), String::new());
        event(
            id,
            EventBody::CommandStart {
                command,
                cwd,
                pid: 1,
            },
        )
    }

    #[test]
    fn only_what_was_adapted_is_made_readable() {
        let mut readable = Readable::default();
        // Either may be told first.
        for events in [
            [adapted(1), started(1, "codex exec --json x")],
            [started(1, "codex exec --json x"), adapted(1)],
        ] {
            events.iter().for_each(|event| readable.note(event));
            let (first, rest) = EVENT.split_at(9);
            let id = Some(ShellId(1));
            assert_eq!(&*readable.output(id, Stream::Stdout, first), b"");
            let shown = readable.output(id, Stream::Stdout, rest).into_owned();
            assert_eq!(String::from_utf8_lossy(&shown), "[assistant]\n  hi\n");
            assert_eq!(&*readable.output(id, Stream::Stderr, EVENT), EVENT);
            assert_eq!(&*readable.output(id, Stream::Stdout, b"{half"), b"");
            assert_eq!(readable.end(id), b"{half");
        }
        for events in [
            vec![started(2, "codex exec --json x")],
            vec![adapted(2), started(2, "git fetch")],
            vec![adapted(1), started(2, "codex exec --json x")],
        ] {
            events.iter().for_each(|event| readable.note(event));
            let shown = readable.output(Some(ShellId(2)), Stream::Stdout, EVENT);
            assert_eq!(&*shown, EVENT, "{events:?}");
            readable.end(Some(ShellId(2)));
        }
    }
}
