//! A subscriber sees every event once, stored ones and live ones alike, also
//! while a quota takes output away.

use super::{account, limited};
use crate::crash::client::Stubborn;
use crate::crash::workload::numbered;
use glass_proto::shellglass::v1::{self as wire, session_event::Event as Kind};
use shellglass_tests::{Client, Daemon, PATIENCE};
use std::time::Duration;

/// Reads events from an index on, at a pace, until the execution with this
/// handle has ended.
async fn follow(
    mut client: Client,
    session: String,
    from_index: u64,
    last: u32,
    pace: Duration,
) -> Vec<wire::SessionEvent> {
    let request = wire::SubscribeRequest {
        session_id: session,
        from_index,
    };
    let mut stream = client.subscribe(request).await.unwrap().into_inner();
    let mut events: Vec<wire::SessionEvent> = Vec::new();
    loop {
        let next = tokio::time::timeout(PATIENCE, stream.message()).await;
        let event = next.expect("events come in time").unwrap().unwrap();
        assert_eq!(event.index, from_index + events.len() as u64);
        let is_last = event.shell_id == last && matches!(event.event, Some(Kind::Exit(_)));
        events.push(event);
        if is_last {
            return events;
        }
        tokio::time::sleep(pace).await;
    }
}

/// The handle of a command that has just begun.
async fn begun(client: &Stubborn, session: &str) -> u32 {
    loop {
        let told = client.told(session).await;
        if let Some(newest) = told.keys().max().filter(|id| **id > 0) {
            return *newest;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn flood(daemon: &Daemon, client: &Stubborn, session: &str, pace: Duration) {
    const LINES: u64 = 600_000;
    let running = {
        let (client, session) = (client.clone(), session.to_owned());
        let command = format!("seq 1 {LINES}");
        tokio::spawn(async move { client.run(&session, &command, "flood").await })
    };
    let shell_id = begun(client, session).await;
    let mut followers = tokio::task::JoinSet::new();
    for from_index in 0..4 {
        let client = daemon.client().await;
        followers.spawn(follow(
            client,
            session.to_owned(),
            from_index % 2,
            shell_id,
            pace * from_index as u32,
        ));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let expected = numbered("", LINES);
    while let Some(events) = followers.join_next().await {
        account(&events.unwrap(), shell_id, &expected);
    }
    running.await.unwrap();
    account(&client.history(session).await, shell_id, &expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_and_live_events_join_without_gap_or_repeat() {
    let (daemon, client, session) = limited("").await;
    flood(&daemon, &client, &session, Duration::from_millis(1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_being_trimmed_are_told_as_they_were_or_as_dropped() {
    for keep in [100_000, 1_000_000] {
        let limit = format!("execution_output_bytes_max = {keep}");
        let (daemon, client, session) = limited(&limit).await;
        flood(&daemon, &client, &session, Duration::from_millis(5)).await;
    }
}
