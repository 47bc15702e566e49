//! The daemon dies at any moment, and nobody notices: what runs goes on, every
//! byte is told once and in order, every code is right, nothing runs twice.

pub(crate) mod client;
mod failpoints;
mod inheritance;
pub(crate) mod workload;

use client::Stubborn;
use shellglass_tests::Daemon;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use workload::{Dice, EVERYWHERE, Worker, numbered, same};

/// How often the daemon is killed.
const KILLS: usize = 200;

/// The longest life of a daemon here, in milliseconds.
const LIFE_MS_MAX: u64 = 250;

/// One in so many daemons is killed before it is ready.
const EARLY_ONE_IN: u64 = 5;

/// A command that runs through all of it, and the process that runs it.
struct Heart {
    client: Stubborn,
    session: String,
    shell: &'static str,
    stop: PathBuf,
    shell_id: u32,
    process: (u32, String),
}

impl Heart {
    async fn start(client: &Stubborn, nth: usize, home: &Path) -> Heart {
        let (shell, mode) = EVERYWHERE[nth];
        let session = client.create(shell, mode, home).await;
        let stop = home.join(format!("stop-{nth}"));
        let path = stop.display();
        let command = match shell {
            "fish" => format!(
                "set i 0; while not test -e {path}; set i (math $i + 1); echo \"beat $i\"; \
                 echo \"beat $i\" >&2; sleep 0.05; end; sh -c 'exit 9'"
            ),
            _ => format!(
                "i=0; while ! [ -e {path} ]; do i=$((i+1)); echo \"beat $i\"; \
                 echo \"beat $i\" >&2; sleep 0.05; done; sh -c 'exit 9'"
            ),
        };
        let running = (client.patient(), session.clone(), format!("heart-{nth}"));
        tokio::spawn(async move {
            let (client, session, key) = running;
            client.run(&session, &command, &key).await
        });
        let (shell_id, pid) = started(client, &session).await;
        let process = (pid, birth(pid).expect("the command runs"));
        Heart {
            client: client.clone(),
            session,
            shell,
            stop,
            shell_id,
            process,
        }
    }

    /// The same process runs the same execution.
    async fn check(&self) {
        let (pid, born) = &self.process;
        assert_eq!(birth(*pid).as_ref(), Some(born), "{} lives on", self.shell);
        let deadline = Instant::now() + client::STUBBORNNESS;
        while !self.client.session(&self.session).await.running {
            assert!(Instant::now() < deadline, "{} is not adopted", self.shell);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// It ends when it is told to, and all of its beats are told.
    async fn end(self) {
        std::fs::write(&self.stop, "").unwrap();
        let deadline = Instant::now() + client::STUBBORNNESS;
        let told = loop {
            let mut told = self.client.told(&self.session).await;
            let told = told.remove(&self.shell_id).expect("it has events");
            if !told.exits.is_empty() {
                break told;
            }
            assert!(Instant::now() < deadline, "{} does not end", self.shell);
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_eq!(told.exits, [Some(9)], "{}", self.shell);
        assert_eq!(told.pids, [self.process.0], "{}", self.shell);
        let beats = told.stdout.iter().filter(|byte| **byte == b'\n').count();
        let expected = numbered("beat ", beats as u64);
        same(self.shell, &told.stdout, &expected).unwrap();
        same(self.shell, &told.stderr, &expected).unwrap();
    }
}

/// The first execution of a session, once it has begun, and its process.
pub(crate) async fn started(client: &Stubborn, session: &str) -> (u32, u32) {
    let deadline = Instant::now() + client::STUBBORNNESS;
    loop {
        let told = client.told(session).await;
        let begun = told.into_iter().find(|(_, told)| !told.pids.is_empty());
        if let Some((shell_id, told)) = begun {
            return (shell_id, told.pids[0]);
        }
        assert!(Instant::now() < deadline, "nothing begins in {session}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// When a process was born, in the kernel's clock ticks; none when it is gone.
fn birth(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    (fields[0] != "Z").then(|| fields[19].to_owned())
}

/// `SHELLGLASS_TEST_SEED` repeats a run as far as that is possible.
fn seed() -> u64 {
    let given = std::env::var("SHELLGLASS_TEST_SEED");
    let seed = given.ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.unwrap().as_millis() as u64 % 1_000_000
    });
    eprintln!("SHELLGLASS_TEST_SEED={seed}");
    seed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn two_hundred_kills_lose_and_repeat_nothing() {
    let mut dice = Dice::new(seed());
    let mut daemon = Daemon::start("");
    let client = Stubborn::new(&daemon.socket());
    let home = daemon.home().to_owned();
    let mut hearts = Vec::new();
    for nth in 0..4 {
        hearts.push(Heart::start(&client, nth, &home).await);
    }
    let enough = Arc::new(AtomicBool::new(false));
    let mut workers = tokio::task::JoinSet::new();
    for (nth, (shell, mode)) in EVERYWHERE.into_iter().enumerate() {
        let mut worker = Worker::new(&client, shell, mode, &home).await;
        let mut dice = Dice::new(dice.roll(1 << 40) + nth as u64);
        let enough = enough.clone();
        workers.spawn(async move {
            let enough = || enough.load(Ordering::Relaxed);
            worker.work_until(&mut dice, enough).await;
            worker
        });
    }
    let mut restarts = Vec::new();
    for nth in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(dice.roll(LIFE_MS_MAX))).await;
        daemon.kill();
        let since = Instant::now();
        daemon.spawn();
        if dice.roll(EARLY_ONE_IN) == 0 {
            tokio::time::sleep(Duration::from_millis(dice.roll(40))).await;
            continue;
        }
        daemon.wait_until_ready();
        restarts.push(since.elapsed());
        hearts[nth % hearts.len()].check().await;
        if let Some(ended) = workers.try_join_next() {
            panic!("a worker ended early: {:?}", ended.err());
        }
    }
    daemon.wait_until_ready();
    enough.store(true, Ordering::Relaxed);
    let mut orders = 0;
    while let Some(worker) = workers.join_next().await {
        let worker = worker.unwrap();
        worker.check().await;
        orders += worker.orders();
    }
    for heart in hearts {
        heart.check().await;
        heart.end().await;
    }
    restarts.sort();
    let (half, last) = (restarts[restarts.len() / 2], restarts[restarts.len() - 1]);
    eprintln!("{orders} commands; a restart took {half:?}, at most {last:?}");
}
