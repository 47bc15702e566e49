//! The same behind walls.

use super::{Behind, exit, free_port};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::background_shell_spawn_result::Result as Spawned;
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::shellglass::v1::WaitRequest;
use shellglass_tests::{eventually, processes};

fn walls(network: bool) -> SandboxPolicy {
    SandboxPolicy {
        r#type: Type::WorkspaceReadwrite.into(),
        network_access: Some(network),
        ..SandboxPolicy::default()
    }
}

async fn spawn(behind: &Behind, policy: SandboxPolicy, command: &str) -> u32 {
    let mut request = behind.request(command);
    request.args.as_mut().unwrap().sandbox_policy = Some(policy);
    match behind.answer(request).await {
        Spawned::Success(success) => success.shell_id,
        other => panic!("not started: {other:?}"),
    }
}

#[tokio::test]
async fn input_reaches_a_command_behind_walls_also_after_a_crash() {
    let mut behind = Behind::start("").await;
    let command = "touch /usr/planted; while read -r line; do echo \"got $line\"; done";
    let id = spawn(&behind, walls(false), command).await;
    behind.wrote(id, "one\n").await;
    behind.until_written(id, "got one\n").await;
    behind.restart().await;
    behind.wrote(id, "two\n\u{4}").await;
    assert_eq!(behind.ended(id).await, Some(0));
    let output = behind.output(id).await;
    assert!(output.contains("Read-only file system"), "{output}");
    assert!(output.contains("got one\n"), "{output}");
    assert!(output.ends_with("got two\n"), "{output}");
    assert!(!std::path::Path::new("/usr/planted").exists());
}

#[tokio::test]
async fn control_c_and_cancel_reach_behind_walls() {
    let behind = Behind::start("").await;
    let sleep = "sleep 1000.277";
    let left = || {
        let all = processes().into_iter();
        all.filter(|(_, line)| line.starts_with(sleep)).count()
    };
    let command = format!("trap 'echo caught' INT; echo up; {sleep}; exec {sleep}");
    let id = spawn(&behind, walls(false), &command).await;
    behind.until_written(id, "up\n").await;
    eventually("it sleeps", || left() == 1).await;
    behind.wrote(id, "\u{3}").await;
    behind.until_written(id, "caught\n").await;
    eventually("it sleeps again", || left() == 1).await;
    assert!(behind.cancel(id).await);
    assert_eq!(left(), 0);
}

#[tokio::test]
async fn a_port_in_a_network_of_its_own_is_found() {
    let behind = Behind::start("").await;
    let port = free_port();
    let command = format!("exec python3 -m http.server {port} --bind 127.0.0.1");
    for network in [false, true] {
        let id = spawn(&behind, walls(network), &command).await;
        let request = WaitRequest {
            port: u32::from(port),
            ..exit(id)
        };
        let answer = behind.wait(request).await;
        assert_eq!(
            answer.reason,
            "port",
            "{answer:?} {}",
            behind.output(id).await
        );
        let reached = std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert_eq!(reached, network);
        assert!(behind.cancel(id).await);
    }
}

#[tokio::test]
async fn a_file_is_looked_for_where_the_command_sees_it() {
    let behind = Behind::start("").await;
    let name = format!("/tmp/sg-inside-{}", std::process::id());
    let command = format!("ln -s {name} link; read -r line; touch {name}; exec sleep 1000");
    let id = spawn(&behind, walls(false), &command).await;
    let request = |file: &str, timeout_ms| WaitRequest {
        file: file.to_owned(),
        timeout_ms,
        ..exit(id)
    };
    // What lies in our own /tmp is not in the command's.
    std::fs::write(&name, "").unwrap();
    let early = behind.wait(request(&name, 300)).await;
    std::fs::remove_file(&name).unwrap();
    assert_eq!(early.reason, "timeout");
    behind.wrote(id, "\n").await;
    for file in [name.as_str(), "link"] {
        let answer = behind.wait(request(file, 30_000)).await;
        assert_eq!(answer.reason, "file", "{file}");
    }
    assert!(!std::path::Path::new(&name).exists());
    assert!(behind.cancel(id).await);
}

#[tokio::test]
async fn walls_that_cannot_be_had_are_an_answer_of_their_own() {
    let behind = Behind::start("").await;
    let mut request = behind.request("touch ran");
    let policy = SandboxPolicy {
        additional_readwrite_paths: vec!["relative".to_owned()],
        ..walls(false)
    };
    request.args.as_mut().unwrap().sandbox_policy = Some(policy);
    match behind.answer(request).await {
        Spawned::PermissionDenied(denied) => assert!(denied.error.contains("hint: ")),
        other => panic!("not denied: {other:?}"),
    }
    assert_eq!(behind.listed().await, []);
    assert!(!behind.dir().join("ran").exists());
}
