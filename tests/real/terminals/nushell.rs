//! What a terminal whose shell is nu is known to do, and what can be handed to it.

use super::desk::Desk;
use super::integration::{Case, assert_invisible, check, with_files};
use glass_proto::agent::v1::ShellArgs;
use glass_proto::shellglass::v1::ExecuteRequest;
use shellglass_tests::{Daemon, nu};

const CASES: [Case; 10] = [
    ("echo hi\r", "echo hi", 0),
    ("^sh -c 'exit 42'\r", "^sh -c 'exit 42'", 42),
    ("(^sh -c 'exit 42')\r", "(^sh -c 'exit 42')", 42),
    ("'ab' | str length\r", "'ab' | str length", 0),
    ("^echo a | ^false\r", "^echo a | ^false", 1),
    ("print \"one\rtwo;\\\\\"\r", "print \"one\ntwo;\\\\\"", 0),
    ("if true {\rprint a\r}\r", "if true {\nprint a\n}", 0),
    ("nosuchcommand-x\r", "nosuchcommand-x", 1),
    ("^sh -c 'kill -9 $$'\r", "^sh -c 'kill -9 $$'", 137),
    ("clear\r", "clear", 0),
];

#[tokio::test]
async fn every_command_typed_into_nu_is_known_with_its_text_and_code() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, &nu()).await;
    check(&mut desk, "nu", &CASES).await;
    let known = desk.commands().await.len();
    desk.prompted().await;
    desk.keys("\r").await;
    desk.prompted().await;
    desk.keys("given up\x03").await;
    desk.settle().await;
    check(&mut desk, "nu", &[("echo last\r", "echo last", 0)]).await;
    let own = desk.commands().await.into_iter();
    let own = own.filter(|run| run.command != "true");
    assert_eq!(own.count(), known + 1);
    desk.viewer.until("last\r\n").await;
    assert_invisible(&desk);
    // What the history is not to have is not known.
    check(&mut desk, "nu", &[(" echo hunter2\r", "", 0)]).await;
    // The directory follows.
    let odd = daemon.home().join("a b;c\\d é");
    std::fs::create_dir(&odd).unwrap();
    let moved = desk.typed("cd 'a b;c\\d é'\r").await;
    assert_eq!(moved.exit_code, Some(0));
    let there = desk.typed("null\r").await;
    assert_eq!(there.cwd, odd.to_string_lossy());
    // A job that ends at the prompt changes nothing.
    let known = desk.commands().await.len();
    desk.typed("job spawn { ^sleep 0.1 }\r").await;
    desk.prompted().await;
    desk.keys("\r").await;
    let after: Case = (
        "sleep 300ms; ^sh -c 'exit 5'\r",
        "sleep 300ms; ^sh -c 'exit 5'",
        5,
    );
    check(&mut desk, "nu", &[after]).await;
    assert_eq!(desk.commands().await.len(), known + 2);
    // It is busy while a command runs, and a signal has its code.
    let sleep = "^sh -c 'exec sleep 1000'";
    desk.prompted().await;
    desk.keys(&format!("{sleep}\r")).await;
    desk.runs(sleep).await;
    desk.is_in_front("sleep 1000").await;
    desk.keys("\x03").await;
    assert_eq!(desk.ended("sleep").await.exit_code, Some(130));
    desk.session
        .until("it is idle", |shown| !shown.busy && !shown.running)
        .await;
    desk.prompted().await;
    desk.keys("exit 6\r").await;
    assert_eq!(desk.viewer.end().await, Some(6));
    let run = desk.ended("exit").await;
    assert_eq!((run.command.as_str(), run.exit_code), ("exit 6", Some(6)));
}

#[tokio::test]
async fn the_users_own_hooks_and_prompt_go_on_in_nu() {
    let daemon = Daemon::start("");
    let config = daemon.home().join(".config/nushell");
    std::fs::create_dir_all(&config).unwrap();
    let own = "$env.config.show_banner = false\n\
        $env.config.rm.always_trash = true\n\
        $env.config.hooks.pre_prompt = [{|| $\"code ($env.LAST_EXIT_CODE)\\n\" | save -a prompts }]\n\
        $env.config.hooks.pre_execution = [{|| $\"(commandline)\\n\" | save -a traced }]\n\
        $env.PROMPT_COMMAND = {|| ^printf '\\033[1;32m%s\\033[0m in here\\n' mine }\n\
        $env.PROMPT_COMMAND_RIGHT = {|| ^printf '%s' right }\n\
        $env.PROMPT_INDICATOR = 'own> '\n\
        $env.made = 'made'\n";
    std::fs::write(config.join("config.nu"), own).unwrap();
    for startup in ["rc", "login"] {
        for file in ["prompts", "traced"] {
            drop(std::fs::remove_file(daemon.home().join(file)));
        }
        let mut desk = Desk::open(&daemon, with_files(&daemon, &nu(), startup)).await;
        desk.viewer.until("own> ").await;
        let failing: Case = ("^sh -c 'exit 7'\r", "^sh -c 'exit 7'", 7);
        check(&mut desk, "nu", &[failing]).await;
        // The code of the last command is there for one that is handed over.
        let ran = desk
            .session
            .run("print $env.LAST_EXIT_CODE $env.made")
            .await;
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "7\r\nmade\r\n"));
        let read = |name: &str| std::fs::read_to_string(daemon.home().join(name)).unwrap();
        assert!(read("prompts").contains("code 7\n"), "{}", read("prompts"));
        assert!(read("traced").contains("exit 7"), "{}", read("traced"));
        assert_invisible(&desk);
    }
}

#[tokio::test]
async fn what_is_executed_runs_at_the_prompt_of_nu() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, &nu()).await;
    // A person's line is put aside and comes back.
    desk.prompted().await;
    desk.keys("echo dr").await;
    desk.viewer.until("dr").await;
    let first = "print one; $env.x = 5; cd /; ^sh -c 'exit 9'";
    let ran = desk.session.run(first).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(9), "one\r\n"));
    assert_eq!(desk.ended("the first").await.command, first);
    desk.viewer.forget_through("one\r\n").await;
    desk.viewer.until("dr").await;
    let draft = desk.typed("aft\r").await;
    assert_eq!(draft.command, "echo draft");
    for (command, expected, code) in [
        ("print $env.x (pwd); ^test -t 1", "5\r\n/\r\n", 0),
        ("print a\nprint b\nerror make {msg: no}", "a\r\nb\r\n", 1),
        ("print 'it is \\ é; !!'", "it is \\ é; !!\r\n", 0),
        ("^printf '\\033]2;t\\007x'", "\x1b]2;t\x07x", 0),
        (
            "if 1 != 2 { print 'hi!' \"there!!\" }",
            "hi!\r\nthere!!\r\n",
            0,
        ),
        ("  print led # a remark", "led\r\n", 0),
        ("print \"half", "", 1),
        ("for i in 1..2 {", "", 1),
    ] {
        let ran = desk.session.run(command).await;
        assert_eq!(ran.code, Some(code), "{command:?} {ran:?}");
        if code == 0 {
            assert_eq!(ran.stdout, expected, "{command:?}");
        } else {
            assert!(ran.stdout.starts_with(expected), "{command:?} {ran:?}");
        }
    }
    let long = format!("print ('{}' | str length)", "x".repeat(20_000));
    let ran = desk.session.run(&long).await;
    assert_eq!((ran.code, ran.stdout.trim()), (Some(0), "20000"));
    let request = ExecuteRequest {
        env: [("GIVEN".to_owned(), "it's a \"value\" !!".to_owned())].into(),
        args: Some(ShellArgs {
            command: "print $\"($env.GIVEN) ($env.PWD)\"; ^sh -c 'exit 3'".to_owned(),
            working_directory: "/usr".to_owned(),
            ..desk.session.request("").args.unwrap_or_default()
        }),
        ..desk.session.request("")
    };
    let ran = desk.session.try_run(request).await.unwrap();
    let expected = (Some(3), "it's a \"value\" !! /usr\r\n");
    assert_eq!((ran.code, ran.stdout.as_str()), expected);
    let gone = desk.session.run("print ('GIVEN' in $env)").await;
    assert_eq!(gone.stdout, "false\r\n");
    assert_invisible(&desk);
}

#[tokio::test]
async fn a_program_that_throws_the_word_of_its_start_away_is_known_to_run() {
    let daemon = Daemon::start("");
    let pid = daemon.pid();
    // The daemon reads nothing from before the shell tells of the command until the
    // command has thrown that away, as tmux does when it starts. The kernel keeps the
    // first 4 KiB that nobody has read.
    let config = format!(
        "$env.config.show_banner = false\n\
         $env.config.hooks.pre_execution = [{{||\n\
         ^kill -STOP {pid}\nprint ('' | fill -c x -w 9000)\n}}]\n"
    );
    let place = daemon.home().join(".config/nushell/config.nu");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, config).unwrap();
    let program = format!(
        "import os, signal, termios\ntermios.tcflush(1, termios.TCOFLUSH)\n\
         os.kill({pid}, signal.SIGCONT)\nprint('waits')\ninput()\nraise SystemExit(3)\n"
    );
    std::fs::write(daemon.home().join("flush.py"), program).unwrap();
    let mut desk = Desk::open(&daemon, with_files(&daemon, &nu(), "rc")).await;
    desk.prompted().await;
    desk.viewer.forget();
    desk.keys("python3 flush.py # mine\r").await;
    desk.runs("python3 flush.py # mine").await;
    desk.viewer.until("waits").await;
    desk.keys("\r").await;
    let run = desk.ended("flush.py").await;
    assert_eq!(
        (run.command.as_str(), run.exit_code),
        ("python3 flush.py # mine", Some(3))
    );
    assert_eq!(desk.commands().await.len(), 1);
    // The kernel decides how much of it is really lost.
    assert!(desk.session.remarks("witnessed").await.len() <= 1);
}

#[tokio::test]
async fn nobody_can_read_what_the_markers_of_nu_carry() {
    let daemon = Daemon::start("");
    let mut desk = Desk::bare(&daemon, &nu()).await;
    let looked = desk
        .typed("^env o> env; ^sh -c 'ls -aR run/sessions/*/terminal' o> files\r")
        .await;
    assert_eq!(looked.exit_code, Some(0));
    let read = |name: &str| std::fs::read_to_string(daemon.home().join(name)).unwrap();
    assert!(!read("env").contains("lass_"), "{}", read("env"));
    for script in ["start.nu", "next"] {
        assert!(!read("files").contains(script), "{}", read("files"));
    }
    desk.typed("$__glass_nonce | save nonce\r").await;
    let nonce = read("nonce");
    assert_eq!(nonce.trim().len(), 32);
    let found = std::process::Command::new("grep")
        .args(["-rlaF", nonce.trim()])
        .arg(daemon.home().join("data"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    // A program that prints the marks of a shell, without the nonce, ends nothing.
    let lie = "^sh -c \"printf '\\\\033]633;D;0\\\\007\\\\033]133;D;0\\\\007'; exit 4\"\r";
    assert_eq!(desk.typed(lie).await.exit_code, Some(4));
}
