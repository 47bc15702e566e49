//! Bytes, rows and age are bounded, each with an honest count.

use super::{account, history_until, limited};
use crate::crash::client::Stubborn;
use crate::crash::workload::numbered;
use glass_proto::shellglass::v1::{self as wire, SessionMode};
use shellglass_tests::eventually;

/// What `seq 1 3000` prints, in bytes.
const SMALL_BYTES: u64 = 13_893;

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_keeps_its_head_and_tail() {
    let (daemon, client, session) = limited("execution_output_bytes_max = 100000").await;
    let expected = numbered("", 400_000);
    let result = client.run(&session, "seq 1 400000; exit 2", "flood").await;
    assert_eq!(result.code, Some(2));
    // Its caller is answered first.
    let within = |events: &[wire::SessionEvent]| {
        account(events, result.shell_id, &expected).kept <= 100_000 * 9 / 8
    };
    let events = history_until(&client, &session, within).await;
    let account = account(&events, result.shell_id, &expected);
    assert!(account.head > 0 && account.tail > 0, "{account:?}");
    assert!(account.head + account.tail == account.kept, "{account:?}");

    let (mut text, mut dropped, mut offset) = (String::new(), 0, 0);
    let mut caller = daemon.client().await;
    loop {
        let request = wire::ReadOutputRequest {
            shell_id: result.shell_id,
            offset: Some(offset),
            max_bytes: 10_000,
            wait_ms: 0,
        };
        let page = caller.read_output(request).await.unwrap().into_inner();
        if page.next_offset == offset {
            break;
        }
        text.push_str(&page.output);
        dropped += page.dropped_bytes;
        offset = page.next_offset;
    }
    assert_eq!(
        (text.len() as u64, dropped),
        (account.kept, account.dropped)
    );
    assert_eq!(offset, expected.len() as u64);
    let (head, tail) = text.split_at(usize::try_from(account.head).unwrap());
    assert!(expected.starts_with(head) && expected.ends_with(tail));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flooding_execution_stays_within_its_quota_through_crashes() {
    let (mut daemon, client, session) = limited("execution_output_bytes_max = 100000").await;
    let expected = numbered("", 400_000);
    let running = {
        let (client, session) = (client.clone(), session.clone());
        let command = "seq 1 200000; sleep 0.3; seq 200001 400000";
        tokio::spawn(async move { client.run(&session, command, "flood").await })
    };
    for _ in 0..4 {
        tokio::time::sleep(std::time::Duration::from_millis(60)).await;
        daemon.crash_and_restart();
    }
    let result = running.await.unwrap();
    let events = client.history(&session).await;
    let account = account(&events, result.shell_id, &expected);
    assert!(account.kept <= 100_000 * 9 / 8, "{account:?}");
    assert!(account.head > 0 && account.tail > 0, "{account:?}");
}

/// Runs commands of which each writes `SMALL_BYTES`, and gives their handles.
async fn write_small(client: &Stubborn, session: &str, count: usize) -> Vec<u32> {
    let mut ids = Vec::new();
    for nth in 0..count {
        let key = format!("{session}-{nth}");
        let result = client.run(session, "seq 1 3000", &key).await;
        ids.push(result.shell_id);
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_drops_its_oldest_output() {
    let (_daemon, client, session) = limited("session_output_bytes_max = 50000").await;
    let other = client
        .create("bash", SessionMode::Pipe, std::path::Path::new("/"))
        .await;
    let others = write_small(&client, &other, 2).await;
    let ids = write_small(&client, &session, 10).await;
    let expected = numbered("", 3000);
    let kept = |events: &[wire::SessionEvent]| -> Vec<u64> {
        let kept = |id: &u32| account(events, *id, &expected).kept;
        ids.iter().map(kept).collect()
    };
    let events = history_until(&client, &session, |events| {
        kept(events).iter().sum::<u64>() <= 50_000
    })
    .await;
    let mut right = vec![0; 7];
    right.extend([SMALL_BYTES; 3]);
    assert_eq!(kept(&events), right, "the oldest go, whole");
    let events = client.history(&other).await;
    for id in others {
        assert_eq!(account(&events, id, &expected).dropped, 0, "others stay");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_drops_the_oldest_output_of_all_sessions() {
    let (_daemon, client, first) = limited("store_output_bytes_max = 50000").await;
    let second = client
        .create("bash", SessionMode::Line, std::path::Path::new("/"))
        .await;
    let old = write_small(&client, &first, 4).await;
    let new = write_small(&client, &second, 3).await;
    let expected = numbered("", 3000);
    let is_gone = |events: &[wire::SessionEvent]| {
        old.iter()
            .all(|id| account(events, *id, &expected).kept == 0)
    };
    history_until(&client, &first, is_gone).await;
    let events = client.history(&second).await;
    for id in new {
        assert_eq!(account(&events, id, &expected).kept, SMALL_BYTES);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_events_go_and_the_index_moves_on() {
    let (mut daemon, client, session) = limited("session_events_max = 30").await;
    for nth in 0..40 {
        client.run(&session, "echo x", &format!("k{nth}")).await;
    }
    let last = client.history(&session).await.last().unwrap().index;
    let events = history_until(&client, &session, |events| events.len() <= 30).await;
    assert_eq!(events.last().unwrap().index, last);
    assert!(events[0].index > 0);
    daemon.crash_and_restart();
    client.run(&session, "echo y", "after").await;
    let events = client.history(&session).await;
    assert!(events.last().unwrap().index > last);
    let mut caller = daemon.client().await;
    let request = wire::HistoryRequest {
        session_id: session,
        ..wire::HistoryRequest::default()
    };
    let page = caller.get_session_history(request).await.unwrap();
    assert_eq!(page.into_inner().first_index, events[0].index);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disposed_session_is_forgotten_with_its_files_in_time() {
    let (daemon, client, session) = limited("disposed_days_max = 0").await;
    write_small(&client, &session, 2).await;
    // So long that its answer is cut and a file has the whole of it.
    let long = "seq 1 300000; seq 1 300000 >&2";
    client.run(&session, long, "long").await;
    let mut caller = daemon.client().await;
    let reference = wire::SessionRef {
        session_id: session.clone(),
    };
    caller.dispose_session(reference.clone()).await.unwrap();
    let output = daemon.home().join("data/output");
    let files = || {
        let folders = std::fs::read_dir(&output).unwrap();
        let count = |folder: std::fs::DirEntry| std::fs::read_dir(folder.path()).unwrap().count();
        folders.map(|folder| count(folder.unwrap())).sum::<usize>()
    };
    assert!(files() >= 5, "both streams, and both together");
    eventually("its files go", || files() == 0).await;
    let gone = async || caller.clone().get_session(reference.clone()).await;
    while let Ok(found) = gone().await {
        assert_eq!(found.into_inner().session_id, session);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let status = gone().await.expect_err("it is forgotten");
    assert_eq!(status.code(), tonic::Code::NotFound);
}
