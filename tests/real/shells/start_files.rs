//! Start files: what they print is no command's, what they export is every
//! command's, and when they hang the session goes on without them.

use crate::matrix::SHELLS;
use glass_proto::shellglass::v1::{CreateSessionRequest, SessionMode};
use shellglass_tests::{Daemon, TestSession};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Writes a login file for a shell into a home of its own.
fn home_with(daemon: &Daemon, shell: &str, what: &str, text: &str) -> PathBuf {
    let home = daemon.home().join(format!("home-{shell}-{what}"));
    let file = match shell {
        "bash" => home.join(".bash_profile"),
        "zsh" => home.join(".zprofile"),
        "fish" => home.join(".config/fish/config.fish"),
        _ => home.join(".profile"),
    };
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    home
}

async fn login(daemon: &Daemon, shell: &str, mode: SessionMode, home: &Path) -> TestSession {
    let variables = [("HOME", home), ("XDG_CONFIG_HOME", &home.join(".config"))];
    let env = variables.map(|(name, value)| (name.to_owned(), value.display().to_string()));
    let request = CreateSessionRequest {
        shell: shell.to_owned(),
        mode: mode.into(),
        startup: "login".to_owned(),
        working_directory: daemon.home().display().to_string(),
        env: HashMap::from(env),
        ..CreateSessionRequest::default()
    };
    TestSession::create(daemon, request).await
}

fn export(shell: &str) -> &'static str {
    if shell == "fish" {
        "set -gx FROM_START yes"
    } else {
        "export FROM_START=yes"
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_banner_of_the_start_files_is_kept_apart() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        let banner = format!("echo WELCOME; echo TROUBLE >&2; {}\n", export(shell));
        let home = home_with(&daemon, shell, "banner", &banner);
        let session = login(&daemon, shell, SessionMode::Pipe, &home).await;
        let first = session.stream("echo first; sh -c 'echo $FROM_START'").await;
        assert_eq!(first.out(), "first\nyes\n", "{shell} {first:?}");
        assert_eq!(first.err(), "", "{shell} {first:?}");
        let remarks = session.remarks("startup").await;
        assert_eq!(remarks.len(), 1, "{shell} {remarks:?}");
        assert!(
            remarks[0].contains("WELCOME") && remarks[0].contains("TROUBLE"),
            "{remarks:?}"
        );
        assert_eq!(
            session.stream("echo second").await.out(),
            "second\n",
            "{shell}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn line_mode_reads_no_start_files() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        let text = format!("echo WELCOME; {}\n", export(shell));
        let home = home_with(&daemon, shell, "line", &text);
        let session = login(&daemon, shell, SessionMode::Line, &home).await;
        let result = session.stream("sh -c 'echo [$FROM_START]'").await;
        assert_eq!(
            (result.out(), result.err()),
            ("[]\n".to_owned(), String::new()),
            "{shell}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_files_that_hang_are_left_out_and_the_command_runs_once() {
    let daemon = Daemon::start("[limits]\nstartup_ms_max = 300\n");
    for shell in SHELLS {
        let endless = if shell == "fish" {
            "while true; end\n"
        } else {
            "while :; do :; done\n"
        };
        let hanging = [
            ("sleeps", "sleep 9891\n".to_owned()),
            ("loops", endless.to_owned()),
            ("exits", "exit 3\n".to_owned()),
            ("becomes", "exec sleep 9891\n".to_owned()),
            ("flees", "setsid sleep 9891 & sleep 9891\n".to_owned()),
        ];
        for (what, text) in hanging {
            if (shell, what) == ("fish", "exits") {
                // There it ends only the reading of the file.
                continue;
            }
            let home = home_with(&daemon, shell, what, &format!("{}\n{text}", export(shell)));
            let session = login(&daemon, shell, SessionMode::Unspecified, &home).await;
            let runs = home.join("runs");
            let command = format!("echo ran >>'{}'; echo out", runs.display());
            let result = session.stream(&command).await;
            let what = format!("{shell} {what}: {result:?}");
            assert_eq!(
                (result.code, result.out().as_str()),
                (Some(0), "out\n"),
                "{what}"
            );
            assert_eq!(std::fs::read_to_string(&runs).unwrap(), "ran\n", "{what}");
            let remarks = session.remarks("fallback").await;
            assert_eq!(remarks.len(), 1, "{what} {remarks:?}");
            assert_eq!(session.run("echo warm").await.stdout, "warm\n", "{what}");
            session.dispose().await;
        }
    }
    let left = shellglass_tests::processes();
    assert!(
        !left.iter().any(|(_, line)| line.contains("sleep 9891")),
        "{left:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_files_that_flood_or_change_the_shell_do_no_harm() {
    let daemon = Daemon::start("");
    for shell in SHELLS {
        let odd = match shell {
            "fish" => "seq 100000\nfunction echo; builtin echo changed; end\nfunction eval; end\n",
            "dash" => "seq 100000\nset -u\nIFS=x\nalias eval=false printf=false\ncd /usr\n",
            _ => {
                "seq 100000\nset -u\nIFS=x\neval() { :; }\nprintf() { :; }\nread() { :; }\n\
                 alias exec=false\nreadonly FIXED=1\ncd /usr\nexec 5>/dev/null\n"
            }
        };
        let home = home_with(&daemon, shell, "odd", odd);
        let session = login(&daemon, shell, SessionMode::Pipe, &home).await;
        let result = session
            .stream("command echo out; command echo err >&2; sh -c 'exit 7'")
            .await;
        let what = format!("{shell} {result:?}");
        assert_eq!(
            (result.code, result.out().as_str()),
            (Some(7), "out\n"),
            "{what}"
        );
        assert_eq!(result.err(), "err\n", "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn auto_becomes_line_where_no_warm_shell_comes_up() {
    let daemon = Daemon::start("");
    // A shell that can do everything but be driven.
    let shell = daemon.home().join("bash");
    let text = "#!/bin/sh\ncase \"$*\" in *__sg_ready*) exit 3;; esac\nexec /bin/bash \"$@\"\n";
    std::fs::write(&shell, text).unwrap();
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = home_with(&daemon, "bash", "auto", "true\n");
    let shell = shell.display().to_string();
    let session = login(&daemon, &shell, SessionMode::Auto, &home).await;
    let runs = home.join("runs");
    let command = format!("echo ran >>'{}'; cd /usr; echo out", runs.display());
    let result = session.stream(&command).await;
    assert_eq!(
        (result.code, result.out().as_str()),
        (Some(0), "out\n"),
        "{result:?}"
    );
    assert_eq!(std::fs::read_to_string(&runs).unwrap(), "ran\n");
    assert!(!session.remarks("fallback").await.is_empty());
    assert_eq!(session.run("pwd").await.stdout, "/usr\n");
}
