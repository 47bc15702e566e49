//! Full-screen programs: somebody who comes later sees what those who were
//! there see, in a terminal that is not ours.

use super::tmux::Tmux;
use super::viewer::terminal;
use shellglass_tests::Daemon;

/// Brings a program to a state, and compares who was there with who comes later,
/// before and after a crash of the daemon.
async fn a_late_viewer_sees_the_same(steps: &[(&[&str], &str)]) {
    let mut daemon = Daemon::start("");
    let session = terminal(&daemon, "bash").await;
    std::fs::write(daemon.home().join("text"), text()).unwrap();
    let live = {
        let tmux = Tmux::new(&daemon);
        tmux.attach("live", &session.id, "--write");
        tmux.until("live", ">");
        for (keys, shown) in steps {
            tmux.keys("live", keys);
            tmux.until("live", shown);
        }
        let live = tmux.settled("live");
        tmux.attach("late", &session.id, "");
        tmux.until("late", steps[steps.len() - 1].1);
        assert_eq!(tmux.settled("late"), live);
        live
    };
    daemon.crash_and_restart();
    let tmux = Tmux::new(&daemon);
    tmux.attach("later", &session.id, "");
    tmux.until("later", steps[steps.len() - 1].1);
    assert_eq!(tmux.settled("later"), live, "after a crash");
}

fn text() -> String {
    (1..500)
        .map(|line| format!("line {line} wörld 世界\n"))
        .collect()
}

#[tokio::test]
async fn vim_looks_the_same_to_who_comes_later() {
    a_late_viewer_sees_the_same(&[
        (
            &[
                "vim -u NONE -N --cmd 'set mouse=a ruler hlsearch' text",
                "Enter",
            ],
            "line 1 ",
        ),
        (&["200G", "i", "inserted "], "inserted "),
        (
            &[
                "Escape",
                ":split",
                "Enter",
                "/wörld",
                "Enter",
                ":syntax on",
                "Enter",
            ],
            "line 20",
        ),
    ])
    .await;
}

#[tokio::test]
async fn less_looks_the_same_to_who_comes_later() {
    a_late_viewer_sees_the_same(&[
        (&["LESS= less text", "Enter"], "line 1 "),
        (&["/line 250", "Enter"], "line 255"),
    ])
    .await;
}

#[tokio::test]
async fn a_shell_with_colours_looks_the_same_to_who_comes_later() {
    a_late_viewer_sees_the_same(&[
        (
            &[
                "for i in 31 32 33 44 95; do printf '\\e[%dmcolour %d\\e[0m\\n' $i $i; done",
                "Enter",
            ],
            "colour 95",
        ),
        (
            &[
                "seq 1 40; printf '\\e[38;2;1;200;3m\\e[4mdeep\\e[24m\\e[7m inv'",
                "Enter",
            ],
            " inv",
        ),
    ])
    .await;
}
