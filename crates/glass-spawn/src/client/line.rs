//! Requests and their answers over one connection: a task that writes, a task
//! that reads, and who waits for what.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use glass_model::{LaunchId, WaitStatus};
use prost::Message;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot};

use super::{KeeperEvent, KeeperGone};
use crate::channel::{Parcel, ReceiveError, Received, receive};
use crate::limits::{EVENT_QUEUE_MAX, REQUEST_QUEUE_MAX};
use crate::tree::{self, Manner, Scope, TreeEnd};
use crate::wire::{self, Answer, Ask, Request, Say, decode};

/// An answer, with its descriptors.
pub(super) type Reply = (Say, Vec<OwnedFd>);

/// The sending end of a connection.
#[derive(Debug)]
pub(super) struct Line {
    pub pid: i32,
    pub version: u32,
    outgoing: mpsc::Sender<(u64, Parcel)>,
    waiters: Arc<Waiters>,
    last_seq: AtomicU64,
}

/// Who waits for which answer; nothing once the connection is over.
#[derive(Debug)]
struct Waiters(Mutex<Option<WaiterMap>>);

type WaiterMap = HashMap<u64, Waiter>;
type Waiter = oneshot::Sender<Result<Reply, KeeperGone>>;

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, Option<WaiterMap>> {
        // Nothing that is done under the lock can leave the map half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, seq: u64) -> Option<Waiter> {
        self.lock().as_mut()?.remove(&seq)
    }
}

/// One request under way. Dropped early, it leaves no launch behind that
/// nobody knows of.
struct Question<'a> {
    line: &'a Line,
    seq: u64,
    answer: oneshot::Receiver<Result<Reply, KeeperGone>>,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.line.waiters.take(self.seq);
        if let Ok(Ok((Say::Launched(info), _))) = self.answer.try_recv() {
            abandon(info, self.line.outgoing.clone());
        }
    }
}

impl Line {
    /// Asks, and waits for the answer.
    pub async fn ask(
        &self,
        ask: Ask,
        fds: Vec<Arc<OwnedFd>>,
        wait: Duration,
    ) -> Result<Reply, KeeperGone> {
        let seq = self.last_seq.fetch_add(1, Ordering::Relaxed) + 1;
        let message = Request {
            seq,
            ask: Some(ask),
        }
        .encode_to_vec();
        let parcel = Parcel::new(&message, fds).map_err(KeeperGone::Unsent)?;
        let (sender, answer) = oneshot::channel();
        self.waiters
            .lock()
            .as_mut()
            .ok_or(KeeperGone::Lost)?
            .insert(seq, sender);
        let mut question = Question {
            line: self,
            seq,
            answer,
        };
        let asking = async {
            self.outgoing
                .send((seq, parcel))
                .await
                .map_err(|_| KeeperGone::Lost)?;
            (&mut question.answer).await.map_err(|_| KeeperGone::Lost)?
        };
        match tokio::time::timeout(wait, asking).await {
            Ok(reply) => reply,
            Err(_) => Err(KeeperGone::Silent {
                seconds: wait.as_secs(),
            }),
        }
    }

    /// Begins to serve a connection on which both sides have said hello.
    pub fn open(
        socket: AsyncFd<OwnedFd>,
        pid: i32,
        version: u32,
    ) -> (Line, mpsc::Receiver<KeeperEvent>) {
        let (outgoing, queue) = mpsc::channel(REQUEST_QUEUE_MAX);
        let (events, events_receiver) = mpsc::channel(EVENT_QUEUE_MAX);
        let waiters = Arc::new(Waiters(Mutex::new(Some(HashMap::new()))));
        let socket = Arc::new(socket);
        // The reader must not keep the connection open for itself.
        let hangs_up = outgoing.downgrade();
        tokio::spawn(write(Arc::clone(&socket), queue, Arc::clone(&waiters)));
        tokio::spawn(read(socket, Arc::clone(&waiters), events, hangs_up));
        // 1 was the hello.
        let last_seq = AtomicU64::new(1);
        (
            Line {
                pid,
                version,
                outgoing,
                waiters,
                last_seq,
            },
            events_receiver,
        )
    }
}

/// Sends what is asked until nobody can ask any more.
async fn write(
    socket: Arc<AsyncFd<OwnedFd>>,
    mut queue: mpsc::Receiver<(u64, Parcel)>,
    waiters: Arc<Waiters>,
) {
    while let Some((seq, parcel)) = queue.recv().await {
        let Err(error) = send(&socket, &parcel).await else {
            continue;
        };
        let over = matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
        );
        if let Some(waiter) = waiters.take(seq) {
            let _ = waiter.send(Err(KeeperGone::Unsent(error)));
        }
        if over {
            break;
        }
    }
    // Wakes the reader, which then ends too.
    let _ = rustix::net::shutdown(socket.get_ref(), rustix::net::Shutdown::Both);
}

/// Sends one message as soon as there is room.
pub(super) async fn send(socket: &AsyncFd<OwnedFd>, parcel: &Parcel) -> io::Result<()> {
    socket
        .async_io(Interest::WRITABLE, |fd| parcel.send(fd))
        .await
}

/// Receives one message as soon as there is one.
pub(super) async fn next(socket: &AsyncFd<OwnedFd>) -> io::Result<Received> {
    let received = socket.async_io(Interest::READABLE, |fd| match receive(fd) {
        Err(ReceiveError::NotYet) => Err(io::ErrorKind::WouldBlock.into()),
        Err(ReceiveError::Broken(error)) => Err(error),
        other => Ok(other),
    });
    received.await?.map_err(io::Error::other)
}

/// Gives every answer to whoever waits for it and every event to the daemon.
async fn read(
    socket: Arc<AsyncFd<OwnedFd>>,
    waiters: Arc<Waiters>,
    events: mpsc::Sender<KeeperEvent>,
    outgoing: mpsc::WeakSender<(u64, Parcel)>,
) {
    while let Ok(received) = next(&socket).await {
        let Ok(Answer {
            seq,
            say: Some(say),
        }) = decode::<Answer>(&received.bytes)
        else {
            // What a newer keeper has to say besides is not for us.
            continue;
        };
        if seq == 0 {
            if let Some(event) = event(say) {
                // The daemon may have dropped its end; answers still count.
                let _ = events.send(event).await;
            }
            continue;
        }
        let unheard = match waiters.take(seq) {
            Some(waiter) => waiter.send(Ok((say, received.fds))).err(),
            None => Some(Ok((say, Vec::new()))),
        };
        if let Some(Ok((Say::Launched(info), _))) = unheard
            && let Some(outgoing) = outgoing.upgrade()
        {
            abandon(info, outgoing);
        }
    }
    // Whoever waits finds the other end of its channel dropped.
    waiters.lock().take();
    let _ = events.send(KeeperEvent::Lost).await;
}

fn event(say: Say) -> Option<KeeperEvent> {
    match say {
        Say::Exited(exited) => {
            let status = exited.status.map_or(WaitStatus::Unknown, Into::into);
            Some(KeeperEvent::Exited {
                id: LaunchId(exited.id),
                status,
                usage: exited.usage.map(Into::into),
            })
        }
        Say::Emptied(named) => Some(KeeperEvent::Emptied {
            id: LaunchId(named.id),
        }),
        _ => None,
    }
}

/// Time to kill a launch that nobody waits for.
const ABANDON_DEADLINE: Duration = Duration::from_secs(10);

/// Ends a launch that whoever asked for it does not want any more.
fn abandon(info: wire::Info, outgoing: mpsc::Sender<(u64, Parcel)>) {
    let (Some(child), Some(reaper)) = (info.child, info.reaper) else {
        return;
    };
    let tree = TreeEnd {
        reaper: reaper.into(),
        child: child.into(),
        init: info.init.map(Into::into),
        shell: None,
        cgroup: None,
        scope: Scope::Everything,
        manner: Manner::Kill,
        deadline: ABANDON_DEADLINE,
    };
    tracing::warn!(id = info.id, "a launch that nobody waits for is ended");
    // A thread of its own: this may be called where no runtime is left.
    let ending = std::thread::Builder::new()
        .name("glass-abandon".into())
        .spawn(move || {
            if let Err(error) = tree::end(&tree) {
                tracing::warn!(%error, "an abandoned launch goes on");
            }
            // Its answer is for nobody, so its number need not be its own.
            let forget = Request {
                seq: 1,
                ask: Some(Ask::Forget(wire::Named { id: info.id })),
            };
            if let Ok(parcel) = Parcel::new(&forget.encode_to_vec(), Vec::new()) {
                let _ = outgoing.try_send((1, parcel));
            }
        });
    if let Err(error) = ending {
        tracing::warn!(%error, "an abandoned launch goes on");
    }
}
