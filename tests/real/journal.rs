//! The journal within its limits, and on disks that are full, small, closed or
//! damaged: nothing that was recorded is lost, and what is dropped is counted.

mod disk;
mod opening;
mod quotas;
mod subscribing;

use crate::crash::client::Stubborn;
use glass_proto::shellglass::v1::{self as wire, session_event::Event as Kind};
use shellglass_tests::Daemon;
use std::time::{Duration, Instant};

/// How long retention may take: the daemon looks every few seconds.
const RETENTION: Duration = Duration::from_secs(40);

/// What one execution wrote and how it is told, compared byte by byte.
#[derive(Debug, Default, PartialEq, Eq)]
struct Account {
    kept: u64,
    dropped: u64,
    /// Kept before the first gap, and after the last one.
    head: u64,
    tail: u64,
}

/// Checks that the events of one execution tell `expected`, with nothing but
/// what they say missing, and counts.
fn account(events: &[wire::SessionEvent], shell_id: u32, expected: &str) -> Account {
    let mut account = Account::default();
    let mut at = 0;
    for event in events.iter().filter(|event| event.shell_id == shell_id) {
        match event.event.as_ref().expect("an event has a kind") {
            Kind::Stdout(out) => {
                let bytes = out.data.len();
                let right = expected.get(at..at + bytes) == Some(out.data.as_str());
                assert!(right, "event {} at {at}: {:.60?}", event.index, out.data);
                at += bytes;
                account.kept += bytes as u64;
                account.tail += bytes as u64;
                if account.dropped == 0 {
                    account.head += bytes as u64;
                }
            }
            Kind::Dropped(dropped) => {
                assert!(!dropped.reason.is_empty() && dropped.events == 1);
                at += usize::try_from(dropped.bytes).unwrap();
                account.dropped += dropped.bytes;
                account.tail = 0;
            }
            _ => {}
        }
    }
    assert_eq!(at, expected.len(), "kept and dropped are all there was");
    account
}

/// Reads a history until it is as it should be.
async fn history_until(
    client: &Stubborn,
    session: &str,
    is_right: impl Fn(&[wire::SessionEvent]) -> bool,
) -> Vec<wire::SessionEvent> {
    let deadline = Instant::now() + RETENTION;
    loop {
        let events = client.history(session).await;
        if is_right(&events) {
            return events;
        }
        assert!(Instant::now() < deadline, "the history stays as it was");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A daemon with these limits, its client and a warm bash in it.
async fn limited(limits: &str) -> (Daemon, Stubborn, String) {
    let daemon = Daemon::start(&format!("[limits]\n{limits}\n"));
    let client = Stubborn::new(&daemon.socket());
    let session = client
        .create("bash", wire::SessionMode::Pipe, daemon.home())
        .await;
    (daemon, client, session)
}
