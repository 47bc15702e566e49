//! Ending trees that try to get away.

use std::time::Duration;

use glass_model::WaitStatus;
use glass_spawn::tree::{ChildLeft, Manner, Scope, Tag, TreeEnd, now_ticks};
use glass_spawn::{Launched, ProcessRef};

use crate::fixture::{
    Home, PATIENCE, all_of, end, launch, living_below, pipe, read_all, read_line, until,
};

const GRACE: Duration = Duration::from_millis(150);

const MANNERS: [Manner; 3] = [
    Manner::Kill,
    Manner::Terminate { grace: GRACE },
    Manner::Interrupt { grace: GRACE },
];

/// Ends a script in every manner. The script prints a line when all is there;
/// afterwards nothing may hold its output open.
async fn check(shell: &str, script: &str, count: usize) {
    for manner in MANNERS {
        for cgroup in ["", "glass-tree"] {
            let mut home = Home::new().await;
            let mut ask = launch(&[shell, "-c", script]);
            ask.plan.cwd = home.path("").to_str().expect("text").as_bytes().to_vec();
            if !cgroup.is_empty() {
                ask.plan.cgroup = format!("{cgroup}-{}", home.keeper.pid());
            }
            let (out, out_end) = pipe();
            ask.child_fds.push((1, out_end));
            let launched = home.keeper.spawn(ask).await.expect("it starts");
            assert_eq!(read_line(&out).await, "ready", "{script}");
            until("all processes", || living_below(&launched).len() >= count).await;
            let ended = end(all_of(&launched, manner)).await.expect("ended");
            assert!(ended.processes >= count, "{ended:?} {script}");
            assert_eq!(ended.child, ChildLeft::Gone);
            assert_eq!(living_below(&launched), [], "{script} {manner:?}");
            assert_eq!(read_all(out).await, "");
            assert_eq!(home.exit_of(&launched).await, WaitStatus::Signaled(9));
            home.emptied(&launched).await;
            assert!(!home.path("NEXT").exists(), "{script} {manner:?}");
        }
    }
}

#[tokio::test]
async fn nothing_is_left_of_processes_that_hide() {
    let script = "setsid sleep 1000 & (sleep 1000 &) ; nohup sleep 1000 & \
        echo ready; sleep 1000; touch NEXT";
    check("/bin/bash", script, 5).await;
}

#[tokio::test]
async fn nothing_is_left_of_processes_that_ignore_signals() {
    let script = "trap '' TERM INT HUP; setsid sleep 1000 & (sleep 1000 &) ; \
        nohup sleep 1000 & echo ready; sleep 1000; touch NEXT";
    check("/bin/bash", script, 5).await;
}

#[tokio::test]
async fn a_storm_of_forks_is_outrun() {
    let script = "f(){ while :; do sleep 1000 & sleep 0.01; done; }; f & f & echo ready; f";
    check("/bin/bash", script, 12).await;
}

#[tokio::test]
async fn a_chain_that_forks_and_dies_is_caught() {
    // Each link starts the next and ends, so no process lives long.
    let script = "f(){ (sleep 0.005; f) & }; trap '' TERM INT; f; f; echo ready; sleep 1000";
    check("/bin/bash", script, 3).await;
}

#[tokio::test]
async fn no_shell_goes_on_to_its_next_word() {
    for shell in ["/bin/bash", "/bin/dash", "/bin/zsh", "/usr/bin/fish"] {
        if !std::path::Path::new(shell).exists() {
            continue;
        }
        check(shell, "echo ready; sleep 1000; touch NEXT", 2).await;
    }
    check(
        "/bin/bash",
        "echo ready; (sleep 1000; touch NEXT); touch NEXT",
        3,
    )
    .await;
    check(
        "/bin/bash",
        "trap 'touch NEXT' EXIT TERM INT; echo ready; sleep 1000",
        2,
    )
    .await;
    check("/bin/bash", "echo ready; sleep 1000 | cat; touch NEXT", 3).await;
    check(
        "/bin/bash",
        "echo ready; dash -c 'sleep 1000; touch NEXT'; touch NEXT",
        3,
    )
    .await;
    check(
        "/bin/bash",
        "echo ready; while :; do :; done; touch NEXT",
        1,
    )
    .await;
}

#[tokio::test]
async fn what_is_asked_politely_has_time_to_tidy_up() {
    let script = r#"perl -e '$SIG{TERM} = sub { open F, ">TIDY"; close F; exit }; $| = 1;
        print "ready\n"; sleep 1000 while 1'; touch NEXT"#;
    let home = Home::new().await;
    let mut ask = launch(&["/bin/bash", "-c", script]);
    ask.plan.cwd = home.path("").to_str().expect("text").as_bytes().to_vec();
    let (out, out_end) = pipe();
    ask.child_fds.push((1, out_end));
    let launched = home.keeper.spawn(ask).await.expect("it starts");
    read_line(&out).await;
    let ended = end(all_of(&launched, Manner::Terminate { grace: PATIENCE })).await;
    let ended = ended.expect("ended");
    assert_eq!(
        (ended.processes, ended.killed),
        (2, 1),
        "only the shell is killed"
    );
    assert!(home.path("TIDY").exists() && !home.path("NEXT").exists());
}

/// A warm shell: it reads commands from a pipe.
async fn warm(home: &Home, before: &str) -> (Launched, std::fs::File, std::fs::File) {
    let (commands, commands_end) = pipe();
    let (out, out_end) = pipe();
    let mut ask = launch(&["/bin/bash"]);
    ask.plan.cwd = home.path("").to_str().expect("text").as_bytes().to_vec();
    ask.child_fds = vec![(0, commands.into()), (1, out_end)];
    let launched = home.keeper.spawn(ask).await.expect("it starts");
    let mut shell = std::fs::File::from(commands_end);
    std::io::Write::write_all(&mut shell, before.as_bytes()).expect("written");
    assert_eq!(read_line(&out).await, "ready");
    (launched, shell, out)
}

fn since(launched: &Launched, ticks: u64, spare_child: bool) -> TreeEnd {
    let tag = Tag {
        name: "GLASS_TAG".into(),
        value: "2".into(),
    };
    let mut order = all_of(launched, Manner::Terminate { grace: GRACE });
    order.scope = Scope::Since {
        ticks,
        tag,
        spare_child,
    };
    order
}

#[tokio::test]
async fn only_what_began_since_then_is_ended_and_the_shell_is_left_stopped() {
    let home = Home::new().await;
    let older = "export GLASS_TAG=1; sleep 1001 & (while :; do sleep 0.02; done) & echo ready\n";
    let (launched, mut shell, out) = warm(&home, older).await;
    until("the older jobs", || living_below(&launched).len() >= 3).await;
    let old: Vec<ProcessRef> = living_below(&launched);
    let ticks = now_ticks() + 2;
    until("a later moment", || now_ticks() > ticks).await;
    let newer = "export GLASS_TAG=2; setsid sleep 1002 & (sleep 1003 &); nohup sleep 1004 & \
        echo ready; sleep 1005; touch NEXT\n";
    std::io::Write::write_all(&mut shell, newer.as_bytes()).expect("written");
    assert_eq!(read_line(&out).await, "ready");
    until("the newer ones", || {
        count_sleeps(&launched, 1002..=1005) == 4
    })
    .await;

    let ended = end(since(&launched, ticks, true)).await.expect("ended");
    assert_eq!(ended.child, ChildLeft::Stopped);
    assert_eq!(count_sleeps(&launched, 1002..=1005), 0);
    assert_eq!(count_sleeps(&launched, 1001..=1001), 1);
    assert!(old.iter().filter(|process| process.is_alive()).count() >= 3);
    assert!(!home.path("NEXT").exists());
    // The shell can go on, if whoever asked has made sure that it may.
    launched.child.cont().expect("continued");
    until("the next word", || home.path("NEXT").exists()).await;

    let ended = end(since(&launched, ticks, false)).await.expect("ended");
    assert_eq!(ended.child, ChildLeft::Gone);
    assert_eq!(
        count_sleeps(&launched, 1001..=1001),
        1,
        "older jobs outlive the shell"
    );
    end(all_of(&launched, Manner::Kill)).await.expect("ended");
    assert_eq!(living_below(&launched), []);
}

fn count_sleeps(launched: &Launched, seconds: std::ops::RangeInclusive<u32>) -> usize {
    let is_one = |process: &ProcessRef| {
        let line = std::fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
        seconds
            .clone()
            .any(|s| line == format!("sleep\0{s}\0").into_bytes())
    };
    living_below(launched)
        .iter()
        .filter(|process| is_one(process))
        .count()
}

#[tokio::test]
async fn a_command_that_just_began_is_told_from_a_job_by_its_tag() {
    let home = Home::new().await;
    for _ in 0..5 {
        let (launched, mut shell, out) = warm(&home, "echo ready\n").await;
        let script = "GLASS_TAG=1 sleep 1001 & echo ready\n";
        std::io::Write::write_all(&mut shell, script.as_bytes()).expect("written");
        read_line(&out).await;
        until("the job", || count_sleeps(&launched, 1001..=1001) == 1).await;
        let ticks = now_ticks();
        let script = "GLASS_TAG=2 sleep 1002 & echo ready\n";
        std::io::Write::write_all(&mut shell, script.as_bytes()).expect("written");
        read_line(&out).await;
        until("the command", || count_sleeps(&launched, 1002..=1002) == 1).await;
        end(since(&launched, ticks, true)).await.expect("ended");
        assert_eq!(count_sleeps(&launched, 1001..=1002), 1);
        assert_eq!(count_sleeps(&launched, 1001..=1001), 1);
        end(all_of(&launched, Manner::Kill)).await.expect("ended");
    }
}

#[tokio::test]
async fn a_tree_that_kills_its_reaper_meanwhile_is_ended_all_the_same() {
    let mut home = Home::new().await;
    let script = "(sleep 0.05; kill -9 $PPID) & sleep 1000 & echo ready; sleep 1000; touch NEXT";
    for pause_ms in [0, 45, 50, 55, 200] {
        let (launched, out) = home.bash(script).await;
        read_line(&out).await;
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        end(all_of(&launched, Manner::Terminate { grace: GRACE }))
            .await
            .expect("ended");
        assert_eq!(read_all(out).await, "");
        assert!(!launched.child.is_alive());
        home.emptied(&launched).await;
    }
}

#[tokio::test]
async fn ending_what_is_gone_already_is_no_error() {
    let mut home = Home::new().await;
    let (launched, _) = home.bash("exit 0").await;
    home.emptied(&launched).await;
    for manner in MANNERS {
        let ended = end(all_of(&launched, manner)).await.expect("ended");
        assert_eq!((ended.processes, ended.child), (0, ChildLeft::Gone));
    }
}
