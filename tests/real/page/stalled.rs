//! Views that read nothing while much is written.

use super::glass::{Glass, Socket};
use crate::terminals::viewer::{Viewer, open, terminal};
use glass_proto::shellglass::v1::SessionMode;
use glass_proto::shellglass::v1::attach_output::Output;
use serde_json::json;
use shellglass_tests::TestSession;
use tokio_tungstenite::tungstenite::Message;

/// Views that read nothing, over gRPC and as many over WebSockets.
const STALLED: usize = 6;

/// Bytes that each of them is not shown.
const FLOOD_BYTES: usize = 20_000_000;

/// By how much the daemon may grow meanwhile: queues of 1 MiB in buffers of twice
/// that for each of them, a screen, and what connections hold. All that was written
/// for them would be 240 MB.
const GROWTH_KIB_MAX: u64 = 96 * 1024;

/// One number of what the kernel tells about the daemon, in KiB.
fn memory_kib(glass: &Glass, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", glass.daemon.pid())).unwrap();
    let mut lines = status.lines();
    let line = lines.find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Reads on until this is shown; gives how much there was, and how much it was told
/// that it has missed.
async fn catch_up(socket: &mut Socket, wanted: &str) -> (usize, u64) {
    let (mut shown, mut missed, mut tail) = (0, 0, String::new());
    while !tail.contains(wanted) {
        match socket.next().await.expect("it was not let go") {
            Message::Binary(bytes) => {
                shown += bytes.len();
                tail.push_str(&String::from_utf8_lossy(&bytes));
                // Enough for what is looked for to be cut anywhere.
                let keep = tail.char_indices().rev().nth(4096);
                tail.drain(..keep.map_or(0, |(at, _)| at));
            }
            Message::Text(text) => {
                let told: serde_json::Value = serde_json::from_str(&text).unwrap();
                if told["name"] == "missed" {
                    missed += told["value"].as_str().unwrap().parse::<u64>().unwrap();
                }
            }
            _ => {}
        }
    }
    (shown, missed)
}

/// The same over gRPC.
async fn catch_up_viewer(viewer: &mut Viewer, wanted: &str) -> (usize, u64) {
    let (mut shown, mut missed) = (0, 0);
    while !viewer.text().contains(wanted) {
        match viewer.step().await.expect("the view goes on") {
            Output::Data(bytes) => {
                shown += bytes.len();
                let excess = viewer.bytes.len().saturating_sub(4096 + bytes.len());
                viewer.bytes.drain(..excess);
            }
            Output::Property(property) if property.name == "missed" => {
                missed += property.value.parse::<u64>().unwrap();
            }
            _ => {}
        }
    }
    (shown, missed)
}

/// Checks that it was shown far from everything and knows that.
fn has_missed((shown, missed): (usize, u64)) {
    assert!(shown < FLOOD_BYTES / 2, "it was shown {shown} bytes");
    let missed = usize::try_from(missed).unwrap();
    assert!(missed > FLOOD_BYTES / 2, "it was told {missed}");
    assert!(missed < FLOOD_BYTES + 1_000_000, "it was told {missed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_that_read_nothing_cost_others_nothing_and_themselves_little() {
    let glass = Glass::start("");
    let session = terminal(&glass.daemon, "bash").await;
    let mut viewers = Vec::new();
    let mut sockets = Vec::new();
    for _ in 0..STALLED {
        // Connections of their own, so that their windows are their own.
        let mut viewer = Viewer::open(&glass.daemon.client().await, open(&session)).await;
        viewer.ready().await;
        viewers.push(viewer);
        let (socket, _, _) = glass.mirror(&session.id).await;
        sockets.push(socket);
    }
    let mut quick = Viewer::open(&session.client, open(&session)).await;
    quick.ready().await;
    let before = memory_kib(&glass, "VmRSS");
    let flood = format!("head -c {FLOOD_BYTES} /dev/zero | tr '\\0' x; echo; echo do''ne\r");
    quick.type_in(&flood).await;
    // Who reads is not kept, and neither is another session.
    catch_up_viewer(&mut quick, "done\r\n").await;
    let other = TestSession::with(&glass.daemon, "bash", SessionMode::Pipe).await;
    assert_eq!(other.run("echo also").await.stdout, "also\n");
    let grown = memory_kib(&glass, "VmHWM").saturating_sub(before);
    assert!(
        grown < GROWTH_KIB_MAX,
        "the daemon has grown by {grown} KiB"
    );
    for viewer in &mut viewers {
        has_missed(catch_up_viewer(viewer, "done\r\n").await);
    }
    for socket in &mut sockets {
        has_missed(catch_up(socket, "done\r\n").await);
    }
    // And they go on as if nothing had been.
    quick.type_in("echo still-$((1))\r").await;
    catch_up_viewer(&mut viewers[0], "still-1").await;
    catch_up(&mut sockets[0], "still-1").await;
    sockets[0].tell(&json!({ "type": "ack", "bytes": 1 })).await;
}
