//! What a launch may use.

use glass_model::{Resources, WaitStatus};
use glass_spawn::{SpawnError, Stage, oom_kills};

use crate::fixture::{failure, pipe, read_all};
use crate::walls::Ground;

#[tokio::test]
async fn each_process_is_limited() {
    let mut ground = Ground::new().await;
    for walled in [false, true] {
        let script =
            "ulimit -n; ulimit -Hn; ulimit -c; ulimit -Hc; ulimit -t; ulimit -f; ulimit -v";
        let mut launch = ground.launch(ground.walls(vec![]), script);
        launch.plan.resources = Resources {
            open_files: Some(77),
            cpu_seconds: Some(5),
            file_bytes: Some(1 << 20),
            core_bytes: Some(0),
            address_bytes: Some(1 << 30),
            ..Resources::default()
        };
        launch.plan.walls = launch.plan.walls.filter(|_| walled);
        let (out, out_end) = pipe();
        launch.child_fds.push((1, out_end));
        let launched = ground.home.keeper.spawn(launch).await.expect("it starts");
        let text = read_all(out).await;
        assert_eq!(text, "77\n77\n0\n0\n5\n1024\n1048576\n");
        ground.home.emptied(&launched).await;
    }
}

#[tokio::test]
async fn a_limit_above_the_systems_own_is_no_failure() {
    let mut ground = Ground::new().await;
    let mut launch = ground.launch(ground.walls(vec![]), "ulimit -Hn");
    launch.plan.resources.open_files = Some(u64::MAX - 1);
    let (out, out_end) = pipe();
    launch.child_fds.push((1, out_end));
    let launched = ground.home.keeper.spawn(launch).await.expect("it starts");
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let most = most.map_or("unlimited".to_owned(), |most| most.to_string());
    assert_eq!(read_all(out).await.trim(), most);
    ground.home.emptied(&launched).await;
}

#[tokio::test]
async fn processes_are_limited_together_or_nothing_starts() {
    let mut ground = Ground::new().await;
    let works = ground
        .home
        .keeper
        .probe()
        .await
        .expect("features")
        .cgroup_pids
        .works();
    let script = "for i in $(seq 60); do sleep 5 & done 2>&1; jobs -p | wc -l; kill $(jobs -p)";
    for name in [
        String::new(),
        format!("glass-walls-{}", ground.home.keeper.pid()),
    ] {
        let mut launch = ground.launch(ground.walls(vec![]), script);
        launch.plan.cgroup = name;
        launch.plan.resources.processes = Some(20);
        let (out, out_end) = pipe();
        launch.child_fds.push((1, out_end));
        let result = ground.home.keeper.spawn(launch).await;
        if !works {
            let error = failure(result);
            let limits = matches!(
                error,
                SpawnError::Failed {
                    stage: Stage::Limits,
                    ..
                }
            );
            assert!(limits, "{error:?}");
            continue;
        }
        let launched = result.expect("it starts");
        let text = read_all(out).await;
        assert!(text.contains("Resource temporarily unavailable"), "{text}");
        ground.home.emptied(&launched).await;
    }
}

#[tokio::test]
async fn memory_is_limited_together_or_nothing_starts() {
    let mut ground = Ground::new().await;
    let works = ground
        .home
        .keeper
        .probe()
        .await
        .expect("features")
        .cgroup_memory
        .works();
    let script = "head -c 300M /dev/zero | tail | wc -c; read line";
    let mut launch = ground.launch(ground.walls(vec![]), script);
    launch.plan.cgroup = format!("glass-walls-memory-{}", ground.home.keeper.pid());
    launch.plan.resources.memory_bytes = Some(100 << 20);
    let (input_end, input) = std::io::pipe().expect("a pipe");
    launch.child_fds.push((0, input_end.into()));
    let (out, out_end) = pipe();
    launch.child_fds.push((1, out_end));
    let result = ground.home.keeper.spawn(launch).await;
    if !works {
        let error = failure(result);
        let limits = matches!(
            error,
            SpawnError::Failed {
                stage: Stage::Limits,
                ..
            }
        );
        assert!(limits, "{error:?}");
        return;
    }
    let launched = result.expect("it starts");
    let line = crate::fixture::read_line(&out).await;
    assert_eq!(line, "0", "tail was killed before it could say anything");
    assert_eq!(oom_kills(&launched), Some(1));
    let group = launched.memory.clone().expect("one");
    drop(input);
    assert_eq!(ground.home.exit_of(&launched).await, WaitStatus::Exited(1));
    ground.home.emptied(&launched).await;
    // Somebody may still ask why it ended.
    assert_eq!(oom_kills(&launched), Some(1));
    let forgotten = ground.home.keeper.forget(launched.id).await;
    forgotten.expect("forgotten");
    crate::fixture::until("its group is removed", || !group.exists()).await;
    assert_eq!(oom_kills(&launched), None);
}
