//! What things cost. Not a judgement: run by hand, in a release build, with
//! `--ignored measures --nocapture --test-threads=1`.

use std::time::{Duration, Instant};

use glass_model::{View, WallBuild};
use glass_spawn::KeeperEvent;
use glass_spawn::tree::Manner;

use crate::fixture::{Home, all_of, end, launch, read_line};
use crate::walls::Ground;

const ROUNDS: usize = 300;

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    eprintln!("{what}: p50 {:?}, p99 {:?}", at(50), at(99));
}

#[tokio::test]
#[ignore = "a measurement"]
async fn measures_of_a_launch() {
    let mut home = Home::new().await;
    for cgroup in [false, true] {
        let (mut begun, mut emptied) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let mut ask = launch(&["/bin/true"]);
            if cgroup {
                ask.plan.cgroup = format!("glass-measure-{}-{round}", home.keeper.pid());
            }
            let start = Instant::now();
            let launched = home.keeper.spawn(ask).await.expect("it starts");
            begun.push(start.elapsed());
            home.emptied(&launched).await;
            emptied.push(start.elapsed());
            home.keeper.forget(launched.id).await.expect("forgotten");
        }
        report(&format!("spawn, cgroup {cgroup}"), begun);
        report(&format!("spawn to emptied, cgroup {cgroup}"), emptied);
    }
    let plain = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        std::process::Command::new("/bin/true")
            .status()
            .expect("true");
        start.elapsed()
    });
    report("for comparison, std's spawn and wait", plain.collect());
}

/// Against bubblewrap, which does less of it and starts from nothing.
#[tokio::test]
#[ignore = "a measurement"]
async fn measures_of_walls() {
    let ground = Ground::new().await;
    let mut home = Home::new().await;
    for mode in ["plain", "landlock", "namespaces", "namespaces and network"] {
        let (mut begun, mut emptied) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let mut ask = launch(&["/bin/bash", "-c", "true"]);
            let mut walls = ground.walls(vec![ground.mount("ws/.git", View::ReadOnly)]);
            walls.network = mode == "namespaces and network";
            if mode == "landlock" {
                walls.build = WallBuild::LandlockOnly;
                walls.mounts.clear();
            }
            ask.plan.walls = Some(walls).filter(|_| mode != "plain");
            let start = Instant::now();
            let launched = home.keeper.spawn(ask).await.expect("it starts");
            begun.push(start.elapsed());
            while home.next_event().await != (KeeperEvent::Emptied { id: launched.id }) {}
            emptied.push(start.elapsed());
            home.keeper.forget(launched.id).await.expect("forgotten");
        }
        report(&format!("spawn, {mode}"), begun);
        report(&format!("spawn to emptied, {mode}"), emptied);
    }
    let options = "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --cap-drop ALL \
        /bin/bash -c true";
    let bubblewrap = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        let mut command = std::process::Command::new("bwrap");
        command
            .args(options.split_whitespace())
            .status()
            .expect("bwrap");
        start.elapsed()
    });
    report("for comparison, bwrap to its end", bubblewrap.collect());
}

#[tokio::test]
#[ignore = "a measurement"]
async fn measures_of_an_end() {
    let home = Home::new().await;
    let grace = Duration::from_millis(200);
    for (name, manner) in [
        ("kill", Manner::Kill),
        ("terminate", Manner::Terminate { grace }),
    ] {
        for cgroup in [false, true] {
            let mut times = Vec::new();
            for round in 0..50 {
                let script = "sleep 1000 & (sleep 1000 &); echo ready; sleep 1000";
                let mut ask = launch(&["/bin/bash", "-c", script]);
                if cgroup {
                    ask.plan.cgroup = format!("glass-measure-{}-{round}", home.keeper.pid());
                }
                let (out, out_end) = crate::fixture::pipe();
                ask.child_fds.push((1, out_end));
                let launched = home.keeper.spawn(ask).await.expect("it starts");
                read_line(&out).await;
                let start = Instant::now();
                end(all_of(&launched, manner)).await.expect("ended");
                times.push(start.elapsed());
            }
            report(
                &format!("end of 4 processes, {name}, cgroup {cgroup}"),
                times,
            );
        }
    }
}

#[tokio::test]
#[ignore = "a measurement"]
async fn measures_of_many() {
    let home = Home::new().await;
    let mut all = Vec::new();
    let start = Instant::now();
    for _ in 0..1000 {
        all.push(
            home.keeper
                .spawn(launch(&["/bin/sleep", "1000"]))
                .await
                .expect("it starts"),
        );
    }
    eprintln!("1000 launches one after another: {:?}", start.elapsed());
    let memory = |pid: i32, name: &str| -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = text
            .lines()
            .find(|line| line.starts_with(name))
            .map(str::to_owned);
        let line = line.unwrap_or_default();
        line.split_whitespace()
            .nth(1)
            .and_then(|kb| kb.parse().ok())
            .unwrap_or(0)
    };
    let private: u64 = all
        .iter()
        .map(|l| memory(l.reaper.pid, "Private_Dirty:"))
        .sum();
    let proportional: u64 = all.iter().map(|l| memory(l.reaper.pid, "Pss:")).sum();
    eprintln!(
        "a reaper: {} KiB private, {} KiB in all",
        private / 1000,
        proportional / 1000
    );
    eprintln!("the keeper: {} KiB", memory(home.keeper.pid(), "Rss:"));
    let start = Instant::now();
    assert_eq!(home.keeper.list().await.expect("a list").len(), 1000);
    eprintln!("a list of 1000: {:?}", start.elapsed());
    let start = Instant::now();
    home.keeper
        .spawn(launch(&["/bin/true"]))
        .await
        .expect("it starts");
    eprintln!("spawn beside 1000: {:?}", start.elapsed());
}
