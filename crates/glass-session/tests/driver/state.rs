//! What a warm shell keeps from one command to the next.

use crate::harness::{Driven, End, KINDS, blank, plain_descriptors};
use glass_model::{ShellKind, Startup};
use glass_session::driver::{EXIT_STATE_NAME, Request};

/// How a variable is set, exported and printed.
fn set(kind: ShellKind) -> [&'static str; 3] {
    match kind {
        ShellKind::Fish => ["set x 5", "set -gx y 'a b'", "echo $x-$y"],
        ShellKind::Bash => ["declare x=5", "export y='a b'", "echo \"$x-$y\""],
        ShellKind::Zsh => ["typeset x=5", "export y='a b'", "echo $x-$y"],
        _ => ["x=5", "export y='a b'", "echo \"$x-$y\""],
    }
}

#[test]
fn variables_functions_and_directory_persist() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        let [plain, exported, print] = set(kind);
        shell.out(plain);
        shell.out(exported);
        assert_eq!(shell.out(print), "5-a b\n", "{kind:?}");
        shell.out("cd /usr");
        assert_eq!(shell.cwd, b"/usr");
        assert_eq!(shell.out("pwd"), "/usr\n");
        let function = match kind {
            ShellKind::Fish => "function f; echo in f; end",
            _ => "f() { echo in f; }",
        };
        shell.out(function);
        assert_eq!(shell.out("f"), "in f\n");
    }
}

#[test]
fn a_snapshot_has_the_directory_and_the_exported_variables() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        for command in set(kind) {
            shell.out(command);
        }
        shell.out("cd /usr");
        let state = shell.snapshot();
        assert_eq!(state.cwd, b"/usr");
        assert!(state.env.contains(&b"y=a b".to_vec()), "{kind:?}");
        assert!(
            !state.env.iter().any(|variable| variable.starts_with(b"x=")),
            "{kind:?}"
        );
        assert!(shell.out("echo still here").contains("here"));
    }
}

#[test]
fn bash_says_what_it_exports_only_where_that_has_changed() {
    let mut shell = Driven::warm(ShellKind::Bash);
    assert!(shell.change().is_some(), "nobody has asked before");
    assert_eq!(shell.change(), None);
    for quiet in ["true", "x=5", "f() { echo 1; }", "echo text", "SOME=x true"] {
        shell.out(quiet);
        assert_eq!(shell.change(), None, "{quiet}");
    }
    for loud in [
        "export x",
        "x=6",
        "export empty=",
        "unset x",
        "export -f f",
        "f() { echo 2; }",
        "export -nf f",
        "export odd=$'a\\nb\\x01\\xff'",
        "odd=$'a\\nb\\x01\\xfe'",
        "cd /usr",
        "set -a; all=1; set +a",
        "readonly SHELLGLASS_TOOL_CALL_ID",
    ] {
        shell.out(loud);
        let change = shell.change().unwrap_or_else(|| panic!("{loud}"));
        assert_eq!(change, shell.snapshot(), "{loud}");
        assert_eq!(shell.change(), None, "{loud}");
        let left = std::fs::read(shell.dir.path().join("exports")).expect("it is there");
        assert_eq!(left, b"", "{loud}");
    }
}

#[test]
fn bash_says_it_again_where_it_cannot_tell_whether_it_has_changed() {
    let mut shell = Driven::warm(ShellKind::Bash);
    shell.snapshot();
    for odd in [
        "set -euo pipefail",
        "set -C",
        "set -f",
        "IFS=x",
        "shopt -s extglob",
    ] {
        shell.out(odd);
        assert_eq!(shell.change(), None, "{odd}");
    }
    let dir = shell.dir.path().join("exports");
    std::fs::remove_file(&dir).expect("it was there");
    std::fs::create_dir(&dir).expect("a directory in its place");
    assert!(shell.change().is_some());
    assert!(shell.change().is_some());
    shell.out("export later=1");
    std::fs::remove_dir(&dir).expect("it is empty");
    let change = shell.change().expect("it could not tell before");
    assert!(change.env.contains(&b"later=1".to_vec()));
    assert_eq!(shell.change(), None);
}

#[test]
fn a_shell_that_exits_leaves_its_state() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        let [_, exported, _] = set(kind);
        let outcome = shell.run(&format!("{exported}; cd /usr; exit 7"));
        assert_eq!(outcome.end, End::Died(7), "{kind:?}");
        let state = shell.state(EXIT_STATE_NAME).expect("the state is there");
        assert_eq!(state.cwd, b"/usr");
        assert!(state.env.contains(&b"y=a b".to_vec()), "{kind:?}");
    }
}

#[test]
fn late_output_belongs_to_the_execution_that_began_it() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        shell.out("sh -c 'sleep 0.3; echo late' &");
        let other = shell.run_with(Request {
            command: "echo other",
            slot: 1,
            ..blank()
        });
        assert_eq!(other.out, "other\n");
        std::thread::sleep(std::time::Duration::from_millis(600));
        let mut output = [Vec::new(), Vec::new()];
        shell.drain(0, &mut output);
        assert_eq!(output[0], b"late\n", "{kind:?}");
    }
}

#[test]
fn redirections_of_the_shell_end_with_their_command() {
    for kind in [ShellKind::Bash, ShellKind::Zsh, ShellKind::Posix] {
        let mut shell = Driven::warm(kind);
        let file = shell.dir.path().join("file");
        let file = file.to_str().expect("a plain path");
        assert_eq!(shell.out(&format!("exec >{file} 2>&1; echo hidden")), "");
        assert_eq!(shell.out(&format!("cat {file}")), "hidden\n");
        shell.out("exec 9>&1 8</dev/null </etc/passwd");
        shell.out("exec 9>&- 8<&-");
        assert_eq!(shell.out("cat; echo end"), "end\n", "{kind:?}");
        shell.out(&format!("exec 3>{file}"));
        shell.out("echo three >&3; exec 3>&-");
        assert_eq!(shell.out(&format!("cat {file}")), "three\n", "{kind:?}");
    }
}

#[test]
fn a_command_of_bash_can_have_descriptors_from_10_on() {
    let mut shell = Driven::warm(ShellKind::Bash);
    let file = shell.dir.path().join("file");
    let file = file.to_str().expect("a plain path");
    shell.out(&format!("exec 10>{file} 13>&1; echo one >&10"));
    assert_eq!(
        shell.out(&format!("echo two >&10; cat {file}")),
        "one\ntwo\n"
    );
}

#[test]
fn a_command_sees_only_its_own_descriptors() {
    for kind in KINDS {
        let mut shell = Driven::warm(kind);
        assert_eq!(
            shell.out("ls /proc/self/fd"),
            plain_descriptors(),
            "{kind:?}"
        );
    }
}

#[test]
fn start_files_run_without_our_descriptors_and_apart_from_commands() {
    let home = tempfile::tempdir().expect("a directory");
    let text = "echo from a start file; export STARTED=yes; cd /usr; \
                [ -e /proc/$$/fd/9 ] && export LEAKED=9; [ -e /proc/$$/fd/8 ] && export LEAKED=8\n";
    for name in [
        ".bash_profile",
        ".bashrc",
        ".zprofile",
        ".zshrc",
        ".profile",
    ] {
        std::fs::write(home.path().join(name), text).expect("a start file");
    }
    let config = home.path().join("fish");
    std::fs::create_dir(&config).expect("a directory");
    std::fs::write(
        config.join("config.fish"),
        "echo from a start file; set -gx STARTED yes; cd /usr",
    )
    .expect("a start file");
    let home = home.path().to_str().expect("a plain path");
    let env = [("HOME", home), ("XDG_CONFIG_HOME", home), ("ZDOTDIR", home)];
    for kind in KINDS {
        for startup in [Startup::Login, Startup::Rc] {
            if (kind, startup) == (ShellKind::Posix, Startup::Rc) {
                continue;
            }
            let mut shell = Driven::start(kind, startup, &env);
            let printed = std::fs::read_to_string(shell.dir.path().join("so")).expect("output");
            assert!(
                printed.contains("from a start file"),
                "{kind:?} {startup:?}: {printed}"
            );
            let seen = shell.run("echo $STARTED $LEAKED");
            assert!(
                seen.out.ends_with("yes\n"),
                "{kind:?} {startup:?}: {seen:?}"
            );
            assert_eq!(shell.cwd, b"/usr", "{kind:?} {startup:?}");
        }
        let mut shell = Driven::start(kind, Startup::Nothing, &env);
        assert_eq!(shell.out("echo $STARTED"), "\n", "{kind:?}");
    }
}
