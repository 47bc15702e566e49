//! The keeper outlives daemons, refuses rivals, and leaves when it may.

use std::io::{Read, Write};
use std::time::Duration;

use glass_model::{LaunchId, WaitStatus};
use glass_spawn::tree::Manner;
use glass_spawn::{ConnectError, HeldError, Keeper, KeeperEvent, ProcessRef};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

use crate::fixture::{
    Home, all_of, end, launch, living_below, pipe, read_all, read_line, start, until,
};

#[tokio::test]
async fn a_new_daemon_adopts_what_an_old_one_started() {
    let mut home = Home::new().await;
    let (gate, mut open) = pipe();
    let (out, out_end) = pipe();
    let mut ask = launch(&[
        "/bin/bash",
        "-c",
        "echo before; read -u 5 x; echo $x; exit 4",
    ]);
    ask.child_fds = vec![(1, out_end), (5, gate.into())];
    ask.held = vec![("out".into(), out.into())];
    ask.tag = b"session 1".to_vec();
    let launched = home.keeper.spawn(ask).await.expect("it starts");
    let (quick, _) = home.bash("exit 9").await;
    home.emptied(&quick).await;
    home.reconnect().await;

    let listed = home.keeper.list().await.expect("a list");
    assert_eq!(listed.len(), 2);
    let info = &listed[0];
    assert_eq!(
        (info.id, info.child, info.reaper),
        (launched.id, launched.child, launched.reaper)
    );
    assert_eq!(info.tag, b"session 1");
    assert_eq!((info.status, info.emptied), (None, false));
    assert_eq!((listed[1].id, listed[1].emptied), (quick.id, true));
    assert_eq!(listed[1].status, Some(WaitStatus::Exited(9)));

    let mut held = home.keeper.adopt(launched.id).await.expect("adopted");
    let (label, out) = held.pop().expect("one");
    assert_eq!((label.as_str(), held.len()), ("out", 0));
    let out = std::fs::File::from(out);
    assert_eq!(read_line(&out).await, "before");
    let mut open = std::fs::File::from(std::mem::replace(&mut open, pipe().1));
    open.write_all(b"after\n").expect("written");
    assert_eq!(read_line(&out).await, "after");
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Exited(4));
}

#[tokio::test]
async fn held_descriptors_can_be_added_replaced_and_let_go() {
    let mut home = Home::new().await;
    let (launched, _) = home.bash("exec sleep 1000").await;
    let id = launched.id;
    let (mut first, first_end) = pipe();
    let (second, second_end) = pipe();
    home.keeper
        .hold(id, vec![("a".into(), first_end)])
        .await
        .expect("held");
    home.keeper
        .hold(id, vec![("a".into(), second_end)])
        .await
        .expect("replaced");
    let mut rest = String::new();
    first
        .read_to_string(&mut rest)
        .expect("closed by the replacement");
    let mut held = home.keeper.adopt(id).await.expect("adopted");
    let copy = held.pop().expect("one").1;
    std::fs::File::from(copy).write_all(b"x").expect("written");
    home.keeper
        .unhold(id, vec!["a".into(), "unknown".into()])
        .await
        .expect("let go");
    assert_eq!(read_all(second).await, "x");
    let unknown = home.keeper.adopt(LaunchId(999)).await.expect_err("unknown");
    assert!(
        matches!(unknown, HeldError::UnknownLaunch { id: LaunchId(999) }),
        "{unknown}"
    );

    home.keeper.forget(id).await.expect("forgotten");
    assert!(home.keeper.list().await.expect("a list").is_empty());
    assert_eq!(living_below(&launched).len(), 1, "it goes on");
    end(all_of(&launched, Manner::Kill)).await.expect("ended");
    until("the end of the reaper", || !launched.reaper.is_alive()).await;
    let (last, _) = home.bash("exit 0").await;
    assert!(matches!(home.next_event().await, KeeperEvent::Exited { id, .. } if id == last.id));
}

#[tokio::test]
async fn a_newer_daemon_takes_the_place_of_an_older() {
    let mut home = Home::new().await;
    let (newer, mut events) = Keeper::connect(&home.socket()).await.expect("a connection");
    assert_eq!(home.next_event().await, KeeperEvent::Lost);
    assert!(home.keeper.list().await.is_err());
    let launched = newer
        .spawn(launch(&["/bin/true"]))
        .await
        .expect("it starts");
    let Some(KeeperEvent::Exited { id, status, usage }) = events.recv().await else {
        panic!("it ends");
    };
    assert_eq!((id, status), (launched.id, WaitStatus::Exited(0)));
    let peak = usage.expect("the keeper knows").peak_memory_bytes;
    assert!(peak >= 4096 && peak % 1024 == 0, "{peak}");
}

#[tokio::test]
async fn nothing_that_a_client_sends_ends_the_keeper() {
    let mut home = Home::new().await;
    let hello: &[u8] = &[0, 8, 1, 18, 4, 8, 1, 16, 1];
    let oversized = vec![0xff; 60_000];
    let attacks: [&[&[u8]]; 7] = [
        &[],
        &[b""],
        &[&[9, 9, 9]],
        &[&[1]],
        &[hello, &[0, 0xff, 0xff, 0xff]],
        &[hello, &oversized],
        &[hello, &[0, 8, 5, 0x9a, 6, 1, b'x'], &[0, 0x1a, 2, 8]],
    ];
    for attack in attacks {
        let socket = raw_connection(&home);
        for packet in attack {
            let _ = rustix::net::send(&socket, packet, SendFlags::NOSIGNAL);
        }
        home.reconnect().await;
        let (_, out) = home.bash("echo alive").await;
        assert_eq!(read_all(out).await, "alive\n");
    }
    // More silent clients than are let in at once.
    let crowd: Vec<_> = (0..12).map(|_| raw_connection(&home)).collect();
    let (_, out) = home.bash("echo alive").await;
    assert_eq!(read_all(out).await, "alive\n");
    drop(crowd);
    home.reconnect().await;
    assert!(home.keeper_process().is_alive());
}

fn raw_connection(home: &Home) -> std::os::fd::OwnedFd {
    let flags = SocketFlags::CLOEXEC;
    let kind = SocketType::SEQPACKET;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None).expect("made");
    let address = SocketAddrUnix::new(home.socket()).expect("an address");
    rustix::net::connect(&socket, &address).expect("connected");
    socket
}

#[tokio::test]
async fn daemons_that_race_to_start_a_keeper_end_with_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("run/k");
    let idle = Duration::from_secs(2);
    let starts: Vec<_> = (0..4)
        .map(|_| {
            let socket = socket.clone();
            tokio::spawn(async move { start(&socket, idle).await })
        })
        .collect();
    let mut pids = Vec::new();
    for task in starts {
        let (keeper, _events) = task.await.expect("no panic");
        pids.push(keeper.pid());
    }
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
    let keeper = ProcessRef::of(pids[0]).expect("it runs");
    until("its end, being idle", || !keeper.is_alive()).await;
    assert!(!socket.exists());
    let error = Keeper::connect(&socket).await.expect_err("nobody is there");
    assert!(matches!(error, ConnectError::NoKeeper { .. }), "{error}");
}

#[tokio::test]
async fn a_keeper_without_a_daemon_stays_while_a_child_lives() {
    let mut home = Home::with_idle(Duration::from_millis(100)).await;
    let (launched, _) = home.bash("exec sleep 1000").await;
    // The connection that is dropped here is the daemon's.
    let socket = home.socket();
    let (other, _) = Keeper::connect(&socket).await.expect("a connection");
    drop(other);
    assert_eq!(home.next_event().await, KeeperEvent::Lost);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(home.keeper_process().is_alive());
    launched.child.kill().expect("killed");
    until("its end", || !home.keeper_process().is_alive()).await;
}

#[tokio::test]
async fn asked_to_leave_a_keeper_waits_for_its_children() {
    let mut home = Home::new().await;
    let (launched, _) = home.bash("exec sleep 1000").await;
    for signal in [1, 2, 13, 15] {
        home.keeper_process().signal(signal).expect("sent");
    }
    assert_eq!(home.keeper.list().await.expect("a list").len(), 1);
    assert!(home.keeper_process().is_alive());
    launched.child.kill().expect("killed");
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Signaled(9));
    home.emptied(&launched).await;
    assert_eq!(home.next_event().await, KeeperEvent::Lost);
    until("its end", || !home.keeper_process().is_alive()).await;
}

#[tokio::test]
async fn what_loses_its_reaper_is_killed() {
    let mut home = Home::new().await;
    let script = "sleep 1000 & (setsid sleep 1000 &); echo $PPID; kill -9 $PPID; sleep 1000";
    let (launched, out) = home.bash(script).await;
    assert_eq!(read_line(&out).await, launched.reaper.pid.to_string());
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Unknown);
    home.emptied(&launched).await;
    // Nobody has the pipe any more, so nothing of it lives.
    assert_eq!(read_all(out).await, "");
    let (_, out) = home.bash("echo alive").await;
    assert_eq!(read_all(out).await, "alive\n");
}

#[tokio::test]
async fn a_reaper_ignores_what_a_command_can_send_by_accident() {
    let mut home = Home::new().await;
    let script = "for s in HUP INT QUIT TERM USR1 USR2 PIPE ALRM CHLD; do kill -$s $PPID; done; \
        kill -TERM 0; exit 1";
    let (launched, _) = home.bash(script).await;
    assert_eq!(home.exit_of(&launched).await, WaitStatus::Signaled(15));
}

#[tokio::test]
async fn the_loss_of_the_keeper_is_told() {
    let mut home = Home::new().await;
    home.keeper_process().kill().expect("killed");
    assert_eq!(home.next_event().await, KeeperEvent::Lost);
    assert!(home.keeper.spawn(launch(&["/bin/true"])).await.is_err());
    assert!(home.keeper.list().await.is_err());
}
