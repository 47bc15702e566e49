//! Those who look at a terminal.
//!
//! Each has a queue of its own, which is bounded: whoever does not read loses
//! what is in it and is drawn the screen anew when they read on. Nobody waits
//! for anybody.

use super::sizing::smallest;
use crate::view::{Access, Shown};
use bytes::{Bytes, BytesMut};
use glass_vt::screen::ScreenSize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// Bytes that wait for one client.
const QUEUE_BYTES_MAX: usize = 1 << 20;

/// Other things that wait for one client.
const QUEUE_ITEMS_MAX: usize = 64;

/// Bytes that one frame has at most.
const FRAME_BYTES_MAX: usize = 256 * 1024;

/// Tells clients apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClientId(u64);

/// The queue of one client.
#[derive(Debug, Default)]
pub(crate) struct Client {
    queue: Mutex<Queue>,
    wake: Notify,
}

#[derive(Debug)]
struct Item {
    shown: Shown,
    /// How much of what a program wrote is missed without it: a drawing is our own.
    output_bytes: u64,
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<Item>,
    /// What comes after the items.
    bytes: BytesMut,
    /// Whether something was lost, so that the screen has to be drawn anew.
    lags: bool,
    /// Whether the client knows that, and has asked for the screen.
    asked: bool,
    /// Bytes that it was not shown since the screen was drawn last.
    missed_bytes: u64,
    /// The end, once it is there.
    exited: Option<Option<i32>>,
}

/// What a client finds in its queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Something to show.
    Shown(Shown),
    /// Nothing, because it was too slow: it is to ask for the screen, and to say
    /// that it has.
    Lagging,
    /// Nothing yet.
    Nothing,
}

impl Client {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Every change leaves the queue whole.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next thing to show.
    pub(crate) fn take(&self) -> Taken {
        let mut queue = self.queue();
        if let Some(item) = queue.items.pop_front() {
            return Taken::Shown(item.shown);
        }
        if !queue.bytes.is_empty() {
            let count = queue.bytes.len().min(FRAME_BYTES_MAX);
            let frame = queue.bytes.split_to(count).freeze();
            return Taken::Shown(Shown::undated(frame));
        }
        match queue.exited {
            _ if queue.lags && queue.asked => Taken::Nothing,
            _ if queue.lags => Taken::Lagging,
            Some(code) => Taken::Shown(Shown::Exited { code }),
            None => Taken::Nothing,
        }
    }

    /// The client has asked for the screen that it needs.
    pub(crate) fn has_asked(&self) {
        self.queue().asked = true;
    }

    /// Whether what is to be shown next can become more while it waits: it is
    /// output, and less than this. Drawings are whole.
    pub(crate) fn may_gather(&self, bytes_max: usize) -> bool {
        let queue = self.queue();
        queue.items.is_empty() && queue.bytes.len() < bytes_max
    }

    /// Returns when there may be something new.
    pub(crate) async fn changed(&self) {
        self.wake.notified().await;
    }

    fn output(&self, bytes: &[u8]) {
        let mut queue = self.queue();
        if queue.lags {
            queue.missed_bytes += bytes.len() as u64;
            return;
        }
        queue.bytes.extend_from_slice(bytes);
        if queue.bytes.len() > QUEUE_BYTES_MAX {
            queue.lose_bytes();
        }
        drop(queue);
        self.wake.notify_one();
    }

    fn show(&self, shown: Shown) {
        let mut queue = self.queue();
        let last = queue.items.back().map(|item| &item.shown);
        if queue.lags || last == Some(&shown) {
            return;
        }
        queue.push(shown);
        if queue.items.len() > QUEUE_ITEMS_MAX {
            queue.lose();
        }
        drop(queue);
        self.wake.notify_one();
    }

    /// Begins anew with this screen, whatever was in the queue.
    fn draw(&self, size: ScreenSize, mut drawing: Bytes) {
        let mut queue = self.queue();
        queue.lose();
        queue.lags = false;
        queue.push(size_property(size));
        let missed = std::mem::take(&mut queue.missed_bytes);
        if missed > 0 {
            // Whoever is not told this either has still missed it.
            queue.items.push_back(Item {
                shown: missed_property(missed),
                output_bytes: missed,
            });
        }
        while !drawing.is_empty() {
            let frame = drawing.split_to(drawing.len().min(FRAME_BYTES_MAX));
            queue.push(Shown::undated(frame));
        }
        queue.push(Shown::Ready { next: None });
        drop(queue);
        self.wake.notify_one();
    }

    fn exit(&self, code: Option<i32>) {
        self.queue().exited = Some(code);
        self.wake.notify_one();
    }

    fn lags(&self) -> bool {
        self.queue().lags
    }
}

impl Queue {
    fn push(&mut self, shown: Shown) {
        if !self.bytes.is_empty() {
            let before = self.bytes.split().freeze();
            self.items.push_back(Item {
                output_bytes: before.len() as u64,
                shown: Shown::undated(before),
            });
        }
        self.items.push_back(Item {
            shown,
            output_bytes: 0,
        });
    }

    fn lose(&mut self) {
        let output = self.items.drain(..).map(|item| item.output_bytes);
        self.missed_bytes += output.sum::<u64>();
        self.lose_bytes();
    }

    /// Loses what came last. A screen that was drawn before is still shown: so
    /// who is always too slow sees a screen at times, and not nothing.
    fn lose_bytes(&mut self) {
        self.missed_bytes += self.bytes.len() as u64;
        self.bytes = BytesMut::new();
        self.lags = true;
        self.asked = false;
    }
}

fn size_property(size: ScreenSize) -> Shown {
    Shown::Property {
        name: "size",
        value: format!("{}x{}", size.columns, size.rows),
    }
}

fn missed_property(bytes: u64) -> Shown {
    Shown::Property {
        name: "missed",
        value: bytes.to_string(),
    }
}

struct Entry {
    id: ClientId,
    client: Weak<Client>,
    access: Access,
    size: Option<ScreenSize>,
}

/// All clients of one terminal. They leave by dropping their queue.
#[derive(Default)]
pub(super) struct Clients {
    entries: Vec<Entry>,
    made: u64,
}

impl Clients {
    pub(super) fn add(
        &mut self,
        access: Access,
        size: Option<ScreenSize>,
    ) -> (ClientId, Arc<Client>) {
        self.made += 1;
        let (id, client) = (ClientId(self.made), Arc::<Client>::default());
        self.entries.push(Entry {
            id,
            client: Arc::downgrade(&client),
            access,
            size,
        });
        (id, client)
    }

    /// Forgets those who have left.
    pub(super) fn prune(&mut self) {
        self.entries.retain(|entry| entry.client.strong_count() > 0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn access(&self, id: ClientId) -> Option<Access> {
        let entry = self.entries.iter().find(|entry| entry.id == id);
        entry.map(|entry| entry.access)
    }

    pub(super) fn resize(&mut self, id: ClientId, size: ScreenSize) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) {
            entry.size = Some(size);
        }
    }

    /// The size that suits all who type; none where nobody has a say.
    pub(super) fn vote(&self) -> Option<ScreenSize> {
        let voters = self
            .entries
            .iter()
            .filter(|entry| entry.access == Access::Interactive && entry.client.strong_count() > 0);
        smallest(voters.filter_map(|entry| entry.size))
    }

    fn each(&self) -> impl Iterator<Item = (ClientId, Arc<Client>)> + '_ {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry.id, entry.client.upgrade()?)))
    }

    pub(super) fn output(&self, bytes: &[u8]) {
        for (_, client) in self.each() {
            client.output(bytes);
        }
    }

    pub(super) fn resized(&self, size: ScreenSize) {
        for (_, client) in self.each() {
            client.show(size_property(size));
        }
    }

    /// How many may type.
    pub(super) fn keyboards(&self) -> usize {
        let types =
            |entry: &&Entry| entry.access == Access::Interactive && entry.client.strong_count() > 0;
        self.entries.iter().filter(types).count()
    }

    /// Tells everybody something.
    pub(super) fn tell(&self, shown: &Shown) {
        for (_, client) in self.each() {
            client.show(shown.clone());
        }
    }

    pub(super) fn flash(&self, id: ClientId) {
        for (_, client) in self.each().filter(|(each, _)| *each == id) {
            client.show(Shown::ReadOnlyInput);
        }
    }

    pub(super) fn draw(&self, id: ClientId, size: ScreenSize, drawing: &Bytes) {
        for (_, client) in self.each().filter(|(each, _)| *each == id) {
            client.draw(size, drawing.clone());
        }
    }

    /// Those who lost something.
    pub(super) fn lagging(&self) -> Vec<ClientId> {
        let lagging = self.each().filter(|(_, client)| client.lags());
        lagging.map(|(id, _)| id).collect()
    }

    pub(super) fn exit(&self, code: Option<i32>) {
        for (_, client) in self.each() {
            client.exit(code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clients, FRAME_BYTES_MAX, QUEUE_BYTES_MAX, QUEUE_ITEMS_MAX, Taken};
    use crate::view::{Access, Shown};
    use bytes::Bytes;
    use glass_vt::screen::ScreenSize;

    const SIZE: ScreenSize = ScreenSize {
        columns: 80,
        rows: 30,
    };

    #[test]
    fn a_slow_client_costs_a_bounded_amount_and_is_drawn_the_screen_anew() {
        let mut clients = Clients::default();
        let (slow, queue) = clients.add(Access::Interactive, None);
        let (_, quick) = clients.add(Access::Interactive, None);
        for _ in 0..100 {
            clients.output(&[b'x'; 64 * 1024]);
            assert!(queue.queue().bytes.len() <= QUEUE_BYTES_MAX);
            while quick.take() != Taken::Nothing {}
        }
        assert_eq!(queue.take(), Taken::Lagging);
        assert_eq!(clients.lagging(), [slow]);
        // A drawing that nobody took is no output, and what it told is told again.
        clients.draw(slow, SIZE, &Bytes::from_static(b"no screen"));
        clients.draw(slow, SIZE, &Bytes::from_static(b"screen"));
        clients.output(b" and on");
        let mut shown = Vec::new();
        while let Taken::Shown(next) = queue.take() {
            shown.push(next);
        }
        let property = |name, value: &str| Shown::Property {
            name,
            value: value.to_owned(),
        };
        let bytes = |text: &'static [u8]| Shown::undated(Bytes::from_static(text));
        assert_eq!(
            shown,
            [
                property("size", "80x30"),
                property("missed", "6553600"),
                bytes(b"screen"),
                Shown::Ready { next: None },
                bytes(b" and on")
            ]
        );
    }

    #[test]
    fn a_client_that_is_too_slow_again_is_shown_a_screen_and_asks_again() {
        let mut clients = Clients::default();
        let (slow, queue) = clients.add(Access::ReadOnly, None);
        for _ in 0..3 {
            clients.output(&vec![b'x'; QUEUE_BYTES_MAX + 1]);
            assert_eq!(queue.take(), Taken::Lagging);
            queue.has_asked();
            assert_eq!(queue.take(), Taken::Nothing, "once is enough");
            clients.draw(slow, SIZE, &Bytes::from_static(b"screen"));
            clients.output(&vec![b'x'; QUEUE_BYTES_MAX + 1]);
            let mut shown = Vec::new();
            while let Taken::Shown(next) = queue.take() {
                shown.push(next);
            }
            let screen = Shown::undated(Bytes::from_static(b"screen"));
            assert!(shown.contains(&screen), "{shown:?}");
            assert_eq!(queue.take(), Taken::Lagging, "of what came after it");
            clients.draw(slow, SIZE, &Bytes::from_static(b"screen"));
            while queue.take() != Taken::Nothing {}
        }
    }

    #[test]
    fn notices_are_bounded_too() {
        let mut clients = Clients::default();
        let (_, queue) = clients.add(Access::ReadOnly, None);
        for columns in 0..1000 {
            clients.resized(ScreenSize { columns, rows: 1 });
            assert!(queue.queue().items.len() <= QUEUE_ITEMS_MAX);
        }
    }

    #[test]
    fn frames_are_small_and_nothing_is_lost_between_them() {
        let mut clients = Clients::default();
        let (_, queue) = clients.add(Access::ReadOnly, None);
        clients.output(&vec![b'a'; FRAME_BYTES_MAX + 5]);
        clients.exit(Some(3));
        let mut counts = Vec::new();
        let code = loop {
            match queue.take() {
                Taken::Shown(Shown::Bytes { bytes: frame, .. }) => counts.push(frame.len()),
                Taken::Shown(Shown::Exited { code }) => break code,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((counts, code), (vec![FRAME_BYTES_MAX, 5], Some(3)));
    }

    #[test]
    fn output_is_gathered_and_nothing_else_waits() {
        let mut clients = Clients::default();
        let (id, queue) = clients.add(Access::ReadOnly, None);
        clients.output(b"1234");
        assert!(queue.may_gather(5));
        assert!(!queue.may_gather(4), "this is enough");
        clients.draw(id, SIZE, &Bytes::from_static(b"screen"));
        clients.output(b"5");
        let mut last = Taken::Nothing;
        while !queue.may_gather(4) {
            last = queue.take();
        }
        assert_eq!(last, Taken::Shown(Shown::Ready { next: None }));
    }

    #[test]
    fn only_those_who_type_have_a_say_and_those_who_left_have_none() {
        let mut clients = Clients::default();
        let size = |columns| ScreenSize { columns, rows: 30 };
        let (_, _watching) = clients.add(Access::ReadOnly, Some(size(10)));
        let (_, _unmeasured) = clients.add(Access::Interactive, None);
        assert_eq!(clients.vote(), None);
        let (_, _large) = clients.add(Access::Interactive, Some(size(120)));
        let (_, small) = clients.add(Access::Interactive, Some(size(90)));
        assert_eq!(clients.vote(), Some(size(90)));
        drop(small);
        clients.prune();
        assert_eq!(clients.vote(), Some(size(120)));
    }
}
