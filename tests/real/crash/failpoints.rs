//! The daemon dies between every two steps of reading, journaling, publishing,
//! sending and adopting, once at each place that the source names.
//!
//! The order of the steps is what makes this pass. Each of these was tried, and
//! made the test fail at the place named:
//! - a report is consumed before what it says is committed: `report-peeked`,
//!   where a command then never ends;
//! - a command is sent before it is committed: `begin-sent` and `line-sent`,
//!   where a command then runs twice;
//! - output is read and written instead of spliced, with a place to die between
//!   the two: bytes are then missing.

use super::client::Stubborn;
use super::workload::{Dice, EVERYWHERE, Order, Worker};
use super::{Heart, seed};
use glass_proto::shellglass::v1::SessionMode;
use shellglass_tests::Daemon;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// How many daemons live at the same time.
const SIDE_BY_SIDE: usize = 3;

/// At which visits of a place a daemon dies there. It need not come there more
/// than once.
const VISITS: [u32; 6] = [1, 2, 3, 4, 6, 9];

/// The variable that tells a daemon where to die.
const VARIABLE: &str = "SHELLGLASS_FAILPOINT";

/// Every place to die that the source has.
fn places() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/glass-session/src");
    let mut found = BTreeSet::new();
    let mut folders = vec![source];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let named = text.split("failpoint::hit(\"").skip(1);
            found.extend(named.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        }
    }
    found
}

/// What a daemon does whose last moment has a name.
struct Scenario {
    daemon: Daemon,
    hearts: Vec<Heart>,
    workers: Vec<(Worker, Vec<Order>)>,
    deaths: usize,
}

impl Scenario {
    /// A daemon with running commands in both modes, and sessions for more.
    async fn new(dice: &mut Dice) -> Scenario {
        let daemon = Daemon::start("");
        let client = Stubborn::new(&daemon.socket());
        let home = daemon.home().to_owned();
        let mut hearts = Vec::new();
        let mut workers = Vec::new();
        for mode in [SessionMode::Pipe, SessionMode::Line] {
            let shells: Vec<usize> = (0..EVERYWHERE.len())
                .filter(|nth| EVERYWHERE[*nth].1 == mode)
                .collect();
            let mut any = || shells[dice.roll(shells.len() as u64) as usize];
            hearts.push(Heart::start(&client, any(), &home).await);
            let (shell, mode) = EVERYWHERE[any()];
            let orders = vec![
                Order::quick(),
                Order::lines(shell, 15, 7),
                Order::late(),
                Order::quick(),
                Order::flood(150_000),
                Order::exit(3),
                Order::lines(shell, 5, 0),
            ];
            workers.push((Worker::new(&client, shell, mode, &home).await, orders));
        }
        Scenario {
            daemon,
            hearts,
            workers,
            deaths: 0,
        }
    }

    /// Starts a daemon that dies at `place`, in the middle of everything.
    fn arm(&mut self, place: &str) {
        self.daemon.kill();
        self.daemon.set_variable(VARIABLE, Some(place));
        self.daemon.spawn();
    }

    /// Works on, and starts an ordinary daemon after the one that dies.
    async fn work(&mut self) {
        let mut working = tokio::task::JoinSet::new();
        for (mut worker, orders) in self.workers.drain(..) {
            working.spawn(async move {
                for order in orders {
                    worker.work(order).await;
                }
                worker
            });
        }
        let mut done = Vec::new();
        while !working.is_empty() {
            if self.daemon.has_ended() {
                self.deaths += 1;
                self.daemon.set_variable(VARIABLE, None);
                self.daemon.spawn();
            }
            let next = tokio::time::timeout(Duration::from_millis(5), working.join_next());
            if let Ok(Some(worker)) = next.await {
                done.push(worker.unwrap());
            }
        }
        if self.deaths == 0 {
            // It would die while it is looked at.
            self.daemon.kill();
            self.daemon.set_variable(VARIABLE, None);
            self.daemon.spawn();
        }
        for worker in done {
            worker.check().await;
        }
        for heart in self.hearts.drain(..) {
            heart.check().await;
            heart.end().await;
        }
    }
}

/// Whether the daemon came to that place; everything must be right anyway.
async fn dies_at(place: String, seed: u64) -> bool {
    eprintln!("{place}");
    let mut scenario = Scenario::new(&mut Dice::new(seed)).await;
    scenario.arm(&place);
    scenario.work().await;
    assert!(scenario.deaths < 2, "{place}: an ordinary daemon died");
    scenario.deaths == 1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn death_between_any_two_steps_loses_and_repeats_nothing() {
    let seed = seed();
    let mut left: Vec<(String, bool)> = Vec::new();
    // One place alone, to look at it closely.
    let only = std::env::var("SHELLGLASS_TEST_PLACE").ok();
    let is_wanted = |place: &String| only.as_ref().is_none_or(|only| only == place);
    for place in places().into_iter().filter(is_wanted) {
        left.extend(VISITS.map(|visit| (format!("{place}:{visit}"), visit == 1)));
    }
    let mut under_way = tokio::task::JoinSet::new();
    loop {
        while under_way.len() < SIDE_BY_SIDE
            && let Some((place, must)) = left.pop()
        {
            let seed = seed + left.len() as u64;
            under_way.spawn(async move { (dies_at(place.clone(), seed).await, must, place) });
        }
        let Some(ended) = under_way.join_next().await else {
            break;
        };
        let (died, must, place) = ended.unwrap();
        assert!(died || !must, "no daemon came to {place}");
    }
}
