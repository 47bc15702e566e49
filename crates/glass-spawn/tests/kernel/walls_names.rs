//! Calls that somebody behind the walls is asked about.

use glass_model::{WaitStatus, Walls};

use crate::walls::Ground;

fn without_repositories(ground: &Ground) -> Walls {
    Walls {
        refuses_repositories: true,
        ..ground.walls(Vec::new())
    }
}

#[tokio::test]
async fn no_repository_comes_to_be() {
    let mut ground = Ground::new().await;
    let walls = without_repositories(&ground);
    let script = "mkdir bare && cd bare && mkdir objects refs && : > HEAD || echo refused";
    let (said, _) = ground.run(walls, script).await;
    assert!(
        said.ends_with("HEAD: Read-only file system\nrefused\n"),
        "{said}"
    );
    assert!(!ground.path("ws/bare/HEAD").exists());
}

#[tokio::test]
async fn what_outlives_its_shell_is_still_answered() {
    let mut ground = Ground::new().await;
    let walls = without_repositories(&ground);
    // It goes on when its shell is gone, which it sees by the pipe's end.
    let script =
        "mkfifo gone; (read x < gone; : > late; : > HEAD; echo end) & exec 9> gone; exit 0";
    let (said, status) = ground.run(walls, script).await;
    assert!(said.ends_with("end\n"), "{said}");
    assert_eq!(status, WaitStatus::Exited(0));
    assert!(ground.path("ws/late").exists());
    assert!(!ground.path("ws/HEAD").exists());
}

#[tokio::test]
async fn who_waits_for_an_answer_can_be_killed() {
    let mut ground = Ground::new().await;
    let walls = without_repositories(&ground);
    // As many as two processors can make, each killed at some moment of its work.
    let script = "for i in $(seq 60); do \
        (while :; do : > f$i; mv f$i g$i; done) 2>/dev/null & last=$!; \
        : > turn; kill -9 $last; wait $last; done 2>/dev/null; echo end";
    let (said, _) = ground.run(walls, script).await;
    assert_eq!(said, "end\n");
}
