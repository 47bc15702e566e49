//! An agent cannot widen its own rights.

use super::desk::{Desk, Ended, ended, none, ro, rw, rw_with_network};
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::calls::{token, with_token};
use shellglass_tests::{TestSession, program};

/// A desk whose session is an agent's.
async fn agents_desk() -> (Desk, String) {
    let mut desk = Desk::open(SessionMode::Pipe).await;
    let agent = token(desk.field.daemon.home(), "agent");
    let workspace = desk.stage.workspace.to_string_lossy().into_owned();
    let request = CreateSessionRequest {
        working_directory: workspace.clone(),
        workspace_root: workspace,
        env: desk.stage.variables.clone().into_iter().collect(),
        shell: "bash".to_owned(),
        mode: SessionMode::Pipe.into(),
        startup: "none".to_owned(),
        ..CreateSessionRequest::default()
    };
    let mut client = desk.session.client.clone();
    let made = client.create_session(with_token(request, &agent)).await;
    let id = made
        .expect("an agent makes a session")
        .into_inner()
        .session_id;
    desk.session = TestSession { client, id };
    (desk, agent)
}

/// Runs a command as the agent.
async fn as_agent(desk: &Desk, agent: &str, policy: Option<SandboxPolicy>, command: &str) -> Ended {
    let request = desk.session.with_args(command, |args| {
        args.requested_sandbox_policy = policy;
    });
    let mut client = desk.session.client.clone();
    match client.run(with_token(request, agent)).await {
        Ok(result) => ended(result.into_inner()),
        Err(status) => Ended {
            refused: Some(status.message().to_owned()),
            ..Ended::default()
        },
    }
}

#[tokio::test]
async fn what_is_wider_than_an_agents_grant_does_not_run() {
    let (desk, agent) = agents_desk().await;
    let outside = desk.stage.outside.to_string_lossy().into_owned();
    let wider = [
        none(),
        rw_with_network(),
        SandboxPolicy {
            additional_readwrite_paths: vec![outside.clone()],
            ..rw()
        },
        SandboxPolicy {
            additional_readwrite_paths: vec!["/".to_owned()],
            ..ro()
        },
        SandboxPolicy {
            network_access: Some(true),
            ..ro()
        },
    ];
    for policy in wider {
        let tried = as_agent(&desk, &agent, Some(policy.clone()), "touch ran").await;
        assert!(tried.refused.is_some(), "{policy:?}: {tried:#?}");
        assert!(!desk.inside("ran").exists(), "{policy:?}");
    }
    for policy in [None, Some(rw()), Some(ro())] {
        let ran = as_agent(&desk, &agent, policy.clone(), "cat tracked.txt").await;
        assert_eq!(ran.stdout, "tracked\n", "{policy:?}: {ran:#?}");
        let tried = as_agent(&desk, &agent, policy.clone(), "touch $OUTSIDE/ran").await;
        assert_ne!(tried.code, Some(0), "{policy:?}: {tried:#?}");
    }
    assert!(!desk.outside("ran").exists());
}

#[tokio::test]
async fn an_agents_session_cannot_be_made_wider_either() {
    let (desk, agent) = agents_desk().await;
    let made = |workspace: &str, policy: SandboxPolicy| {
        let request = CreateSessionRequest {
            working_directory: workspace.to_owned(),
            workspace_root: workspace.to_owned(),
            shell: "bash".to_owned(),
            startup: "none".to_owned(),
            sandbox_policy: Some(policy),
            ..CreateSessionRequest::default()
        };
        let mut client = desk.session.client.clone();
        let request = with_token(request, &agent);
        async move { client.create_session(request).await }
    };
    let workspace = desk.stage.workspace.to_string_lossy().into_owned();
    let home = desk.field.daemon.home().to_string_lossy().into_owned();
    for (root, policy) in [
        (workspace.as_str(), none()),
        (workspace.as_str(), rw_with_network()),
        ("/", rw()),
        (home.as_str(), rw()),
    ] {
        match made(root, policy.clone()).await {
            Err(_) => (),
            Ok(session) => {
                // Whatever it is, it is not what was asked for.
                let id = session.into_inner().session_id;
                let client = desk.session.client.clone();
                let session = TestSession { client, id };
                let request = session.request(&format!("touch {}/sg-ran-$$ && echo wrote", root));
                let mut client = session.client.clone();
                let ran = client.run(with_token(request, &agent)).await;
                let wrote = ran.is_ok_and(|r| ended(r.into_inner()).stdout.contains("wrote"));
                assert!(!wrote || root == workspace, "{root} {policy:?}");
                let request = session.request(&format!(
                    "touch {}/ran && echo wrote",
                    desk.stage.outside.display()
                ));
                let ran = client.run(with_token(request, &agent)).await;
                let wrote = ran.is_ok_and(|r| ended(r.into_inner()).stdout.contains("wrote"));
                assert!(!wrote, "{root} {policy:?}");
            }
        }
    }
    assert!(!desk.outside("ran").exists());
}

#[tokio::test]
async fn a_command_without_walls_cannot_ask_the_daemon_for_more() {
    // A person's command without walls: what it asks of the daemon is an
    // agent's, whatever token it found.
    let desk = Desk::open(SessionMode::Pipe).await;
    let home = desk.field.daemon.home();
    let person = token(home, "person");
    let ask = format!(
        "SHELLGLASS_HOME={} SHELLGLASS_TOKEN={person} {} run --sandbox none -- 'touch {}/asked'",
        home.display(),
        program().display(),
        desk.stage.outside.display(),
    );
    let asked = desk.run(none(), &ask).await;
    assert_ne!(asked.code, Some(0), "{asked:#?}");
    assert!(!desk.outside("asked").exists(), "{asked:#?}");
}

#[tokio::test]
async fn a_command_in_its_walls_cannot_ask_the_daemon_at_all() {
    for policy in [rw(), ro(), rw_with_network()] {
        let desk = Desk::open(SessionMode::Pipe).await;
        let ask = format!(
            "SHELLGLASS_HOME={} {} session list",
            desk.field.daemon.home().display(),
            program().display(),
        );
        let asked = desk.run(policy.clone(), &ask).await;
        assert_ne!(asked.code, Some(0), "{policy:?}: {asked:#?}");
    }
}

#[tokio::test]
async fn a_person_may_ask_for_what_an_agent_may_not() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let outside = desk.stage.outside.to_string_lossy().into_owned();
    let wider = SandboxPolicy {
        additional_readwrite_paths: vec![outside],
        ..rw()
    };
    desk.works(wider, "touch $OUTSIDE/by-a-person").await;
    assert!(desk.outside("by-a-person").exists());
    desk.works(none(), "touch $OUTSIDE/again").await;
}
