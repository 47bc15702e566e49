//! What is remembered, what projects say, and what the configuration decides.

use super::{Watched, resolve};
use glass_proto::shellglass::v1::{ApprovalScope, CreateSessionRequest, SessionMode};
use shellglass_tests::calls::{refused, rejected, success};
use shellglass_tests::{Daemon, TestSession};
use tonic::Code;

/// Commands that take time, and that go elsewhere, are allowed.
const MOVING: &str = r#"
[policy]
[[policy.rule]]
prefix = ["sleep"]
decision = "allow"
[[policy.rule]]
prefix = ["cd"]
decision = "allow"
"#;

type Asked = tokio::task::JoinHandle<glass_proto::agent::v1::ShellResult>;

/// Has a command run that takes its time, and one wait behind it that will move
/// the session.
async fn moving_behind(watched: &Watched, to: &std::path::Path) -> (Asked, Asked) {
    let slow = watched.ask(watched.session.request("sleep 4"));
    let session = &watched.session;
    session
        .until("it sleeps", |it| it.active_command == "sleep 4")
        .await;
    let moving = session.with_args("true", |args| {
        args.working_directory = to.display().to_string();
    });
    let moving = watched.ask(moving);
    // Nothing tells that it waits but that it does not run.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    (slow, moving)
}

/// Allows what waits, for as long as `scope` says.
async fn allow(watched: &Watched, command: &str, scope: ApprovalScope) {
    let asked = watched.ask(watched.session.request(command));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    watched.answer(&id, true, scope).await;
    success(asked.await.unwrap());
}

/// Asks, and refuses; the command must have waited.
async fn is_asked_about(watched: &Watched, command: &str) {
    let asked = watched.ask(watched.session.request(command));
    let id = watched.until_waiting(1).await[0].approval_id.clone();
    watched.answer(&id, false, ApprovalScope::Once).await;
    rejected(asked.await.unwrap());
}

#[tokio::test]
async fn for_the_session_means_commands_like_it_in_this_session() {
    let watched = Watched::start("").await;
    allow(&watched, "touch a", ApprovalScope::Session).await;
    success(watched.run("touch b").await);
    // Neither what stands beside it, nor what it is only a part of.
    is_asked_about(&watched, "touch b && mkdir c").await;
    is_asked_about(&watched, "touch $(mkdir c)").await;
    is_asked_about(&watched, "touch c > d").await;
    let other = Watched::over(watched.daemon, SessionMode::Pipe).await;
    is_asked_about(&other, "touch e").await;
    assert!(!other.marker("c").exists() && !other.marker("e").exists());
}

#[tokio::test]
async fn what_has_no_prefix_is_remembered_word_for_word_or_not_at_all() {
    let watched = Watched::start("").await;
    let command = "bash -c 'touch a'";
    let asked = watched.ask(watched.session.request(command));
    let waiting = watched.until_waiting(1).await.remove(0);
    assert!(waiting.prefixes.is_empty(), "{waiting:?}");
    let (client, id) = (&watched.session.client, &waiting.approval_id);
    let always = resolve(client, id, true, ApprovalScope::Always, "").await;
    refused(always, Code::FailedPrecondition);
    assert_eq!(watched.waiting().await.len(), 1, "it still waits");
    watched.answer(id, true, ApprovalScope::Session).await;
    success(asked.await.unwrap());
    success(watched.run(command).await);
    is_asked_about(&watched, "bash -c 'touch b'").await;
    assert!(!watched.marker("b").exists());
}

#[tokio::test]
async fn always_outlives_the_daemon_and_holds_everywhere() {
    let mut watched = Watched::start("").await;
    allow(&watched, "touch a", ApprovalScope::Always).await;
    watched.restart().await;
    success(watched.run("touch b").await);
    let watched = Watched::over(watched.daemon, SessionMode::Line).await;
    success(watched.run("touch c").await);
    is_asked_about(&watched, "mkdir d").await;
}

#[tokio::test]
async fn the_users_rules_hold_for_everybody() {
    let rules = r#"
[policy]
[[policy.rule]]
prefix = ["touch"]
decision = "allow"
[[policy.rule]]
prefix = ["echo", "never"]
decision = "deny"
reason = "We do not say that."
[[policy.rule]]
prefix = ["echo", "maybe"]
decision = "ask"
"#;
    let watched = Watched::over(Daemon::start(rules), SessionMode::Pipe).await;
    success(watched.run("touch a").await);
    let why = rejected(watched.run("echo never mind").await);
    assert!(why.contains("We do not say that."), "{why}");
    is_asked_about(&watched, "echo maybe").await;
    // Persons are not asked about what is merely doubtful.
    let person = TestSession::with(&watched.daemon, "bash", SessionMode::Pipe).await;
    assert_eq!(person.run("mkdir by-a-person").await.code, Some(0));
    rejected(person.result(person.request("echo never mind")).await);
    rejected(person.result(person.request("mkfs.ext4 /dev/sda")).await);
    let skipping = person.with_args("echo maybe", |args| args.skip_approval = true);
    success(person.result(skipping).await);
    let skipping = person.with_args("echo never", |args| args.skip_approval = true);
    rejected(person.result(skipping).await);
}

#[tokio::test]
async fn rules_with_wrong_examples_keep_the_daemon_from_starting() {
    let home = shellglass_tests::program::Home::default();
    std::fs::create_dir_all(home.path().join("config")).unwrap();
    let config =
        "[[policy.rule]]\nprefix = [\"touch\"]\ndecision = \"allow\"\nmatch = [\"rm x\"]\n";
    std::fs::write(home.path().join("config/config.toml"), config).unwrap();
    let tried = shellglass_tests::program::ran(home.line().arg("serve"));
    let said = tried.failed_with(1);
    assert!(said.contains("rule 1 (`touch`)"), "{said}");
}

#[tokio::test]
async fn a_project_only_narrows_and_its_changes_count_at_once() {
    let watched = Watched::start("").await;
    let file = watched.marker(".shellglass.toml");
    let rule = |prefix: &str, decision: &str| {
        format!("[[policy.rule]]\nprefix = [\"{prefix}\"]\ndecision = \"{decision}\"\n")
    };
    success(watched.run("echo hi").await);
    std::fs::write(&file, rule("echo", "deny") + &rule("mkdir", "allow")).unwrap();
    rejected(watched.run("echo hi").await);
    is_asked_about(&watched, "mkdir a").await;
    std::fs::write(&file, "[policy]\nbuiltin_allow = false\n").unwrap();
    is_asked_about(&watched, "echo hi").await;
    // What cannot be read lets nothing through.
    std::fs::write(&file, "[policy\n").unwrap();
    let why = rejected(watched.run("echo hi").await);
    assert!(why.contains(".shellglass.toml cannot be used"), "{why}");
    std::fs::remove_file(&file).unwrap();
    success(watched.run("echo hi").await);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &file,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    rejected(watched.run("echo hi").await);
}

#[tokio::test]
async fn a_command_that_names_an_ignored_path_is_refused() {
    let watched = Watched::start("").await;
    std::fs::write(watched.marker(".shellglassignore"), "*.env\nprivate/\n").unwrap();
    std::fs::write(watched.marker("a.env"), "secret\n").unwrap();
    for command in [
        "cat a.env",
        "cat ./b/../a.env",
        "ls private/x",
        "cat < a.env",
    ] {
        let why = rejected(watched.run(command).await);
        assert!(why.contains("ignored here"), "{command}: {why}");
    }
    success(watched.run("echo env").await);
    let person = TestSession::with(&watched.daemon, "bash", SessionMode::Pipe).await;
    let why = rejected(person.result(person.request("cat a.env")).await);
    assert!(why.contains("'a.env'"), "{why}");
}

#[tokio::test]
async fn the_opt_out_lets_doubtful_commands_run_and_dangerous_ones_not() {
    let variables = [("SHELLGLASS_EXEC_ALLOW_UNSAFE", "1")];
    let daemon = Daemon::start_with("[policy]\n", &variables, &[]);
    let watched = Watched::over(daemon, SessionMode::Pipe).await;
    success(watched.run("touch a").await);
    rejected(watched.run("mkfs.ext4 /dev/sda").await);
}

#[tokio::test]
async fn who_chooses_what_words_run_is_asked_about_them() {
    let watched = Watched::start("").await;
    let evil = watched.marker("evil");
    std::fs::create_dir(&evil).unwrap();
    let script = format!("#!/bin/sh\ntouch {}\n", watched.marker("ran").display());
    std::fs::write(evil.join("git"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(evil.join("git"), mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", evil.display());
    // For one command.
    let mut request = watched.session.request("git status");
    request.env.insert("PATH".to_owned(), path.clone());
    let asked = watched.ask(request);
    let waiting = watched.until_waiting(1).await.remove(0);
    assert!(waiting.reason.starts_with("`PATH`"), "{waiting:?}");
    watched
        .answer(&waiting.approval_id, false, ApprovalScope::Once)
        .await;
    rejected(asked.await.unwrap());
    let mut harmless = watched.session.request("echo $?");
    harmless.env.insert("GREETING".to_owned(), "hi".to_owned());
    success(watched.ask(harmless).await.unwrap());
    // For a session, until a person takes it as it is.
    let spec = CreateSessionRequest {
        env: [("PATH".to_owned(), path)].into(),
        working_directory: watched.daemon.home().to_string_lossy().into_owned(),
        shell: "bash".to_owned(),
        startup: "none".to_owned(),
        ..Default::default()
    };
    let watched = watched.with_session(spec).await;
    is_asked_about(&watched, "git status").await;
    assert!(!watched.marker("ran").exists());
    allow(&watched, "echo hi", ApprovalScope::Session).await;
    success(watched.run("git status").await);
}

#[tokio::test]
async fn a_session_starts_nothing_that_an_agent_has_chosen_before_a_person_says_so() {
    let mut watched = Watched::start("").await;
    let (planted, ran) = (watched.marker("planted"), watched.marker("ran"));
    std::fs::create_dir(&planted).unwrap();
    let touch = format!("touch {}", ran.display());
    std::fs::write(planted.join(".bash_profile"), &touch).unwrap();
    let shell = format!("#!/bin/sh\n{touch}\nexec /bin/bash \"$@\"\n");
    std::fs::write(planted.join("bash"), shell).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(planted.join("bash"), mode).unwrap();
    let planted = planted.to_string_lossy().into_owned();
    for (name, value, shell) in [
        ("BASH_ENV", format!("$({touch})"), "bash".to_owned()),
        ("HOME", planted.clone(), "bash".to_owned()),
        (
            "PATH",
            format!("{planted}:/usr/bin:/bin"),
            "bash".to_owned(),
        ),
        ("HARMLESS", String::new(), format!("{planted}/bash")),
    ] {
        let spec = CreateSessionRequest {
            env: [(name.to_owned(), value)].into(),
            working_directory: watched.daemon.home().to_string_lossy().into_owned(),
            shell,
            startup: "login".to_owned(),
            ..Default::default()
        };
        watched = watched.with_session(spec).await;
        let asked = watched.ask(watched.session.request("echo hi"));
        let id = watched.until_waiting(1).await[0].approval_id.clone();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert!(!ran.exists(), "{name}");
        watched.answer(&id, true, ApprovalScope::Once).await;
        success(asked.await.unwrap());
        // So it would have shown, had a shell been started.
        std::fs::remove_file(&ran).expect(name);
    }
}

#[tokio::test]
async fn nobody_can_give_a_command_another_text_than_the_one_that_is_judged() {
    let watched = Watched::start("").await;
    for name in ["__sg_code", "__sg_dir", "__SG_LOOP"] {
        let mut request = watched.session.request("echo hi");
        request.env.insert(name.to_owned(), "touch ran".to_owned());
        let request = shellglass_tests::calls::with_token(request, &watched.agent);
        let tried = watched.session.client.clone().run(request).await;
        refused(tried, Code::InvalidArgument);
    }
    for name in ["__sg_code", "BASH_FUNC___sg_loop%%"] {
        let spec = CreateSessionRequest {
            env: [(name.to_owned(), "touch ran".to_owned())].into(),
            ..Default::default()
        };
        let mut client = watched.session.client.clone();
        refused(client.create_session(spec).await, Code::InvalidArgument);
    }
    assert!(!watched.marker("ran").exists());
}

#[tokio::test]
async fn an_allowed_command_runs_where_it_was_shown_to() {
    let watched = Watched::over(Daemon::start(MOVING), SessionMode::Pipe).await;
    let (shown, other) = (watched.marker("shown"), watched.marker("other"));
    for folder in [&shown, &other] {
        std::fs::create_dir(folder).unwrap();
    }
    success(watched.run(&format!("cd {}", shown.display())).await);
    let (slow, moving) = moving_behind(&watched, &other).await;
    let asked = watched.ask(watched.session.request("touch here"));
    let waiting = watched.until_waiting(1).await.remove(0);
    assert_eq!(waiting.working_directory, shown.display().to_string());
    watched
        .answer(&waiting.approval_id, true, ApprovalScope::Once)
        .await;
    for one in [slow, moving, asked] {
        success(one.await.unwrap());
    }
    assert!(shown.join("here").exists() && !other.join("here").exists());
}

#[tokio::test]
async fn an_ignored_path_is_refused_wherever_the_session_goes_before_its_turn() {
    let watched = Watched::over(Daemon::start(MOVING), SessionMode::Pipe).await;
    let private = watched.marker("private");
    std::fs::create_dir(&private).unwrap();
    std::fs::write(private.join("key"), "secret\n").unwrap();
    std::fs::write(watched.marker(".shellglassignore"), "private/key\n").unwrap();
    let (slow, moving) = moving_behind(&watched, &private).await;
    let reading = watched.ask(watched.session.request("cat key"));
    success(slow.await.unwrap());
    success(moving.await.unwrap());
    let why = rejected(reading.await.unwrap());
    assert!(why.contains("ignored here"), "{why}");
}

#[tokio::test]
async fn an_agent_does_not_choose_which_ignore_file_holds() {
    let watched = Watched::start("").await;
    std::fs::create_dir(watched.marker("sub")).unwrap();
    std::fs::write(watched.marker(".shellglassignore"), "*.env\n").unwrap();
    std::fs::write(watched.marker("a.env"), "secret\n").unwrap();
    let sub = watched.marker("sub").to_string_lossy().into_owned();
    let spec = CreateSessionRequest {
        working_directory: sub.clone(),
        workspace_root: sub,
        shell: "bash".to_owned(),
        ..Default::default()
    };
    let watched = watched.with_session(spec).await;
    rejected(watched.run("cat ../a.env").await);
}

#[tokio::test]
async fn the_default_shell_is_nothing_that_an_agent_has_chosen() {
    let watched = Watched::start("").await;
    let spec = CreateSessionRequest::default();
    let mut watched = watched.with_session(spec).await;
    success(watched.run("echo hi").await);
    watched.restart().await;
    success(watched.run("echo hi").await);
}
