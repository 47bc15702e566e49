//! Reports about walls, and paths that become something else while a command
//! waits: the daemon has all rights, and must not be led by its commands.

use super::desk::{Desk, rw};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::shellglass::v1::SessionMode;
use std::path::Path;

fn reporting(dir: &str) -> SandboxPolicy {
    SandboxPolicy {
        debug_output_dir: Some(dir.to_owned()),
        ..rw()
    }
}

/// The files of a directory whose names begin so.
fn named(dir: &Path, start: &str) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let texts = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| std::fs::read_to_string(entry.path()).unwrap());
    texts.collect()
}

#[tokio::test]
async fn the_plan_and_what_was_denied_are_left_where_the_policy_says() {
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let desk = Desk::open(mode).await;
        let dir = desk.inside("reports");
        std::fs::create_dir(&dir).unwrap();
        // A relative path is one of the workspace.
        let forbidden = desk.outside("forbidden").display().to_string();
        let command = format!("touch {forbidden}");
        let ended = desk.run(reporting("reports"), &command).await;
        assert_ne!(ended.code, Some(0), "{mode:?}: {ended:#?}");
        let plans = named(&dir, "shellglass-plan-");
        let plan: serde_json::Value = serde_json::from_str(&plans[0]).unwrap();
        assert!(plan["mounts"].as_array().unwrap().len() > 1, "{plan}");
        assert!(plan["versions"]["shellglass"].is_string(), "{plan}");
        let denied = named(&dir, "shellglass-denied-");
        let denied: serde_json::Value = serde_json::from_str(&denied[0]).unwrap();
        assert_eq!(denied["command"], command);
        let denial = denied["denials"][0].as_str().unwrap();
        assert!(denial.contains(&forbidden), "{denial}");
    }
}

#[tokio::test]
async fn a_report_does_not_follow_a_link_that_the_command_put_there() {
    let desk = Desk::open(SessionMode::Pipe).await;
    std::fs::create_dir(desk.inside("reports")).unwrap();
    let outside = desk.outside("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let swap = format!(
        "mv reports kept; ln -s {0} reports; touch {0}/forbidden",
        outside.display()
    );
    let ended = desk.run(reporting("reports"), &swap).await;
    assert!(!ended.denials.is_empty(), "{ended:#?}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[tokio::test]
async fn a_path_that_becomes_a_link_while_its_command_waits_grants_nothing() {
    let desk = Desk::open(SessionMode::Pipe).await;
    std::fs::create_dir(desk.inside("granted")).unwrap();
    let outside = desk.outside("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let swap = format!(
        "sleep 1; mv granted kept; ln -s {} granted",
        outside.display()
    );
    let policy = SandboxPolicy {
        additional_readwrite_paths: vec![desk.inside("granted").display().to_string()],
        ..rw()
    };
    let (first, second) = tokio::join!(desk.run(rw(), &swap), async {
        // It is accepted while the first one runs.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        desk.run(policy, "echo x > granted/escaped").await
    });
    assert_eq!(first.code, Some(0), "{first:#?}");
    assert_ne!(second.code, Some(0), "{second:#?}");
    assert!(!outside.join("escaped").exists());
}
